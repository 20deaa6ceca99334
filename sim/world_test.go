package sim

import (
	"testing"
	"time"

	"backwave/engine/pump"
)

// TestACrowdIsNoStandstill: more jobs than a spinning engine is given events
// come at one instant, and time goes on all the same.
func TestACrowdIsNoStandstill(t *testing.T) {
	sc := &Scenario{
		Name: "crowd", For: time.Second,
		Groups: []Group{{Name: "default", Config: pump.Config{Queues: []pump.Queue{{Name: "emails"}}}}},
		Nodes:  []Node{{Name: "n1", Start: time.Minute}},
		Jobs:   []Job{{ID: "j", Count: spins, Queue: "emails", Run: []Script{{For: time.Second}}}},
	}
	if r := Run(sc, Options{Seed: 1}); r.Verdict != Held {
		t.Errorf("%s: %v", r.Verdict, r.Violations)
	}
}
