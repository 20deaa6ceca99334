package scenario

import (
	"reflect"
	"strings"
	"testing"

	"backwave/sim"
)

// TestPlansRunAgain writes random worlds as plans, reads them and runs both.
// All kinds of entries that random worlds draw must be among them.
func TestPlansRunAgain(t *testing.T) {
	drawn := map[reflect.Type]bool{}
	for seed := uint64(1); seed <= 200; seed++ {
		sc := sim.Random(seed)
		for _, f := range sc.Timeline {
			drawn[reflect.TypeOf(f)] = true
		}
		header := Header{Version: Version, Seed: seed, Scenario: "bwsim run --random"}
		text := Format(sc, header)
		back, h, err := ParsePlan("plan.yaml", text)
		if err != nil || h != header {
			t.Fatalf("seed %d: header %+v, %v\n%s", seed, h, err, text)
		}
		some := func() func() bool { // some thousand events show as much as millions
			asked := 0
			return func() bool { asked++; return asked > 4 }
		}
		want := sim.Run(sc, sim.Options{Seed: seed, Stop: some()})
		got := sim.Run(back, sim.Options{Seed: h.Seed, Stop: some()})
		if want.TraceHash != got.TraceHash || want.Events != got.Events {
			t.Fatalf("seed %d: the plan runs as %016x, the world ran as %016x", seed, got.TraceHash, want.TraceHash)
		}
	}
	for _, f := range faultTables() {
		if !drawn[f.of] && f.name != "start" && f.name != "on-handler" {
			t.Errorf("no random world had a %s", f.name)
		}
	}
}

// TestUnknownVersion demands that a plan of tomorrow is refused for its
// version, and for nothing else: this program cannot judge the rest.
func TestUnknownVersion(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"plan: {version: 2, seed: 7}\nname: x\nwarp: 9\n", `plan.yaml:1:17: "2": unknown version of plans (plan.version), want 1, the only one there is`},
		{"name: x\nversion: 3\ntimeline: [{at: soon, warp: n1}]\n", `plan.yaml:2:10: "3": unknown version of the language (version), want 1, the only one there is`},
	} {
		_, _, err := ParsePlan("plan.yaml", []byte(c.src))
		if err == nil || err.Error() != c.want {
			t.Errorf("got\n%v\nwant\n%s", err, c.want)
		}
	}
	_, _, err := ParsePlan("plan.yaml", []byte("plan: {seed: 7}\nname: x\n"))
	if err == nil || !strings.Contains(err.Error(), `has no field "version"`) {
		t.Errorf("a plan without a version: %v", err)
	}
}

// TestPeople tells what people do from what goes wrong.
func TestPeople(t *testing.T) {
	for _, f := range []sim.Fault{sim.Cancel{}, sim.Requeue{}, sim.PauseQueue{}, sim.ResumeQueue{}, sim.EnqueueAgain{}} {
		if !People(f) {
			t.Errorf("%T is nobody's doing", f)
		}
	}
	for _, f := range []sim.Fault{sim.Crash{}, sim.Step{}, sim.OnEnqueue{}, sim.Hold{}, sim.Drain{}} {
		if People(f) {
			t.Errorf("%T is people's doing", f)
		}
	}
}
