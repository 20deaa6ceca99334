package shrink

import (
	"reflect"
	"slices"
	"time"

	"backwave/sim"
)

// edit changes a plan. What the change leaves without a meaning, tidy takes
// away afterwards.
type edit func(*Plan)

// pass is one way to make a plan smaller.
type pass struct {
	name  string
	edits func(*search) []edit // of the plan as it is, in the order in which they are tried
}

// passes are made in this order, again and again. All but the last find ways
// that are shorter, or that no single change opens. The last one is what
// minimality is about: it takes away or weakens one thing at a time, and leaves
// nothing out. Time and jobs go first: they are what a run costs, and what is
// left of them decides which faults matter.
var passes = []pass{
	{"shorten the world", shorter},
	{"lower counts", counts},
	{"drop jobs", jobs},
	{"drop faults and actions", func(s *search) []edit {
		return chunks(len(s.plan.Scenario.Timeline), func(sc *sim.Scenario, i, j int) { sc.Timeline = slices.Delete(sc.Timeline, i, j) })
	}},
	{"drop nodes", func(s *search) []edit {
		return chunks(len(s.plan.Scenario.Nodes), func(sc *sim.Scenario, i, j int) { sc.Nodes = slices.Delete(sc.Nodes, i, j) })
	}},
	{"merge queues", queues},
	{"take jobs out of a count", unfold},
	{"drop jobs", jobs}, // there may be thousands more entries now, and other passes take them one by one
	{"drop two at once", pairs},
	{"hit an earlier call", sooner},
	{"one error for lost calls", lost},
	{"one error for two", alike},
	{"move things together", earlier},
	{"try small seeds", seeds},
	{"drop and weaken, one at a time", singles},
}

// jobs drop entries of jobs.
func jobs(s *search) []edit {
	return chunks(len(s.plan.Scenario.Jobs), func(sc *sim.Scenario, i, j int) { sc.Jobs = slices.Delete(sc.Jobs, i, j) })
}

// chunks are edits that delete parts of a list of n: first halves of it, then
// quarters, and in the end single entries.
func chunks(n int, remove func(sc *sim.Scenario, i, j int)) (out []edit) {
	for size := n; size > 0; size /= 2 {
		for i := 0; i < n; i += size {
			out = append(out, func(p *Plan) { remove(p.Scenario, i, min(i+size, n)) })
		}
	}
	return out
}

// shorter ends the world soon after it fails, or sooner.
func shorter(s *search) (out []edit) {
	now := s.plan.Scenario.For
	propose := func(d time.Duration) {
		if d > 0 && (d <= now-time.Second || d < now && digits(d) <= digits(now)) {
			out = append(out, func(p *Plan) { p.Scenario.For = d })
		}
	}
	for _, unit := range []time.Duration{time.Second, 100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond} {
		propose(up(s.at, unit))
	}
	propose(now / 2)
	for _, unit := range units {
		propose(down(now-1, unit))
	}
	return out
}

// counts lower the number of equal jobs. The first keeps its name.
func counts(s *search) (out []edit) {
	for i := range s.plan.Scenario.Jobs {
		n := s.plan.Scenario.Jobs[i].Count
		if n <= 1 {
			continue
		}
		out = append(out, func(p *Plan) { p.Scenario.Jobs[i] = nth(&p.Scenario.Jobs[i], 0) })
		for _, k := range []int{n / 2, n - 1} {
			if k > 1 {
				out = append(out, func(p *Plan) { p.Scenario.Jobs[i].Count = k })
			}
		}
	}
	return out
}

// unfold makes equal jobs entries of their own, which can then go one by one.
// The world stays the same.
func unfold(s *search) (out []edit) {
	for i := range s.plan.Scenario.Jobs {
		n := s.plan.Scenario.Jobs[i].Count
		if n <= 1 {
			continue
		}
		out = append(out, func(p *Plan) {
			set := p.Scenario.Jobs[i]
			var each []sim.Job
			for k := range n {
				each = append(each, nth(&set, k))
			}
			p.Scenario.Jobs = slices.Replace(p.Scenario.Jobs, i, i+1, each...)
			expectEach(&p.Scenario.Expect, set.ID, each)
		})
	}
	return out
}

// expectEach replaces what is expected of a set of jobs by the same of each.
func expectEach(x *sim.Expect, set string, each []sim.Job) {
	var out []sim.ExpectJob
	for _, e := range x.Jobs {
		if e.Job != set {
			out = append(out, e)
			continue
		}
		for i := range each {
			e.Job = each[i].ID
			out = append(out, e)
		}
	}
	x.Jobs = out
}

// queues move all that one queue has to the first one.
func queues(s *search) (out []edit) {
	names := served(s.plan.Scenario)
	for _, from := range names[min(1, len(names)):] {
		out = append(out, func(p *Plan) { merge(p.Scenario, from, names[0]) })
	}
	return out
}

func merge(sc *sim.Scenario, from, to string) {
	for i := range sc.Groups {
		c := &sc.Groups[i].Config
		for k := range c.Queues {
			if c.Queues[k].Name == from {
				c.Queues[k].Name = to
			}
		}
		for k := len(c.Queues) - 1; k >= 0; k-- {
			for _, q := range c.Queues[:k] {
				if q.Name == c.Queues[k].Name {
					c.Queues = slices.Delete(c.Queues, k, k+1)
					break
				}
			}
		}
	}
	for i := range sc.Jobs {
		if sc.Jobs[i].Queue == from {
			sc.Jobs[i].Queue = to
		}
	}
	for i, f := range sc.Timeline {
		v := copied(reflect.ValueOf(f))
		if q := v.FieldByName("Queue"); q.IsValid() && q.String() == from {
			q.SetString(to)
			sc.Timeline[i] = v.Interface().(sim.Fault)
		}
	}
}

// seeds tries a few small ones: whether a plan fails mostly no longer depends
// on its seed.
func seeds(s *search) (out []edit) {
	for seed := uint64(1); seed < min(s.plan.Seed, 4); seed++ {
		out = append(out, func(p *Plan) { p.Seed = seed })
	}
	return out
}
