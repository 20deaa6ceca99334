package finding_test

import (
	"strings"
	"testing"
	"time"

	"backwave/checker"
	"backwave/engine/pump"
	"backwave/sim"
	"backwave/sim/finding"
	"backwave/store"
)

// world is one job on one node, called as asked, and expected to fail.
func world(job, node, queue string, at time.Duration) *sim.Scenario {
	return &sim.Scenario{
		Name: "w", For: time.Minute,
		Groups: []sim.Group{{Name: "g", Config: pump.Config{Queues: []pump.Queue{{Name: queue}}}}},
		Nodes:  []sim.Node{{Name: node}},
		Jobs:   []sim.Job{{ID: job, At: at}},
		Expect: sim.Expect{Jobs: []sim.ExpectJob{{Job: job, State: store.DeadLettered}}},
	}
}

func TestNamesSeedsAndTimesAreNoPart(t *testing.T) {
	one := finding.Of(sim.Run(world("j1", "n1", "a", time.Second), sim.Options{Seed: 1}))
	other := finding.Of(sim.Run(world("pay rent", "east", "job", 3*time.Second), sim.Options{Seed: 2}))
	if len(one) != 1 || len(other) != 1 || one[0].ID != other[0].ID {
		t.Fatalf("got %+v and %+v, want one and the same", one, other)
	}
	if want := "job is succeeded, expected dead-lettered"; one[0].Shape != want || one[0].Invariant != "expectation" {
		t.Errorf("shape %q, want %q", one[0].Shape, want)
	}
	if !strings.HasPrefix(one[0].ID, "expectation-") {
		t.Errorf("ID %q does not say which invariant", one[0].ID)
	}
}

// TestShapes holds pairs of messages, as the checker writes them, against what
// a person says of them: the same, or not.
func TestShapes(t *testing.T) {
	sc := world("j1", "n1", "a", 0)
	sc.Jobs = append(sc.Jobs, sim.Job{ID: "j22", Unique: "key-1"})
	sc.Groups[0].Config.Queues = append(sc.Groups[0].Config.Queues, pump.Queue{Name: "b"})
	r := &sim.Result{Scenario: sc, Jobs: []sim.JobResult{{Name: "j1"}, {Name: "j22"}}}
	id := func(message string) string {
		r.Violations = []checker.Violation{{Invariant: "fence", Message: message}}
		return finding.Of(r)[0].ID
	}
	for _, c := range []struct {
		same bool
		a, b string
	}{
		{true, "job j1: claimed at 1m3.5s, 1µs before it was due", "job j22: claimed at 100ms, -2h0m1s before it was due"},
		{true, "pump n1/g (3), job j1#2: is handler 3 of 2 that run at 4s", "pump n7/h (0), job j22#14: is handler 21 of 20 that run at 5s"},
		{true, `job j1: of queue "a" was claimed by pump n1/g (3), which serves ["b"]`, `job j1: of queue "b" was claimed by pump n1/g (3), which serves ["a" "b"]`},
		{true, "job 0190c5a0-0000-7000-8000-00000000000a: worker n1.1/g/0 was told lost at 00:01:02.5", "job 0190c5a0-0000-7000-8000-00000000000b: worker n2.10/h/1 was told lost at 00:01:02"},
		{true, `is scheduled with the key "key-1", which job j1 holds as well`, `is scheduled with the key "a", which job j22 holds as well`},
		{false, "job j1: went from scheduled to succeeded by a claim at 1s", "job j1: went from executing to succeeded by a claim at 1s"},
		{false, "1 entries were audited for a commit that is worth 0", "0 entries were audited for a commit that is worth 1"},
		{false, `was not told "draining" by the step at 1s`, `was not told "lease lost" by the step at 1s`},
		{false, "a process shows healthy true, halted []", `a process shows healthy true, halted ["g"]`},
	} {
		if got := id(c.a) == id(c.b); got != c.same {
			t.Errorf("equal: %t, want %t:\n  %s\n  %s", got, c.same, c.a, c.b)
		}
	}
}

func TestExpectedIsNoFinding(t *testing.T) {
	sc := world("j1", "n1", "a", 0)
	sc.Expect.Jobs = nil
	sc.Expect.Violates = []string{"fence"}
	r := sim.Run(sc, sim.Options{Seed: 1})
	list := finding.Of(r)
	if len(list) != 1 || list[0].Shape != "expected a violation of fence, and there was none" {
		t.Fatalf("got %+v, want the missing violation", list)
	}
	r.Violations, r.Missing = []checker.Violation{{Invariant: "fence", Message: "job j1: x"}, {Invariant: "due", Message: "job j1: y"}, {Invariant: "due", Message: "job j1: y"}}, nil
	list = finding.Of(r)
	if len(list) != 1 || list[0].Invariant != "due" || list[0].Count != 2 {
		t.Errorf("got %+v, want due, twice", list)
	}
	if !finding.Has(list, list[0].ID) || finding.Has(list, finding.ID("fence", "job job: x")) {
		t.Error("Has does not tell what is among them")
	}
}
