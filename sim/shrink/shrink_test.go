package shrink_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"time"

	"backwave/sim"
	"backwave/sim/finding"
	"backwave/sim/scenario"
	"backwave/sim/shrink"
	"backwave/store"
)

// textOf is a plan as a file.
func textOf(p shrink.Plan) string {
	return string(scenario.Format(p.Scenario, scenario.Header{Version: scenario.Version, Seed: p.Seed}))
}

// pick returns a random world that a test can ask for, small ones first.
func pick(t *testing.T, suits func(*sim.Scenario) bool) shrink.Plan {
	t.Helper()
	for seed := uint64(5); seed < 1000; seed++ {
		if sc := sim.Random(seed); len(sc.Jobs) < 40 && suits(sc) {
			return shrink.Plan{Scenario: sc, Seed: seed}
		}
	}
	t.Fatal("no random world suits")
	return shrink.Plan{}
}

// says makes a search believe that a plan fails if ok says so, without running
// it: what must stay is then known from outside.
func says(ok func(*sim.Scenario) bool) func([]shrink.Plan) []shrink.Verdict {
	return func(plans []shrink.Plan) []shrink.Verdict {
		out := make([]shrink.Verdict, len(plans))
		for i, p := range plans {
			out[i] = shrink.Verdict{Fails: ok(p.Scenario), At: p.Scenario.For}
		}
		return out
	}
}

func crashes(sc *sim.Scenario) int {
	n := 0
	for _, f := range sc.Timeline {
		if _, ok := f.(sim.Crash); ok {
			n++
		}
	}
	return n
}

// TestOnlyWhatMattersStays: a crash and a third job are all that counts.
func TestOnlyWhatMattersStays(t *testing.T) {
	fails := func(sc *sim.Scenario) bool {
		return crashes(sc) > 0 && slices.ContainsFunc(sc.Jobs, func(j sim.Job) bool { return j.ID == "j3" })
	}
	start := pick(t, func(sc *sim.Scenario) bool {
		return fails(sc) && len(sc.Timeline) > 10 && len(sc.Nodes) > 2 && len(sc.Groups) > 1
	})
	before := textOf(start)
	r, ok := shrink.Shrink(start, shrink.Options{Try: says(fails)})
	if !ok || !r.Minimal {
		t.Fatalf("got %+v, want a minimal plan", r)
	}
	want := shrink.Size{Nodes: 1, Groups: 1, Jobs: 1, Faults: 1}
	if got := shrink.SizeOf(r.Plan.Scenario); got != want {
		t.Errorf("what is left is %+v, want %+v:\n%s", got, want, textOf(r.Plan))
	}
	if c := r.Plan.Scenario.Timeline[0].(sim.Crash); c.At != 0 || c.Restart != 0 {
		t.Errorf("the crash is %+v, which is not the simplest", c)
	}
	if j := r.Plan.Scenario.Jobs[0]; j.ID != "j3" || j.At != 0 || len(j.Run) > 0 || j.Unique != "" {
		t.Errorf("the job is %+v, which is not the simplest", j)
	}
	if textOf(start) != before {
		t.Error("the plan that was given has changed")
	}
}

// TestMinimalIsTrue takes the claim at its word: no job, node or entry of the
// timeline can go from what is called minimal.
func TestMinimalIsTrue(t *testing.T) {
	fails := func(sc *sim.Scenario) bool { // any two jobs, two entries, and a late end
		return len(sc.Jobs) >= 2 && len(sc.Timeline) >= 2 && sc.For > 7*time.Second
	}
	r, ok := shrink.Shrink(pick(t, fails), shrink.Options{Try: says(fails)})
	if !ok || !r.Minimal {
		t.Fatalf("got %+v, want a minimal plan", r)
	}
	sc := r.Plan.Scenario
	if len(sc.Jobs) != 2 || len(sc.Timeline) != 2 || len(sc.Nodes) != 1 || sc.For != 8*time.Second {
		t.Errorf("this is not minimal:\n%s", textOf(r.Plan))
	}
}

// TestWidthChangesNothing: the result and the count of steps are the same
// however many plans are tried at once.
func TestWidthChangesNothing(t *testing.T) {
	fails := func(sc *sim.Scenario) bool { return crashes(sc) > 0 && len(sc.Jobs) > 1 }
	start := pick(t, func(sc *sim.Scenario) bool { return fails(sc) && len(sc.Timeline) > 10 })
	for _, budget := range []int{0, 17} {
		one, _ := shrink.Shrink(start, shrink.Options{Try: says(fails), Budget: budget})
		for _, width := range []int{2, 7} {
			many, _ := shrink.Shrink(start, shrink.Options{Try: says(fails), Budget: budget, Width: width})
			if textOf(one.Plan) != textOf(many.Plan) || one.Steps != many.Steps || one.Minimal != many.Minimal || one.Last != many.Last {
				t.Errorf("budget %d, width %d: %d steps, minimal %t; one by one %d, %t", budget, width, many.Steps, many.Minimal, one.Steps, one.Minimal)
			}
		}
		if budget > 0 && one.Steps > budget {
			t.Errorf("budget %d: %d steps", budget, one.Steps)
		}
		if !fails(one.Plan.Scenario) {
			t.Errorf("budget %d: what came out does not fail", budget)
		}
	}
}

// TestWhatHoldsIsNotShrunk: there is nothing to hold on to.
func TestWhatHoldsIsNotShrunk(t *testing.T) {
	start := pick(t, func(*sim.Scenario) bool { return true })
	r, ok := shrink.Shrink(start, shrink.Options{Try: says(func(*sim.Scenario) bool { return false })})
	if ok || r.Steps != 1 || r.Plan.Scenario != start.Scenario {
		t.Errorf("got %+v, %t", r, ok)
	}
}

// TestCountsAreTakenApart: of a hundred equal jobs it is two in the middle.
func TestCountsAreTakenApart(t *testing.T) {
	start := pick(t, func(sc *sim.Scenario) bool { return len(sc.Groups) == 1 })
	start.Scenario.Jobs = append(start.Scenario.Jobs, sim.Job{ID: "set", Count: 100, At: time.Second, Every: time.Millisecond})
	fails := func(sc *sim.Scenario) bool {
		at := map[string]time.Duration{}
		for _, j := range sc.Jobs {
			for k := range max(1, j.Count) {
				name := j.ID
				if j.Count > 1 {
					name = nameOf(j.ID, k+1)
				}
				at[name] = j.At + time.Duration(k)*j.Every
			}
		}
		return at["set-31"] >= 1020*time.Millisecond && at["set-60"] > 0
	}
	r, ok := shrink.Shrink(start, shrink.Options{Try: says(fails)})
	if got := shrink.SizeOf(r.Plan.Scenario).Jobs; !ok || !r.Minimal || got != 2 {
		t.Errorf("%d jobs are left, want 2:\n%s", got, textOf(r.Plan))
	}
}

func nameOf(set string, n int) string {
	return set + "-" + string(bytes.TrimLeft([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)}, "0"))
}

// TestRunsForReal shrinks what real runs show: a job that is dead-lettered,
// though its author expects it not to be.
func TestRunsForReal(t *testing.T) {
	var id string
	var target finding.Finding
	start := pick(t, func(sc *sim.Scenario) bool {
		r := sim.Run(sc, sim.Options{Seed: 1})
		for i := range r.Jobs {
			if r.Jobs[i].Row.State == store.DeadLettered && len(sc.Timeline) > 5 && len(sc.Jobs) > 5 {
				id = r.Jobs[i].Name
				sc.Expect.Jobs = []sim.ExpectJob{{Job: id, State: store.Succeeded}}
				target = finding.Of(sim.Run(sc, sim.Options{Seed: 1}))[0]
				return true
			}
		}
		return false
	})
	start.Seed = 1
	try := func(plans []shrink.Plan) []shrink.Verdict {
		out := make([]shrink.Verdict, len(plans))
		for i, p := range plans {
			for _, f := range finding.Of(sim.Run(p.Scenario, sim.Options{Seed: p.Seed})) {
				if f.ID == target.ID {
					out[i] = shrink.Verdict{Fails: true, At: time.Duration(f.First.At)}
				}
			}
		}
		return out
	}
	r, ok := shrink.Shrink(start, shrink.Options{Try: try, Width: 3})
	if !ok || !r.Minimal {
		t.Fatalf("got %+v, want a minimal plan", r)
	}
	z := shrink.SizeOf(r.Plan.Scenario)
	if z.Jobs != 1 || z.Nodes != 1 || z.Faults+z.Actions > 0 || len(r.Plan.Scenario.Expect.Jobs) != 1 {
		t.Errorf("this is not minimal:\n%s", textOf(r.Plan))
	}
	back, h, err := scenario.ParsePlan("small.yaml", []byte(textOf(r.Plan)))
	if err != nil || !reflect.DeepEqual(back, r.Plan.Scenario) {
		t.Fatalf("what came out is not what its file says: %v\n%s", err, textOf(r.Plan))
	}
	if !finding.Has(finding.Of(sim.Run(back, sim.Options{Seed: h.Seed})), target.ID) {
		t.Error("the file does not fail in the same way")
	}
}
