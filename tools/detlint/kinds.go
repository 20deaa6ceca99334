package main

import "go/types"

// can reports whether t is, or as a type parameter may be, a type that is
// fulfills.
func can(t types.Type, is func(types.Type) bool) bool {
	if t == nil {
		return false
	}
	p, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		return is(t.Underlying())
	}
	return canAny(p.Underlying().(*types.Interface), is)
}

func canAny(constraint *types.Interface, is func(types.Type) bool) bool {
	for i := range constraint.NumEmbeddeds() {
		switch e := types.Unalias(constraint.EmbeddedType(i)).(type) {
		case *types.Union:
			for k := range e.Len() {
				if canTerm(e.Term(k).Type(), is) {
					return true
				}
			}
		default:
			if canTerm(e, is) {
				return true
			}
		}
	}
	return false
}

func canTerm(t types.Type, is func(types.Type) bool) bool {
	if i, ok := t.Underlying().(*types.Interface); ok {
		return canAny(i, is)
	}
	return is(t.Underlying())
}

func isMap(t types.Type) bool {
	_, ok := t.(*types.Map)
	return ok
}

func isChan(t types.Type) bool {
	_, ok := t.(*types.Chan)
	return ok
}

func isFloat(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&(types.IsFloat|types.IsComplex) != 0
}
