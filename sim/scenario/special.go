package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"backwave/engine/pump"
	"backwave/sim"
	"backwave/store"
)

// served is the queues of a group: a list is served in strict order, a mapping
// by weight. It is read into a pump.Config.
type served struct{}

func (k served) read(d *decoder, n *node, v reflect.Value) {
	c := v.Addr().Interface().(*pump.Config)
	queues := v.FieldByName("Queues")
	if n.shape == mapping && len(n.pairs) > 0 {
		c.Weighted = true
		byName{of: integer{1, 1000}, field: "Weight"}.read(d, n, queues)
		return
	}
	var names []string
	many{of: word{}, one: true, need: true}.read(d, n, reflect.ValueOf(&names).Elem())
	for i, q := range names {
		if q != "" && slices.Contains(names[:i], q) {
			d.fail(n.items[i], q, "is listed twice", "each queue once")
		}
		c.Queues = append(c.Queues, pump.Queue{Name: q})
	}
}

func (k served) write(v reflect.Value) *node {
	c := v.Addr().Interface().(*pump.Config)
	if c.Weighted {
		return byName{of: integer{1, 1000}, field: "Weight"}.write(v.FieldByName("Queues"))
	}
	n := &node{shape: list}
	for _, q := range c.Queues {
		n.items = append(n.items, textNode(q.Name))
	}
	return n
}

func (k served) schema(s *schemas) any {
	return object{"anyOf": []any{
		many{of: word{}, one: true, need: true}.schema(s),
		byName{of: integer{1, 1000}, field: "Weight"}.schema(s),
	}}
}

func (k served) what() string {
	return "list of names, served in that order, or mapping from name to weight (1 to 1000)"
}

// spread is the jitter of a retry policy: in a file 0 means none, in a
// store.Policy that is a flag of its own.
type spread struct{}

func (k spread) read(d *decoder, n *node, v reflect.Value) {
	p := v.Addr().Interface().(*store.Policy)
	integer{0, store.MaxJitter}.read(d, n, v.FieldByName("Jitter"))
	p.NoJitter = n.text == "0"
}

func (k spread) write(v reflect.Value) *node {
	p := v.Addr().Interface().(*store.Policy)
	if p.Jitter == 0 && !p.NoJitter {
		return nil
	}
	if p.NoJitter {
		return plainNode("0")
	}
	return plainNode(strconv.Itoa(p.Jitter))
}

func (k spread) schema(s *schemas) any { return integer{0, store.MaxJitter}.schema(s) }
func (k spread) what() string          { return fmt.Sprintf("percent, 0 (none) to %d", store.MaxJitter) }

// address names a pump: node/group/number.
type address struct{}

func (k address) read(d *decoder, n *node, v reflect.Value) {
	s, ok := d.text(n, k.what())
	if !ok {
		return
	}
	parts := strings.Split(s, "/")
	a := sim.Address{Node: parts[0]}
	bad := len(parts) > 3 || parts[0] == ""
	if len(parts) > 1 {
		a.Group = parts[1]
		bad = bad || a.Group == ""
	}
	if len(parts) > 2 {
		i, err := strconv.Atoi(parts[2])
		a.Pump = i
		bad = bad || err != nil || i < 0 || strconv.Itoa(i) != parts[2]
	}
	if bad {
		d.fail(n, s, "not the address of a pump", k.what())
		return
	}
	v.Set(reflect.ValueOf(a))
	d.addresses = append(d.addresses, addressed{n, a})
}

func (k address) write(v reflect.Value) *node {
	a := v.Interface().(sim.Address)
	s := a.Node
	if a.Group != "" || a.Pump != 0 {
		s += "/" + a.Group
	}
	if a.Pump != 0 {
		s += "/" + strconv.Itoa(a.Pump)
	}
	return textNode(s)
}

func (k address) schema(*schemas) any {
	return object{"type": "string", "pattern": "^[^/]+(/[^/]+(/[0-9]+)?)?$"}
}

func (k address) what() string { return "pump, as node, node/group or node/group/number" }

// bounds is a number or a range, such as 2, 2..5, 2.. or ..5.
type bounds struct{}

func (k bounds) read(d *decoder, n *node, v reflect.Value) {
	if n.shape != number && n.shape != text {
		d.wrong(n, k.what())
		return
	}
	low, high, ranged := strings.Cut(n.text, "..")
	r := sim.Range{}
	var err1, err2 error
	switch {
	case !ranged:
		r.Min, err1 = natural(low)
		r.Max = r.Min
	default:
		if low != "" {
			r.Min, err1 = natural(low)
		}
		r.Max = -1
		if high != "" {
			r.Max, err2 = natural(high)
		}
	}
	if err1 != nil || err2 != nil || n.text == ".." || (r.Max >= 0 && r.Max < r.Min) {
		d.fail(n, n.text, "not a number or a range", k.what())
		return
	}
	v.Set(reflect.ValueOf(&r))
}

func natural(s string) (int, error) {
	i, err := strconv.ParseUint(s, 10, 31)
	return int(i), err
}

func (k bounds) write(v reflect.Value) *node {
	r := v.Elem().Interface().(sim.Range)
	switch {
	case r.Max < 0:
		return textNode(fmt.Sprintf("%d..", r.Min))
	case r.Max == r.Min:
		return plainNode(strconv.Itoa(r.Min))
	}
	return textNode(fmt.Sprintf("%d..%d", r.Min, r.Max))
}

func (k bounds) schema(*schemas) any {
	return object{"type": []string{"integer", "string"}, "minimum": 0, "pattern": `^([0-9]+|[0-9]+\.\.[0-9]*|\.\.[0-9]+)$`}
}

func (k bounds) what() string { return "number or range, such as 2, 2..5, 2.. or ..5" }

// version is the version of something: of the language, or of plans.
type version struct{ of string }

func (k version) read(d *decoder, n *node, v reflect.Value) {
	switch {
	case n.shape != number:
		d.wrong(n, k.what())
	case n.text != strconv.Itoa(Version):
		d.fail(n, n.text, "unknown version of "+k.of, k.what())
	default:
		v.SetInt(Version)
	}
}

func (k version) write(v reflect.Value) *node { return plainNode(fmt.Sprint(v.Int())) }
func (k version) schema(*schemas) any         { return object{"const": Version} }
func (k version) what() string                { return fmt.Sprintf("%d, the only one there is", Version) }
