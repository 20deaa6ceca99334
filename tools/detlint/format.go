package main

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// visitFormat reports what would print an address.
func (f *finder) visitFormat(call *ast.CallExpr, callee types.Object) {
	if callee == nil {
		return
	}
	var verbs []byte // of the arguments after the format, if it is known
	format := -1     // index of the argument that is a format
	printf := strings.HasSuffix(callee.Name(), "f")
	for i, arg := range call.Args {
		tv := f.info.Types[arg]
		if !printf || format >= 0 || tv.Value == nil || tv.Value.Kind() != constant.String {
			continue
		}
		format, verbs = i, readVerbs(constant.StringVal(tv.Value))
		if slices.Contains(verbs, 'p') {
			f.reportf(arg.Pos(), "%%p prints an address")
		}
	}
	if callee.Pkg() == nil || callee.Pkg().Path() != "fmt" {
		return
	}
	sig, ok := callee.Type().(*types.Signature)
	if !ok || !sig.Variadic() || call.Ellipsis.IsValid() {
		return
	}
	scan := strings.Contains(callee.Name(), "can") // Sscanf and its kin take pointers to write to
	for i := sig.Params().Len() - 1; i < len(call.Args) && !scan; i++ {
		if k := i - format - 1; format >= 0 && k < len(verbs) && verbs[k] == 'T' {
			continue // prints the type only
		}
		t := f.info.TypeOf(call.Args[i])
		if part := address(t, 0, true, nil); part != nil {
			f.reportf(call.Args[i].Pos(), "printing a %s prints an address: of its %s", short(t), short(part))
		}
	}
}

// readVerbs returns the verbs of a format, one for each argument it takes: a
// star, which takes one too, stands for itself. Numbered arguments are not
// told apart from those in order.
func readVerbs(format string) (verbs []byte) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.*[]", format[i]) >= 0; i++ {
			if format[i] == '*' {
				verbs = append(verbs, '*')
			}
		}
		if i < len(format) && format[i] != '%' {
			verbs = append(verbs, format[i])
		}
	}
	return verbs
}

// address returns the part of t that package fmt prints as an address, nil if
// there is none. depth counts the values around it: fmt looks through a pointer
// to a composite value at the top only. open tells whether fmt may call the
// methods of the value, which it cannot within an unexported field.
func address(t types.Type, depth int, open bool, seen []types.Type) types.Type {
	if t == nil || open && printsItself(t) {
		return nil
	}
	for _, s := range seen {
		if types.Identical(s, t) {
			return nil
		}
	}
	seen = append(seen, t)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.UnsafePointer {
			return t
		}
	case *types.Chan, *types.Signature:
		return t
	case *types.Pointer:
		switch u.Elem().Underlying().(type) {
		case *types.Struct, *types.Array, *types.Slice, *types.Map:
			if depth == 0 {
				return address(u.Elem(), 1, open, seen)
			}
		}
		return t
	case *types.Slice:
		return address(u.Elem(), depth+1, open, seen)
	case *types.Array:
		return address(u.Elem(), depth+1, open, seen)
	case *types.Map:
		if part := address(u.Key(), depth+1, open, seen); part != nil {
			return part
		}
		return address(u.Elem(), depth+1, open, seen)
	case *types.Struct:
		for field := range u.Fields() {
			if part := address(field.Type(), depth+1, open && field.Exported(), seen); part != nil {
				return part
			}
		}
	}
	return nil
}

// printsItself reports whether fmt asks a value of type t for its text.
func printsItself(t types.Type) bool {
	methods := types.NewMethodSet(t)
	for _, name := range []string{"Error", "String", "Format"} {
		if sel := methods.Lookup(nil, name); sel != nil {
			return true
		}
	}
	return false
}

// short writes t with package names instead of paths.
func short(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
