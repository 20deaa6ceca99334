package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"backwave/sim"
)

// check looks at what no field can know on its own: names, instants, settings
// that must fit together.
func (d *decoder) check(sc *sim.Scenario, root *node) {
	if !d.checkCount(sc, root) {
		return
	}
	d.checkNames(sc, root)
	known := namesOf(sc)
	for _, m := range d.mentions {
		if n := known[m.to]; n == nil || !n.has[m.name] {
			d.unknown(m.n, m.name, m.to, n)
		}
	}
	for _, a := range d.addresses {
		d.checkAddress(sc, known, a)
	}
	for _, i := range d.instants {
		if sc.For > 0 && i.at > sc.For {
			d.fail(i.n, i.n.text, "is after the end of the world", "at most "+span(sc.For))
		}
	}
	d.checkGroups(sc, root)
	d.checkLevel(sc, root)
}

// checkCount bounds the jobs before anything spells out their names.
func (d *decoder) checkCount(sc *sim.Scenario, root *node) bool {
	sum := 0
	for i := range sc.Jobs {
		if sum += max(1, sc.Jobs[i].Count); sum > most {
			d.fail(root.find("jobs").items[i], sc.Jobs[i].ID, fmt.Sprintf("with this there are %d jobs or more", sum), fmt.Sprintf("at most %d in all", most))
			return false
		}
	}
	return true
}

// names are what a mention can refer to.
type names struct {
	list []string
	has  map[string]bool
}

// namesOf collects each kind of name.
func namesOf(sc *sim.Scenario) map[target]*names {
	out := map[target]*names{}
	add := func(t target, name string) {
		n := out[t]
		if n == nil {
			n = &names{has: map[string]bool{}}
			out[t] = n
		}
		if name != "" && !n.has[name] {
			n.list, n.has[name] = append(n.list, name), true
		}
	}
	for _, n := range sc.Nodes {
		add(toNode, n.Name)
		add(toClock, n.Name)
	}
	add(toClock, "store")
	for _, g := range sc.Groups {
		add(toGroup, g.Name)
		for _, q := range g.Config.Queues {
			add(toQueue, q.Name)
		}
	}
	for i := range sc.Jobs {
		j := &sc.Jobs[i]
		add(toJobs, j.ID)
		eachName(j, func(name string) { add(toJob, name); add(toJobs, name) })
		add(toHandler, cmp.Or(j.Name, "work"))
	}
	return out
}

// eachName calls do with the name of each job that j stands for.
func eachName(j *sim.Job, do func(string)) {
	if j.Count <= 1 {
		do(j.ID)
		return
	}
	for i := range j.Count {
		do(j.ID + "-" + strconv.Itoa(i+1))
	}
}

// unknown reports a name that refers to nothing.
func (d *decoder) unknown(at *node, name string, to target, known *names) {
	if known == nil || len(known.list) == 0 {
		d.fail(at, at.text, "unknown "+string(to), "none, for the file has none")
		return
	}
	d.fail(at, at.text, "unknown "+string(to), "one of "+listed(known.list))
	d.errs[len(d.errs)-1].Near = near(name, known.list)
}

// checkNames reports names that are defined twice, and those of nodes that an
// address could not tell apart.
func (d *decoder) checkNames(sc *sim.Scenario, root *node) {
	nodes, groups, jobs := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, n := range sc.Nodes {
		d.define(nodes, n.Name, root, "nodes", i)
		d.addressable(n.Name, root, "nodes", i)
	}
	for i := range sc.Groups {
		d.define(groups, sc.Groups[i].Name, root, "groups", i)
		d.addressable(sc.Groups[i].Name, root, "groups", i)
	}
	for i := range sc.Jobs {
		eachName(&sc.Jobs[i], func(name string) { d.define(jobs, name, root, "jobs", i) })
	}
}

// define books the name of entry i of a section.
func (d *decoder) define(seen map[string]bool, name string, root *node, section string, i int) {
	if at := defined(root, section, i); seen[name] && at != nil && name != "" {
		d.fail(at, name, "is the name of an earlier one", "another name")
	}
	seen[name] = true
}

func (d *decoder) addressable(name string, root *node, section string, i int) {
	if at := defined(root, section, i); at != nil && strings.Contains(name, "/") {
		d.fail(at, name, "has a slash, which separates the parts of an address", "a name without one")
	}
}

// defined returns where entry i of a section has its name, nil if nowhere.
func defined(root *node, section string, i int) *node {
	item := root.find(section).items[i]
	if n := item.find("id"); n != nil && section == "jobs" {
		return n
	}
	return item.find("name")
}

func (d *decoder) checkAddress(sc *sim.Scenario, known map[target]*names, x addressed) {
	i := slices.IndexFunc(sc.Nodes, func(n sim.Node) bool { return n.Name == x.a.Node })
	if i < 0 {
		d.unknown(x.n, x.a.Node, toNode, known[toNode])
		return
	}
	runs := sc.Nodes[i].Groups
	for _, g := range sc.Groups {
		if len(runs) > 0 && !slices.Contains(runs, g.Name) || x.a.Group != "" && x.a.Group != g.Name {
			continue
		}
		if top := max(1, g.Pumps); x.a.Pump >= top {
			d.fail(x.n, x.n.text, fmt.Sprintf("group %s has %d pump(s) on a node", g.Name, top), fmt.Sprintf("a number from 0 to %d", top-1))
		}
		return
	}
	if x.a.Group != "" {
		d.fail(x.n, x.n.text, fmt.Sprintf("%s runs no group %q", x.a.Node, x.a.Group), "one of its groups")
	}
}

// checkGroups lets each configuration judge itself, unless some of its fields
// are known to be wrong.
func (d *decoder) checkGroups(sc *sim.Scenario, root *node) {
	for i := range sc.Groups {
		item := root.find("groups").items[i]
		last := item.last()
		if slices.ContainsFunc(d.errs, func(e *Error) bool { return e.Line >= item.line && e.Line <= last }) {
			continue
		}
		for _, e := range leaves(sc.Groups[i].Config.Validate()) {
			at, text := item, sc.Groups[i].Name
			for _, f := range groupTable().fields {
				name, ok := strings.CutPrefix(f.path, "Config.")
				if n := item.find(f.key); ok && n != nil && strings.HasPrefix(e.Error(), "field "+name+" ") {
					at, text = n, n.shown()
				}
			}
			d.fail(at, text, inOurWords(e.Error()), "")
		}
	}
}

// leaves takes joined errors apart.
func leaves(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		if err == nil {
			return nil
		}
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, leaves(e)...)
	}
	return out
}

// inOurWords replaces the names of Go fields in s by the keys of a file.
func inOurWords(s string) string {
	swap := []string{"field ", "", "RetryPolicy", "retry"}
	for _, f := range groupTable().fields {
		if name, ok := strings.CutPrefix(f.path, "Config."); ok && !strings.Contains(name, ".") {
			swap = append(swap, name, f.key)
		}
	}
	return strings.NewReplacer(swap...).Replace(s)
}

// last returns the last line on which a part of n begins.
func (n *node) last() int {
	line := n.line
	for _, i := range n.items {
		line = max(line, i.last())
	}
	for _, p := range n.pairs {
		line = max(line, p.key.line, p.value.last())
	}
	return line
}

// checkLevel holds a pristine scenario to what it says of itself.
func (d *decoder) checkLevel(sc *sim.Scenario, root *node) {
	entries := root.find("timeline")
	if sc.Level != sim.Pristine || entries == nil {
		return
	}
	for _, n := range entries.items {
		if found := (anyFault{}).pick(n); len(found) == 1 && !found[0].people {
			d.fail(n, found[0].name, "a fault in a pristine scenario", "another level, or only what people do")
		}
	}
}
