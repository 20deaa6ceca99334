package simtest

import (
	"context"
	"testing"
	"time"

	"backwave/engine"
	"backwave/sim"
	"backwave/store"
)

// A node that dies while a handler waits for an answer costs the job an attempt
// and no more.
//
// bwsim mutants --faults plants a bug and runs both parts: the first must fail
// then, the second must not.
func TestCrashInACallIsSurvived(t *testing.T) {
	handle := func(ctx context.Context, r *rig, _ *engine.Job[string]) error { return r.ask(ctx, "x") }
	crash := sim.OnHandler{Job: "job", Do: "crash-after", By: time.Second}
	for name, faults := range map[string][]sim.Fault{"with": {crash}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			if row := newRig(t, handle, faults...).holds().row(); row.State != store.Succeeded || len(row.Ends) != 1+len(faults) {
				t.Errorf("the job is %v after %d attempts, want it succeeded after %d", row.State, len(row.Ends), 1+len(faults))
			}
		})
	}
}
