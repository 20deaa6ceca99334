package scenario

import (
	"fmt"
	"reflect"
	"time"

	"backwave/sim"
)

// Header makes a scenario a plan: what was run, to the last byte.
type Header struct {
	Version  int    // of plans: 1; 0 = the file is no plan
	Seed     uint64 // of the run
	Scenario string // where the plan comes from; "" if from nowhere
}

// Version is the version of the language, and of plans.
const Version = 1

// document is a file as a whole.
type document struct {
	Version  int
	Plan     Header
	Scenario sim.Scenario
}

// Parse reads a scenario, or a plan without regard to its header. file is how
// errors name it. An error is of type Errors and holds every mistake found.
func Parse(file string, src []byte) (*sim.Scenario, error) {
	sc, _, err := ParsePlan(file, src)
	return sc, err
}

// ParsePlan reads a plan, or a scenario, whose header is then zero.
func ParsePlan(file string, src []byte) (*sim.Scenario, Header, error) {
	d := &decoder{file: file}
	doc := &document{}
	if root := d.load(src); root != nil && len(d.errs) == 0 && d.known(root) {
		record{scenarioTable()}.read(d, root, reflect.ValueOf(doc).Elem())
		d.check(&doc.Scenario, root)
	}
	if len(d.errs) > 0 {
		d.errs.sort()
		return nil, Header{}, d.errs
	}
	return &doc.Scenario, doc.Plan, nil
}

// known reports whether a file is of a version that can be read. Of one that is
// not, nothing else is said: what looks like a mistake may be right there.
func (d *decoder) known(root *node) bool {
	versions := func(t *table, n *node) {
		if at := n.find("version"); at != nil && at.shape == number {
			t.field("version").kind.read(d, at, reflect.New(reflect.TypeFor[int]()).Elem())
		}
	}
	versions(scenarioTable(), root)
	if plan := root.find("plan"); plan != nil {
		versions(planTable(), plan)
	}
	return len(d.errs) == 0
}

// decoder reads one file and collects what is wrong with it.
type decoder struct {
	file      string
	errs      Errors
	mentions  []mention // names to be looked up once everything is known
	addresses []addressed
	instants  []instant
}

type mention struct {
	n    *node
	to   target
	name string
}

type addressed struct {
	n *node
	a sim.Address
}

type instant struct {
	n  *node
	at time.Duration
}

func (d *decoder) fail(n *node, shown, problem, want string) {
	d.errs = append(d.errs, &Error{File: d.file, Line: n.line, Col: n.col, Text: shown, Problem: problem, Want: want})
}

// misspelt reports a word that is not among the known ones.
func (d *decoder) misspelt(n *node, problem, want string, known []string) {
	d.fail(n, n.text, problem, want)
	d.errs[len(d.errs)-1].Near = near(n.text, known)
}

// wrong reports a node of the wrong shape.
func (d *decoder) wrong(n *node, want string) {
	d.fail(n, n.shown(), "is "+n.shape.String(), want)
}

// text returns the text of n, or reports that it is something else.
func (d *decoder) text(n *node, want string) (string, bool) {
	switch n.shape {
	case text:
		return n.text, true
	case number, boolean:
		d.fail(n, n.text, "is "+n.shape.String(), want+"; text like this needs quotes")
	case null, list, mapping:
		d.wrong(n, want)
	}
	return "", false
}

// fields reads the mapping n into the struct v.
func (d *decoder) fields(n *node, t *table, v reflect.Value) {
	for _, p := range d.unique(n) {
		f := t.field(p.key.text)
		if f == nil {
			d.misspelt(p.key, "unknown field", "one of "+listed(t.keys()), t.keys())
			continue
		}
		target, _ := follow(v, f.path, true)
		f.kind.read(d, p.value, target)
	}
	for i := range t.fields {
		if f := &t.fields[i]; f.need && n.find(f.key) == nil {
			d.fail(n, t.name, fmt.Sprintf("has no field %q", f.key), f.kind.what())
		}
	}
}

// unique reports keys that are given more than once and returns the others,
// and of the former the first.
func (d *decoder) unique(n *node) (once []pair) {
	seen := map[string]*node{}
	for _, p := range n.pairs {
		if first, ok := seen[p.key.text]; ok {
			d.fail(p.key, p.key.text, fmt.Sprintf("is given a second time, after line %d", first.line), "each key once")
			continue
		}
		seen[p.key.text] = p.key
		once = append(once, p)
	}
	return once
}

// noFault reports an entry of a timeline without a keyword, at the key that
// most looks like one.
func (d *decoder) noFault(n *node, known []string) {
	want := "one of " + listed(known)
	for _, p := range n.pairs {
		if guess := near(p.key.text, known); guess != "" {
			d.misspelt(p.key, "unknown fault", want, known)
			return
		}
	}
	for _, p := range n.pairs {
		if p.key.text != "at" && p.key.text != "for" {
			d.fail(p.key, p.key.text, "unknown fault", want)
			return
		}
	}
	d.fail(n, n.shown(), "says when but not what", want)
}
