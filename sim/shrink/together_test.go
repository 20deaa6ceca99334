package shrink

import (
	"slices"
	"testing"
	"time"

	"backwave/sim"
)

// TestAlikeMakesOneErrorOfTwo: only of those that hit the same pumps in the
// same way.
func TestAlikeMakesOneErrorOfTwo(t *testing.T) {
	renew := sim.StoreError{At: time.Second, Class: "connection", Calls: []string{"renew"}, Nodes: []string{"n1"}, Group: "g"}
	for what, c := range map[string]struct {
		change func(*sim.StoreError)
		want   [][]string // calls of the one that is left, of each edit
	}{
		"other calls":   {func(e *sim.StoreError) { e.Calls = []string{"claim"} }, [][]string{{"claim", "renew"}, {"claim", "renew"}}},
		"all calls":     {func(e *sim.StoreError) { e.Calls = nil }, [][]string{nil, nil}},
		"another class": {func(e *sim.StoreError) { e.Class = "busy" }, nil},
		"another node":  {func(e *sim.StoreError) { e.Nodes = []string{"n2"} }, nil},
		"another group": {func(e *sim.StoreError) { e.Group = "h" }, nil},
	} {
		other := renew
		other.At = time.Minute
		c.change(&other)
		s := &search{plan: Plan{Scenario: &sim.Scenario{Timeline: []sim.Fault{renew, sim.Crash{Node: "n1"}, other}}}}
		var got [][]string
		var at []time.Duration
		for _, e := range alike(s) {
			p := Plan{Scenario: clone(s.plan.Scenario)}
			e(&p)
			if len(p.Scenario.Timeline) != 2 {
				t.Fatalf("%s: left is %+v, want one error and the crash", what, p.Scenario.Timeline)
			}
			one := p.Scenario.Timeline[0].(sim.StoreError)
			got, at = append(got, one.Calls), append(at, one.At)
		}
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%s: the calls are %q, want %q", what, got, c.want)
		}
		if len(at) > 0 && !slices.Equal(at, []time.Duration{time.Second, time.Minute}) {
			t.Errorf("%s: the errors begin at %v, want the time of either", what, at)
		}
	}
}
