package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"backwave/engine"
	"backwave/store"
)

// subscribed counts who listens to a store's hints.
type subscribed struct {
	*faulty
	n atomic.Int32
}

func (s *subscribed) Hints(hint func(string)) (stop func()) {
	s.n.Add(1)
	end := s.faulty.Hints(hint)
	return func() { s.n.Add(-1); end() }
}

// Hints of queues that a group does not serve make it poll no sooner, and
// after Run nobody listens any more.
func TestHintsAreForThoseWhoServeTheQueue(t *testing.T) {
	inBubble(t, func(w *world) {
		st := &subscribed{faulty: w.store}
		e := w.start(st, engine.Group{Name: "main", Queues: engine.Strict("other"), PollInterval: time.Hour})
		time.Sleep(time.Minute)
		before := w.store.count("claim")
		w.enqueue("job", nil)
		time.Sleep(time.Minute)
		if n := w.store.count("claim"); n != before || st.n.Load() != 1 {
			t.Errorf("%d claims, %d listeners; want %d and 1", n, st.n.Load(), before)
		}
		w.stopClean(e)
		if n := st.n.Load(); n != 0 {
			t.Errorf("%d still listen", n)
		}
	})
}

// A claim that is answered late, but within twice the operation timeout, is
// used.
func TestALateClaimIsUsed(t *testing.T) {
	inBubble(t, func(w *world) {
		began, started := time.Now(), time.Duration(0)
		engine.Handle(w.mux, "job", func(context.Context, *engine.Job[email]) error { started = time.Since(began); return nil })
		id := w.enqueue("job", nil)
		w.store.set(nil, only("claim", func(ctx context.Context) error {
			select {
			case <-time.After(15 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}))
		e := w.start(w.store)
		time.Sleep(time.Minute)
		if w.wantEnds(id, store.Succeeded, store.EndSuccess); started != 15*time.Second {
			t.Errorf("it started after %v, want as soon as the first claim was answered", started)
		}
		w.stopClean(e)
	})
}

// Run leaves no call behind that ends soon after it was told to.
func TestRunWaitsForOpenCalls(t *testing.T) {
	inBubble(t, func(w *world) {
		var open atomic.Int32
		w.store.set(func(ctx context.Context, _ string) error {
			open.Add(1)
			defer open.Add(-1)
			<-ctx.Done()
			time.Sleep(500 * time.Millisecond)
			return ctx.Err()
		}, nil)
		e := w.start(w.store)
		time.Sleep(time.Second)
		if open.Load() == 0 {
			t.Error("no call is open")
		}
		w.stopClean(e)
		if n := open.Load(); n != 0 {
			t.Errorf("Run returned with %d calls open", n)
		}
	})
}

// However slow the node was, nothing is sent once the drain is over.
func TestNothingIsSentAfterTheDrain(t *testing.T) {
	inBubble(t, func(w *world) {
		began := time.Now()
		engine.Handle(w.mux, "job", func(ctx context.Context, _ *engine.Job[email]) error {
			<-ctx.Done()
			time.Sleep(time.Until(began.Add(65500 * time.Millisecond))) // half a second after the drain
			return nil
		})
		w.enqueue("job", nil)
		release := make(chan struct{})
		defer close(release)
		w.store.set(only("renew", func(context.Context) error { <-release; return nil }), nil)
		w.logs.slow = func(line string) {
			if strings.Contains(line, "degraded") {
				time.Sleep(6 * time.Second) // from 30 s on, over the end of FinishTimeout, so that the pump hears of it late
			}
		}
		e := w.start(w.store, engine.Group{Name: "main", Queues: engine.Strict("default"), LeaseDuration: 10 * time.Minute, HeartbeatInterval: 20 * time.Second, FinishTimeout: 10 * time.Second, ReleaseOnDrain: true})
		time.Sleep(25 * time.Second)
		w.stopClean(e)
		if n := w.store.count("report"); n != 0 {
			t.Errorf("%d reports were sent after the drain", n)
		}
		if d := time.Since(began); d != 66*time.Second {
			t.Errorf("Run returned after %v, want 25s, FinishTimeout, ShutdownTimeout and a second for open calls", d)
		}
	})
}

// A store that does not even heed its contexts holds few goroutines, and once
// it answers all is well.
func TestAStoreThatIgnoresContextsHoldsFewCalls(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(context.Context, *engine.Job[email]) error { return nil })
		var open atomic.Int32
		release := make(chan struct{})
		w.store.set(only("claim", func(context.Context) error {
			open.Add(1)
			defer open.Add(-1)
			<-release
			return nil
		}), nil)
		e := w.start(w.store)
		time.Sleep(10 * time.Minute)
		if n := open.Load(); n != 4 {
			t.Errorf("%d claims are open, want 4", n)
		}
		if h := e.Health(); !h.Healthy() || !strings.Contains(h.DegradedGroups()["main"], "claim: ") {
			t.Errorf("health: %v, degraded: %v", h, h.DegradedGroups())
		}
		close(release)
		id := w.enqueue("job", nil)
		time.Sleep(10 * time.Second)
		w.wantEnds(id, store.Succeeded, store.EndSuccess)
		if d := e.Health().DegradedGroups(); len(d) != 0 {
			t.Errorf("still degraded: %v", d)
		}
		w.stopClean(e)
	})
}
