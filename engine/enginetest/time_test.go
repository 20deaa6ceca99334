package enginetest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"backwave/engine"
	"backwave/engine/enginetest"
)

func TestSleepGoesByTheTimeOfTheKit(t *testing.T) {
	mux := engine.NewMux()
	var began, ended time.Time
	engine.Handle(mux, "sleeps", func(ctx context.Context, _ *none) error {
		began = engine.Now(ctx)
		err := engine.Sleep(ctx, 2*time.Hour)
		ended = engine.Now(ctx)
		return err
	})
	engine.Handle(mux, "sleeps too long", func(ctx context.Context, _ *none) error {
		if err := engine.Sleep(ctx, 2*time.Hour); !errors.Is(err, engine.ErrHandlerTimeout) {
			t.Errorf("woke with %v", err)
		}
		return nil
	})
	k := enginetest.New(t, enginetest.Config{Mux: mux, Group: engine.Group{Timeouts: map[string]time.Duration{"sleeps too long": time.Hour}}})
	enqueue(t, k, "sleeps")
	enqueue(t, k, "sleeps too long")
	start := k.Now()
	want(t, k.RunDue(), "sleeps success", "sleeps too long success")
	if !began.Equal(start) || ended.Sub(began) != 2*time.Hour || k.Now().Sub(start) != 3*time.Hour {
		t.Errorf("began at %v and ended at %v; the kit went from %v to %v", began, ended, start, k.Now())
	}
}
