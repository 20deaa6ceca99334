package checker_test

import (
	"testing"
	"time"

	"backwave/checker"
	"backwave/store"
	"backwave/store/memory"
)

type clock struct{ now store.Instant }

func (c *clock) Now() store.Instant { return c.now }

// The memory store keeps its promises as a reader of the rules understands
// them.
func TestLinearHoldsForTheMemoryStore(t *testing.T) {
	for seed := range uint64(1500) {
		c := &clock{store.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
		s := memory.New(c)
		apply := func(q store.Request) store.Reply {
			reply, err := s.Apply(q)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return reply
		}
		h := checker.RandomHistory(apply, &c.now, seed, int(100+seed%400))
		got := checker.CheckLinear(h, checker.LinearOptions{})
		if got.BlackBox != checker.Held || got.Bounded != checker.Held || got.Undecided > 0 {
			text := ""
			for _, f := range got.Findings {
				text += checker.Explain(h, f.Job, checker.LinearOptions{})
			}
			t.Fatalf("seed %d: black-box %v, bounded %v: %v\n%s", seed, got.BlackBox, got.Bounded, got.Findings, text)
		}
	}
}
