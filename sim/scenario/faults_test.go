package scenario

import (
	"testing"

	"backwave/sim"
)

// TestWithoutAndOnly: together they keep each entry once, and leave the scenario
// as it is.
func TestWithoutAndOnly(t *testing.T) {
	sc := &sim.Scenario{Name: "x", Timeline: []sim.Fault{sim.Crash{Node: "n1"}, sim.Pause{Node: "n1"}, sim.Crash{Node: "n2"}}}
	without, only := Without(sc, "crash"), Only(sc, "crash")
	if len(without.Timeline) != 1 || Kind(without.Timeline[0]) != "pause" || without.Name != "x" {
		t.Errorf("without crashes there are %v", without.Timeline)
	}
	if len(only.Timeline) != 2 || Kind(only.Timeline[0]) != "crash" || Kind(only.Timeline[1]) != "crash" {
		t.Errorf("only crashes are %v", only.Timeline)
	}
	if len(sc.Timeline) != 3 || Kind(sc.Timeline[1]) != "pause" {
		t.Errorf("the scenario has become %v", sc.Timeline)
	}
}
