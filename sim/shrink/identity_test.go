package shrink_test

import (
	"slices"
	"testing"
	"time"

	"backwave/engine/pump"
	"backwave/sim"
)

// TestNothingShifts puts into random worlds, before everything that is there, a
// node, a group, a job and an action that do nothing until the last instant. If
// what happens to all others is drawn by what they are, they live through the
// very same story; if by their place in a list, they do not.
func TestNothingShifts(t *testing.T) {
	for seed := uint64(1); seed <= 40; seed++ {
		sc := sim.Random(seed)
		want := storyOf(sc, seed)
		end := sc.For
		for i := range sc.Nodes { // the new group is nobody's but the new node's
			if len(sc.Nodes[i].Groups) == 0 {
				for _, g := range sc.Groups {
					sc.Nodes[i].Groups = append(sc.Nodes[i].Groups, g.Name)
				}
			}
		}
		sc.Groups = slices.Insert(sc.Groups, 0, sim.Group{Name: "idle", Config: pump.Config{Queues: []pump.Queue{{Name: "idle"}}}})
		sc.Nodes = slices.Insert(sc.Nodes, 0, sim.Node{Name: "idle", Groups: []string{"idle"}, Start: end})
		sc.Jobs = slices.Insert(sc.Jobs, 0, sim.Job{ID: "idle", Queue: "idle", At: end})
		sc.Timeline = slices.Insert(sc.Timeline, 0, sim.Fault(sim.PauseQueue{At: end, Queue: "idle"}))
		got := storyOf(sc, seed)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("seed %d: line %d of %d differs from that of %d:\n%v\n%v", seed, i, len(got), len(want), got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
			}
		}
	}
}

// storyOf tells a world until just before its end, without what befalls the idle
// node together with all others. Which pump a forged copy
// takes the name of is counted over all pumps: such worlds have no story.
func storyOf(sc *sim.Scenario, seed uint64) (out []sim.Line) {
	for _, f := range sc.Timeline {
		if x, ok := f.(sim.Forge); ok && x.Field == "worker" {
			return nil
		}
	}
	sim.Run(sc, sim.Options{Seed: seed, Story: func(l sim.Line) {
		if l.At < sc.For-time.Microsecond && l.Who != "idle" {
			out = append(out, l)
		}
	}})
	return out
}
