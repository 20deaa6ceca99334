package enginetest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"backwave/engine"
	"backwave/engine/enginetest"
	"backwave/store"
)

// The kit's pump hears of completions as it does in production; what the
// transaction would do to the job, a test does to the kit's store.
func TestAHandlerCompletesInATransactionOfItsOwn(t *testing.T) {
	mux := engine.NewMux()
	var k *enginetest.Kit
	engine.Handle(mux, "commits", func(ctx context.Context, j *none) error {
		j.Completing()
		row := store.ReportRow{Key: j.Key(), Outcome: store.Success{Output: j.Output()}}
		r, err := k.Store().Report(ctx, &store.Report{Worker: j.Worker(), Rows: []store.ReportRow{row}})
		if err != nil || r.Rows[0].Status != store.ReportApplied {
			t.Errorf("the statement answers %+v, %v", r, err)
		}
		if err := enginetest.Take(ctx, time.Hour); err != nil {
			t.Errorf("told %v", err)
		}
		j.Completed(store.CompletionCommitted)
		return nil
	})
	engine.Handle(mux, "rolls back", func(_ context.Context, j *none) error {
		j.Completing()
		j.Completed(store.CompletionRolledBack)
		return nil
	})
	engine.Handle(mux, "takes too long", func(ctx context.Context, j *none) error {
		j.Completing()
		if err := enginetest.Take(ctx, 2*time.Minute); err != nil {
			t.Errorf("told %v", err)
		}
		j.Completed(store.CompletionRolledBack)
		err := enginetest.Take(ctx, time.Hour)
		if !errors.Is(err, engine.ErrLeaseLost) {
			t.Errorf("told %v", err)
		}
		return err
	})
	k = enginetest.New(t, enginetest.Config{Mux: mux, Group: engine.Group{RetryPolicy: engine.RetryPolicy{MaxAttempts: 1}}})
	enqueue(t, k, "commits")
	enqueue(t, k, "rolls back")
	enqueue(t, k, "takes too long")
	runs := k.RunDue()
	want(t, runs, "commits success", "rolls back failure", "takes too long lapse")
	if runs[1].Error != "completion not committed" {
		t.Errorf("the failure is %q", runs[1].Error)
	}
}
