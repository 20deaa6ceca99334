package bubble

import (
	"testing"
	"time"

	"backwave/engine/pump"
	"backwave/sim"
	"backwave/store"
)

// A node whose clock is slow stops its handlers before the lease they run under
// is over, as long as the clock is within the margin of its view. It needs to be
// cut off from the store, or renewals would put the end off.
//
// bwsim mutants --faults plants a bug and runs both parts: the first must fail
// then, the second must not.
func TestSlowClockIsWithinTheMargin(t *testing.T) {
	cut := sim.Partition{At: 30 * time.Second, Nodes: []string{"n1"}}
	slow := sim.Drift{At: 0, Node: "n1", PPM: -15_000}
	for name, faults := range map[string][]sim.Fault{"with": {slow, cut}, "without": {cut}} {
		t.Run(name, func(t *testing.T) {
			play(t, &sim.Scenario{
				Name: "slow-clock", Level: sim.Adversarial, For: 2 * time.Minute, Timeline: faults,
				Groups: []sim.Group{{Name: "g", Config: pump.Config{
					Queues: []pump.Queue{{Name: "a"}}, PollInterval: 100 * time.Millisecond, MaintenanceInterval: 100 * time.Millisecond,
					Terms: &store.Terms{Default: store.Policy{MaxAttempts: 2, First: time.Millisecond, NoJitter: true}},
				}}},
				Nodes: []sim.Node{{Name: "n1"}, {Name: "n2", Start: time.Second}},
				Jobs:  []sim.Job{{ID: "j", Run: []sim.Script{{For: time.Hour}, {For: time.Second}}}},
			}, 1, false, &tally{hits: map[string]int{}})
		})
	}
}
