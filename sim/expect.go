package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"backwave/checker"
	"backwave/engine"
	"backwave/engine/pump"
	"backwave/history"
	"backwave/store"
)

// expectation is the name under which an expectation of a scenario's author
// that did not come true is reported, beside the invariants.
const expectation = "expectation"

// probe is what a node's health endpoint would have answered.
type probe struct {
	taken  bool
	up     bool
	health engine.Health
}

func (w *world) addProbes() {
	w.probes = make([]probe, len(w.sc.Expect.Health))
	for i, x := range w.sc.Expect.Health {
		w.expect(event{at: int64(x.At), kind: evProbe, ref: int32(i)})
	}
}

func (w *world) probe(e event) {
	w.coming--
	n := w.nodeNamed(w.sc.Expect.Health[e.ref].Node)
	w.probes[e.ref] = probe{taken: true, up: n.up, health: n.health()}
	w.settle()
}

// judge holds what came out against what the author expects.
type judge struct {
	w   *world
	out []checker.Violation
}

func (j *judge) wrong(id store.JobID, format string, args ...any) {
	j.out = append(j.out, checker.Violation{Invariant: expectation, Event: j.w.events, At: j.w.end, Job: id, Message: fmt.Sprintf(format, args...)})
}

func (w *world) expectations(jobs []JobResult) []checker.Violation {
	j := &judge{w: w}
	for _, x := range w.sc.Expect.Jobs {
		for i := range jobs {
			if jobs[i].Name == x.Job || strings.HasPrefix(jobs[i].Name, x.Job+"-") && w.jobs[i].spec.ID == x.Job {
				j.job(x, &jobs[i])
			}
		}
	}
	for i, x := range w.sc.Expect.Health {
		j.health(x, w.probes[i])
	}
	reached := w.seen.names()
	for _, s := range w.sc.Expect.Situations {
		if !slices.Contains(reached, s) {
			j.wrong(store.JobID{}, "expected to see that %s, which did not happen", s)
		}
	}
	return j.out
}

func (j *judge) job(x ExpectJob, r *JobResult) {
	id := r.Row.ID
	if x.State != 0 && r.Row.State != x.State {
		j.wrong(id, "%s is %s, expected %s", r.Name, stateName(r.Row.State), x.State)
	}
	j.within(id, r.Name, "attempts", r.Row.Attempt, x.Attempts)
	j.within(id, r.Name, "handler starts", r.Starts, x.Starts)
	j.within(id, r.Name, "fenced outcomes", r.Fenced, x.Fenced)
	j.within(id, r.Name, "renewals", r.Renewals, x.Renewals)
	if x.Ends != nil {
		var ends []store.EndKind
		for _, e := range r.Row.Ends {
			ends = append(ends, e.Kind)
		}
		if !slices.Equal(ends, x.Ends) {
			j.wrong(id, "the attempts of %s ended as %v, expected %v", r.Name, ends, x.Ends)
		}
	}
	if x.Told != nil && !slices.Equal(r.Told, x.Told) {
		j.wrong(id, "the handlers of %s were told %v, expected %v", r.Name, r.Told, x.Told)
	}
	if x.After > 0 && r.Ended < x.After {
		j.wrong(id, "%s ended at %v, expected no earlier than %v", r.Name, r.Ended, x.After)
	}
	if x.By > 0 && (r.Ended > x.By || r.Ended == 0) {
		j.wrong(id, "%s ended at %v (0s: never), expected by %v", r.Name, r.Ended, x.By)
	}
}

func stateName(s store.State) string {
	if s == 0 {
		return "not there"
	}
	return s.String()
}

func (j *judge) within(id store.JobID, job, what string, got int, want *Range) {
	if want == nil || (got >= want.Min && (want.Max < 0 || got <= want.Max)) {
		return
	}
	j.wrong(id, "%s has %d %s, expected %s", job, got, what, want)
}

// String prints r as scenario files write it.
func (r Range) String() string {
	switch {
	case r.Max < 0:
		return fmt.Sprintf("%d or more", r.Min)
	case r.Min == r.Max:
		return fmt.Sprint(r.Min)
	}
	return fmt.Sprintf("%d to %d", r.Min, r.Max)
}

func (j *judge) health(x ExpectHealth, p probe) {
	if !p.taken || !p.up {
		j.wrong(store.JobID{}, "node %s was not up at %v to be asked for its health", x.Node, x.At)
		return
	}
	if x.Healthy != nil && p.health.Healthy() != *x.Healthy {
		j.wrong(store.JobID{}, "health of %s at %v: healthy is %v, expected %v (%s)", x.Node, x.At, p.health.Healthy(), *x.Healthy, p.health)
	}
	j.groups(x, "halted", keys(p.health.HaltedGroups()), x.Halted)
	j.groups(x, "partially halted", keys(p.health.PartiallyHaltedGroups()), x.Partial)
	j.groups(x, "degraded", keys(p.health.DegradedGroups()), x.Degraded)
}

func (j *judge) groups(x ExpectHealth, what string, got, want []string) {
	want = slices.Sorted(slices.Values(want))
	if x.Healthy != nil && want == nil {
		return
	}
	if want != nil && !slices.Equal(got, want) {
		j.wrong(store.JobID{}, "health of %s at %v: %s are %v, expected %v", x.Node, x.At, what, got, want)
	}
}

// result closes the books of a run.
func (w *world) result(o Options) *Result {
	r := &Result{Scenario: w.sc, Seed: o.Seed, Events: w.events, Virtual: time.Duration(w.end), Stopped: w.ended, Situations: w.seen.names()}
	rows := make([]*store.Job, 0, len(w.jobs))
	w.store.Each(func(j *store.Job) bool { rows = append(rows, j); return true })
	w.lastLook()
	if w.own != nil && !w.foul {
		w.look()
		w.alarmed(w.own.End())
	}
	w.watch.clocks()
	w.watch.End(w.now, rows)
	r.Jobs = make([]JobResult, 0, len(w.jobs))
	for i := range w.jobs {
		j := &w.jobs[i]
		res := JobResult{Name: j.name, Starts: j.starts, Told: j.told, Fenced: j.fenced, Renewals: j.renews, Ended: time.Duration(j.ended), Plain: j.plain, Guarded: j.guarded}
		if row, ok := w.store.Lookup(j.id); ok {
			res.Row = *row
		}
		r.Jobs = append(r.Jobs, res)
	}
	w.trace.word(w.events, uint64(len(rows)))
	r.TraceHash = w.trace.hash
	live, late := w.finished()
	r.Live, r.Idle = live, w.unstruck()
	r.Violations = slices.Concat(w.found, w.watch.Violations(), w.alarms, late, w.pristine(r), w.expectations(r.Jobs))
	r.weigh()
	return r
}

// lastLook shows every pump that could act to the invariants once more. Without
// it a pump that forgot to set its timer would never be seen again.
func (w *world) lastLook() {
	if len(w.found) > 0 {
		return // the world stopped in the middle of an instant
	}
	for _, n := range w.nodes {
		if !n.up || n.still > 0 {
			continue
		}
		w.read(n)
		for _, h := range n.hosts {
			if !h.dead && !h.shell.Ended() {
				h.node = pump.Time(n.fold.Now)
				h.after()
			}
		}
	}
}

// CheckLinear judges the history of the run too, and weighs the verdict again.
func (r *Result) CheckLinear(log *history.Log) {
	r.Linear = checker.CheckLinear(log, checker.LinearOptions{})
	for _, f := range r.Linear.Findings {
		r.Violations = append(r.Violations, checker.Violation{Invariant: f.Invariant, At: f.At, Job: f.Job, Message: f.Message})
	}
	r.weigh()
}

// weigh sets the verdict: what was found against what the author says must be
// found.
func (r *Result) weigh() {
	expected := r.Scenario.Expect.Violates
	found := func(name string) bool {
		return slices.ContainsFunc(r.Violations, func(v checker.Violation) bool { return v.Invariant == name })
	}
	r.Verdict = Held
	if r.Linear.Undecided > 0 {
		r.Verdict = Undecided
	}
	if slices.ContainsFunc(r.Violations, func(v checker.Violation) bool { return !slices.Contains(expected, v.Invariant) }) {
		r.Verdict = Violated
	}
	r.Missing = slices.DeleteFunc(slices.Clone(expected), found)
	if len(r.Missing) > 0 {
		r.Verdict = Violated
	}
}

// keys returns the keys of m, sorted.
func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m { //det:ok sorted below
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
