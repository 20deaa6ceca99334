package shrink

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"backwave/engine/pump"
	"backwave/sim"
	"backwave/store"
)

// tidy takes away what an edit has left without a meaning: what speaks of
// nodes, groups, pumps, jobs or queues that are gone, and what would happen
// after the end.
func tidy(sc *sim.Scenario) {
	sc.Nodes = slices.DeleteFunc(sc.Nodes, func(n sim.Node) bool { return n.Start > sc.For || !stays(sc, &n) })
	served := served(sc)
	sc.Jobs = slices.DeleteFunc(sc.Jobs, func(j sim.Job) bool {
		last := j.At + time.Duration(max(1, j.Count)-1)*j.Every
		return j.At > sc.For || last > sc.For && j.Count > 1 || j.Queue != "" && !slices.Contains(served, j.Queue)
	})
	handlers(sc)
	k := known(sc, served)
	sc.Timeline = slices.DeleteFunc(sc.Timeline, func(f sim.Fault) bool { return !k.means(f) })
	for i, f := range sc.Timeline {
		sc.Timeline[i] = k.narrow(f)
	}
	sc.Expect.Jobs = slices.DeleteFunc(sc.Expect.Jobs, func(x sim.ExpectJob) bool { return !k.jobs[x.Job] })
	sc.Expect.Health = slices.DeleteFunc(sc.Expect.Health, func(x sim.ExpectHealth) bool { return !k.nodes[x.Node] || x.At > sc.For })
}

// stays drops the groups of n that are gone, and reports whether it still runs
// any.
func stays(sc *sim.Scenario, n *sim.Node) bool {
	if len(n.Groups) == 0 {
		return true
	}
	n.Groups = slices.DeleteFunc(n.Groups, func(name string) bool {
		return !slices.ContainsFunc(sc.Groups, func(g sim.Group) bool { return g.Name == name })
	})
	return len(n.Groups) > 0
}

// served lists the queues that some group serves.
func served(sc *sim.Scenario) (out []string) {
	for i := range sc.Groups {
		for _, q := range sc.Groups[i].Config.Queues {
			if !slices.Contains(out, q.Name) {
				out = append(out, q.Name)
			}
		}
	}
	return out
}

// handlers drops what groups say of handlers whose jobs are all gone.
func handlers(sc *sim.Scenario) {
	gone := func(name string) bool {
		return !slices.ContainsFunc(sc.Jobs, func(j sim.Job) bool { return cmp.Or(j.Name, "work") == name })
	}
	for i := range sc.Groups {
		c := &sc.Groups[i].Config
		c.Timeouts = none(slices.DeleteFunc(c.Timeouts, func(t pump.Timeout) bool { return gone(t.Name) }))
		if c.Terms == nil {
			continue
		}
		c.Terms.ByName = none(slices.DeleteFunc(c.Terms.ByName, func(p store.NamedPolicy) bool { return gone(p.Name) }))
		if reflect.ValueOf(*c.Terms).IsZero() {
			c.Terms = nil // a file cannot tell them apart
		}
	}
}

// none returns nil for an empty list, as a file is read.
func none[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// knowledge is what an entry of a timeline can speak of.
type knowledge struct {
	sc                   *sim.Scenario
	nodes, groups        map[string]bool
	jobs, queues, clocks map[string]bool
}

func known(sc *sim.Scenario, served []string) *knowledge {
	k := &knowledge{sc: sc, nodes: map[string]bool{}, groups: map[string]bool{"": true}, jobs: map[string]bool{}, queues: map[string]bool{}, clocks: map[string]bool{"store": true}}
	for i := range sc.Nodes {
		k.nodes[sc.Nodes[i].Name], k.clocks[sc.Nodes[i].Name] = true, true
	}
	for i := range sc.Groups {
		k.groups[sc.Groups[i].Name] = true
	}
	for i := range sc.Jobs {
		k.jobs[sc.Jobs[i].ID] = true
		for n := range sc.Jobs[i].Count {
			k.jobs[name(&sc.Jobs[i], n)] = true
		}
	}
	for _, q := range served {
		k.queues[q] = true
	}
	return k
}

// means reports whether f still speaks of what there is. The fields of all
// faults that name something are called alike.
func (k *knowledge) means(f sim.Fault) bool {
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		x := v.Field(i).Interface()
		ok := true
		switch v.Type().Field(i).Name {
		case "At":
			at, instant := x.(time.Duration) // that of Aim is a word
			ok = !instant || at <= k.sc.For
		case "Node":
			ok = k.clocks[x.(string)]
		case "Group":
			ok = k.groups[x.(string)]
		case "Job":
			ok = k.jobs[x.(string)]
		case "Queue":
			ok = k.queues[x.(string)]
		case "Pump":
			ok = k.pump(x.(sim.Address))
		case "Nodes":
			list := x.([]string)
			ok = len(list) == 0 || slices.ContainsFunc(list, func(n string) bool { return k.nodes[n] })
		}
		if !ok {
			return false
		}
	}
	return true
}

// pump reports whether there is a pump at a.
func (k *knowledge) pump(a sim.Address) bool {
	i := slices.IndexFunc(k.sc.Nodes, func(n sim.Node) bool { return n.Name == a.Node })
	if i < 0 {
		return false
	}
	runs := k.sc.Nodes[i].Groups
	for _, g := range k.sc.Groups {
		if (a.Group == "" || a.Group == g.Name) && (len(runs) == 0 || slices.Contains(runs, g.Name)) {
			return a.Pump < max(1, g.Pumps)
		}
	}
	return false
}

// narrow drops from f the nodes that are gone; one stays, or means would have
// dropped it.
func (k *knowledge) narrow(f sim.Fault) sim.Fault {
	v := copied(reflect.ValueOf(f))
	if list := v.FieldByName("Nodes"); list.IsValid() && list.Len() > 0 {
		left := slices.DeleteFunc(list.Interface().([]string), func(n string) bool { return !k.nodes[n] })
		list.Set(reflect.ValueOf(left))
	}
	return v.Interface().(sim.Fault)
}

// spelledOut replaces what the plan leaves to defaults that depend on other
// entries, so that dropping those does not change its meaning.
func (s *search) spelledOut() {
	sc := s.plan.Scenario
	for i := range sc.Jobs {
		if q := served(sc); sc.Jobs[i].Queue == "" && len(q) > 0 {
			sc.Jobs[i].Queue = q[0]
		}
	}
	for i, f := range sc.Timeline {
		v := copied(reflect.ValueOf(f))
		if a := v.FieldByName("Pump"); a.IsValid() {
			a.Set(reflect.ValueOf(explicit(sc, a.Interface().(sim.Address))))
		}
		sc.Timeline[i] = v.Interface().(sim.Fault)
	}
	s.text = textOf(s.plan)
}

// explicit names the group of a pump.
func explicit(sc *sim.Scenario, a sim.Address) sim.Address {
	for _, n := range sc.Nodes {
		for _, g := range sc.Groups {
			if a.Group == "" && n.Name == a.Node && (len(n.Groups) == 0 || slices.Contains(n.Groups, g.Name)) {
				a.Group = g.Name
			}
		}
	}
	return a
}

// name is what the k-th of a set of jobs is called, from 0.
func name(j *sim.Job, k int) string {
	if j.Count <= 1 {
		return j.ID
	}
	return fmt.Sprintf("%s-%d", j.ID, k+1)
}

// nth is the k-th of a set of jobs, from 0, as an entry of its own: it keeps
// its name, and with it everything that is drawn for it.
func nth(j *sim.Job, k int) sim.Job {
	out := copied(reflect.ValueOf(*j)).Interface().(sim.Job)
	out.ID, out.At = name(j, k), j.At+time.Duration(k)*j.Every
	out.Count, out.Every = 0, 0
	return out
}
