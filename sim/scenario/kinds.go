package scenario

import (
	"reflect"
	"strings"
)

// many is a list of values of one kind.
type many struct {
	of    kind
	one   bool   // a single value may stand for a list of one
	exact bool   // an empty list says something else than none
	none  string // a word that stands for no list at all; "" = there is none
	need  bool   // an empty list is refused
}

func (k many) read(d *decoder, n *node, v reflect.Value) {
	items := n.items
	switch {
	case n.shape == list:
	case k.none != "" && n.shape == text && n.text == k.none:
		return
	case k.one && n.shape != null:
		items = []*node{n}
	default:
		d.wrong(n, k.what())
		return
	}
	if len(items) == 0 && (k.need || k.none != "") {
		d.fail(n, n.shown(), "an empty list", k.what())
	}
	if len(items) == 0 && !k.exact {
		return
	}
	out := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		k.of.read(d, item, out.Index(i))
	}
	v.Set(out)
}

func (k many) write(v reflect.Value) *node {
	switch {
	case v.Len() == 0 && k.none != "":
		return textNode(k.none)
	case v.Len() == 0 && !k.exact:
		return nil
	case v.Len() == 1 && k.one:
		if n := k.of.write(v.Index(0)); n.shape != text || n.text != k.none {
			return n
		}
	}
	n := &node{shape: list}
	for i := range v.Len() {
		n.items = append(n.items, k.of.write(v.Index(i)))
	}
	return n
}

func (k many) schema(s *schemas) any {
	of := k.of.schema(s)
	l := object{"type": "array", "items": of}
	if k.need || k.none != "" {
		l["minItems"] = 1
	}
	forms := []any{l}
	if k.one {
		forms = append(forms, of)
	}
	if k.none != "" {
		forms = append(forms, object{"const": k.none})
	}
	if len(forms) == 1 {
		return l
	}
	return object{"anyOf": forms}
}

func (k many) what() string {
	of := k.of.what()
	s := "list of " + of
	if _, ok := k.of.(choice); ok {
		s = "list of: " + strings.TrimPrefix(of, "one of ")
	}
	if k.one {
		s = of + ", or a list of these"
	}
	if k.none != "" {
		s = k.none + ", " + s
	}
	return s
}

// record is a mapping with the fields of a table.
type record struct{ *table }

func (k record) read(d *decoder, n *node, v reflect.Value) {
	if n.shape != mapping {
		d.wrong(n, k.what())
		return
	}
	d.fields(n, k.table, v)
}

func (k record) write(v reflect.Value) *node {
	n := &node{shape: mapping, block: k.block}
	for i := range k.fields {
		f := &k.fields[i]
		fv, ok := follow(v, f.path, false)
		if !ok || (fv.IsZero() && !f.need) {
			continue
		}
		value := f.kind.write(fv)
		if _, inner := f.kind.(record); inner && len(value.pairs) == 0 {
			continue // such as a list that is empty but not nil
		}
		if value != nil {
			n.pairs = append(n.pairs, pair{textNode(f.key), value})
		}
	}
	return n
}

func (k record) schema(s *schemas) any { return s.record(k.table) }
func (k record) what() string          { return "mapping with " + listed(k.keys()) }

// byName is a mapping from names to values: a slice of structs in which the
// field Name is the key.
type byName struct {
	of    kind
	field string // the other field of the struct
	keys  target // what the names refer to; "" = they are defined here
}

func (k byName) read(d *decoder, n *node, v reflect.Value) {
	if n.shape != mapping || len(n.pairs) == 0 {
		d.wrong(n, k.what())
		return
	}
	pairs := d.unique(n)
	out := reflect.MakeSlice(v.Type(), len(pairs), len(pairs))
	for i, p := range pairs {
		word{}.read(d, p.key, out.Index(i).FieldByName("Name"))
		if k.keys != "" {
			d.mentions = append(d.mentions, mention{p.key, k.keys, p.key.text})
		}
		k.of.read(d, p.value, out.Index(i).FieldByName(k.field))
	}
	v.Set(out)
}

func (k byName) write(v reflect.Value) *node {
	if v.Len() == 0 {
		return nil
	}
	n := &node{shape: mapping}
	for i := range v.Len() {
		e := v.Index(i)
		n.pairs = append(n.pairs, pair{textNode(e.FieldByName("Name").String()), k.of.write(e.FieldByName(k.field))})
	}
	return n
}

func (k byName) schema(s *schemas) any {
	return object{"type": "object", "minProperties": 1, "additionalProperties": k.of.schema(s)}
}

func (k byName) what() string { return "mapping from " + orName(k.keys) + " to " + k.of.what() }

func orName(t target) string {
	if t == "" {
		return "name"
	}
	return string(t)
}

// follow finds the field of the struct v at path, such as Config.PoolSize. Nil
// pointers on the way are filled in, or end the search.
func follow(v reflect.Value, path string, fill bool) (reflect.Value, bool) {
	if path == "" {
		return v, true
	}
	for part := range strings.SplitSeq(path, ".") {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !fill {
					return v, false
				}
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.FieldByName(part)
	}
	return v, true
}
