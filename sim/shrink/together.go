package shrink

import (
	"reflect"
	"slices"
	"time"

	"backwave/sim"
)

// What follows are edits that change several things at once where none of them
// can change alone.

// few is up to how many things are tried with each other.
const few = 12

// pairs drop two entries of timeline and jobs at once, if there are few.
func pairs(s *search) (out []edit) {
	jobs, all := len(s.plan.Scenario.Jobs), len(s.plan.Scenario.Jobs)+len(s.plan.Scenario.Timeline)
	if all > few {
		return nil
	}
	drop := func(sc *sim.Scenario, i int) {
		if i < jobs {
			sc.Jobs = slices.Delete(sc.Jobs, i, i+1)
		} else {
			sc.Timeline = slices.Delete(sc.Timeline, i-jobs, i-jobs+1)
		}
	}
	for j := range all {
		for i := range j {
			out = append(out, func(p *Plan) {
				drop(p.Scenario, j) // the later one first: it shifts nothing
				drop(p.Scenario, i)
			})
		}
	}
	return out
}

// sooner makes a fault that hits the n-th call hit an earlier one, without the
// jobs that were only there to be counted.
func sooner(s *search) (out []edit) {
	jobs := len(s.plan.Scenario.Jobs)
	if jobs > few {
		return nil
	}
	for i, f := range s.plan.Scenario.Timeline {
		n := reflect.ValueOf(f).FieldByName("Nth")
		if !n.IsValid() || n.Int() < 2 {
			continue
		}
		for k := range jobs {
			out = append(out, func(p *Plan) { // that job's call is the first
				p.Scenario.Jobs = p.Scenario.Jobs[k : k+1]
				count(p.Scenario, i, 1)
			}, func(p *Plan) { // one less
				p.Scenario.Jobs = slices.Delete(p.Scenario.Jobs, k, k+1)
				count(p.Scenario, i, n.Int()-1)
			})
		}
	}
	return out
}

// count makes entry i of the timeline hit the n-th call.
func count(sc *sim.Scenario, i int, n int64) {
	v := copied(reflect.ValueOf(sc.Timeline[i]))
	v.FieldByName("Nth").SetInt(n)
	sc.Timeline[i] = v.Interface().(sim.Fault)
}

// lost replaces calls of one kind that a pump loses one by one by an error that
// the store gives it from some time on, for good or until just before the
// violation.
func lost(s *search) (out []edit) {
	seen := map[sim.OnCall]bool{}
	for _, f := range s.plan.Scenario.Timeline {
		c, ok := f.(sim.OnCall)
		if !ok || c.Do != "lose-request" {
			continue
		}
		c.Nth, c.By = 0, 0
		if seen[c] {
			for _, at := range []time.Duration{0, s.at / 4, s.at / 2, s.at / 4 * 3} {
				at = down(at, time.Second)
				out = append(out, func(p *Plan) { failing(p.Scenario, c, at, 0) })
				for _, unit := range []time.Duration{time.Second, 100 * time.Millisecond, time.Millisecond} {
					out = append(out, func(p *Plan) { failing(p.Scenario, c, at, down(s.at-1, unit)-at) })
				}
			}
		}
		seen[c] = true
	}
	return out
}

func failing(sc *sim.Scenario, like sim.OnCall, at, long time.Duration) {
	sc.Timeline = slices.DeleteFunc(sc.Timeline, func(f sim.Fault) bool {
		c, ok := f.(sim.OnCall)
		c.Nth, c.By = 0, 0
		return ok && c == like
	})
	sc.Timeline = append(sc.Timeline, sim.StoreError{
		At: at, For: max(0, long), Class: "connection", Calls: []string{like.Call}, Nodes: []string{like.Pump.Node}, Group: like.Pump.Group,
	})
}

// alike makes one error of two that the store gives the same pumps: of the calls
// of both, at the time of either.
func alike(s *search) (out []edit) {
	all := s.plan.Scenario.Timeline
	if len(all) > few {
		return nil
	}
	for j := range all {
		for i := range j {
			a, ok := all[i].(sim.StoreError)
			b, too := all[j].(sim.StoreError)
			if !ok || !too || a.Class != b.Class || a.Group != b.Group || !slices.Equal(a.Nodes, b.Nodes) {
				continue
			}
			a.Calls = union(a.Calls, b.Calls)
			b.Calls = a.Calls
			for _, one := range []sim.StoreError{a, b} {
				out = append(out, func(p *Plan) {
					p.Scenario.Timeline[i] = one
					p.Scenario.Timeline = slices.Delete(p.Scenario.Timeline, j, j+1)
				})
			}
		}
	}
	return out
}

// union returns the calls of both lists. An empty one means all.
func union(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// earlier moves everything from some instant on nearer to what comes before.
func earlier(s *search) (out []edit) {
	var all []time.Duration
	instants(s.plan.Scenario, func(t time.Duration) time.Duration {
		all = append(all, t)
		return t
	})
	slices.Sort(all)
	before := time.Duration(0)
	for _, from := range slices.Compact(all) {
		gap := from - before
		before = from
		for _, by := range []time.Duration{gap, down(gap, time.Minute), down(gap, 10*time.Second), down(gap, time.Second), down(gap/2, time.Second)} {
			if by < time.Second {
				continue
			}
			out = append(out, func(p *Plan) {
				instants(p.Scenario, func(t time.Duration) time.Duration {
					if t >= from {
						t -= by
					}
					return t
				})
			})
		}
	}
	return out
}

// instants replaces every instant of sc by what do makes of it.
func instants(sc *sim.Scenario, do func(time.Duration) time.Duration) {
	sc.For = do(sc.For)
	for i := range sc.Nodes {
		sc.Nodes[i].Start = do(sc.Nodes[i].Start)
	}
	for i := range sc.Jobs {
		sc.Jobs[i].At = do(sc.Jobs[i].At)
	}
	for i := range sc.Expect.Jobs {
		x := &sc.Expect.Jobs[i]
		x.After, x.By = do(x.After), do(x.By)
	}
	for i := range sc.Expect.Health {
		sc.Expect.Health[i].At = do(sc.Expect.Health[i].At)
	}
	for i, f := range sc.Timeline {
		v := copied(reflect.ValueOf(f))
		if at := v.FieldByName("At"); at.IsValid() && at.CanInt() { // that of an Aim is a word
			at.SetInt(int64(do(time.Duration(at.Int()))))
			sc.Timeline[i] = v.Interface().(sim.Fault)
		}
	}
}
