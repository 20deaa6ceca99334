package simtest_test

import (
	"context"
	"fmt"
	"testing"

	"backwave/engine"
	"backwave/sim/simtest"
)

// shop books orders: once each, it is hoped.
func shop(ledger *simtest.Ledger) *engine.Mux {
	mux := engine.NewMux()
	engine.Handle(mux, "book", func(ctx context.Context, job *engine.Job[string]) error {
		return ledger.Write(ctx, job.Args, 500)
	})
	return mux
}

// In a test this would be simtest.Check, and t the *testing.T.
func Example() {
	t := &testing.T{}
	f := simtest.Find(t, simtest.Scenario{
		Jobs: []simtest.Job{{Name: "book", Args: "ada"}},
		Setup: func(w *simtest.World) func() *engine.Mux {
			w.AtEnd("booked once", func() error {
				if n := w.Ledger().Balance("ada"); n != 500 {
					return fmt.Errorf("ada has %d", n)
				}
				return nil
			})
			return func() *engine.Mux { return shop(w.Ledger()) }
		},
	})
	fmt.Printf("%s: %s\n%+v\n", f.Invariant, f.Message, f.Timeline[0])

	// Output:
	// booked once: ada has 1000
	// {Job:book Attempt:1 Nth:1 Do:lose-reply By:0s}
}
