package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"backwave/engine"
	"backwave/store"
)

func TestHandlersLiveInTheTimeOfTheEngine(t *testing.T) {
	inBubble(t, func(w *world) {
		var began, ended time.Time
		engine.Handle(w.mux, "job", func(ctx context.Context, _ *engine.Job[email]) error {
			began = engine.Now(ctx)
			err := engine.Sleep(ctx, 3*time.Minute)
			ended = engine.Now(ctx)
			return err
		})
		id := w.enqueue("job", nil)
		e := w.start(w.store)
		time.Sleep(4 * time.Minute)
		w.stopClean(e)
		w.wantEnds(id, store.Succeeded, store.EndSuccess)
		if ended.Sub(began) != 3*time.Minute {
			t.Errorf("slept from %v to %v", began, ended)
		}
	})
}

func TestSleepTellsWhyItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("enough")
		ctx, end := context.WithCancelCause(t.Context())
		began := engine.Now(ctx)
		time.AfterFunc(time.Second, func() { end(why) })
		if err := engine.Sleep(ctx, time.Hour); !errors.Is(err, why) || engine.Now(ctx).Sub(began) != time.Second {
			t.Errorf("woke after %v with %v, want 1s and the cause", engine.Now(ctx).Sub(began), err)
		}
		for _, d := range []time.Duration{-1, 0, 1} {
			if err := engine.Sleep(ctx, d); !errors.Is(err, why) {
				t.Errorf("Sleep(%v) under an ended context: %v", d, err)
			}
		}
		if err := engine.Sleep(t.Context(), 0); err != nil {
			t.Errorf("Sleep(0): %v", err)
		}
	})
}
