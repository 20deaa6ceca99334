package engine_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"backwave/engine"
	"backwave/store"
)

func TestAHandlerThatBlocksForAnHourRunsOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		var starts atomic.Int32
		engine.Handle(w.mux, "job", func(ctx context.Context, _ *engine.Job[email]) error {
			starts.Add(1)
			time.Sleep(time.Hour)
			return context.Cause(ctx)
		})
		id := w.enqueue("job", nil)
		a, b := w.start(w.store), w.start(w.store) // one runs it; the other sweeps, and finds nothing
		time.Sleep(time.Hour + time.Second)
		w.wantEnds(id, store.Succeeded, store.EndSuccess)
		if n := w.store.count("renew"); starts.Load() != 1 || n < 175 || n > 180 {
			t.Errorf("started %d times and renewed %d times, want once and about 180", starts.Load(), n)
		}
		w.stopClean(a)
		w.stopClean(b)
	})
}

// A node whose renewals get no answer stops itself at 49/50 of its lease; the
// peer runs the job again, and what the zombie then returns changes nothing.
func TestAnIsolatedNodeStopsItself(t *testing.T) {
	inBubble(t, func(w *world) {
		var claimed time.Time
		engine.Handle(w.mux, "job", func(ctx context.Context, j *engine.Job[email]) error {
			if j.Attempt > 1 {
				return j.SetOutput([]byte("second"))
			}
			claimed = time.Now()
			if err := j.SetOutput([]byte("first")); err != nil {
				return err
			}
			<-ctx.Done()
			wantCause(ctx, t, engine.ErrLeaseLost)
			if d := time.Since(claimed); d != 58800*time.Millisecond {
				t.Errorf("told after %v, want 49/50 of the lease", d)
			}
			time.Sleep(time.Minute) // and stops long after
			return nil
		})
		id := w.enqueue("job", nil)
		w.store.set(only("renew", hang), nil)
		a := w.start(w.store)
		time.Sleep(time.Second)
		b := w.start(w.store.peer())
		time.Sleep(70 * time.Second)
		w.wantEnds(id, store.Succeeded, store.EndLapse, store.EndSuccess)
		time.Sleep(time.Minute)
		if j := w.wantEnds(id, store.Succeeded, store.EndLapse, store.EndSuccess); string(j.Output) != "second" {
			t.Errorf("the output is %q, want that of the second attempt", j.Output)
		}
		if w.store.count("report") == 0 {
			t.Error("the zombie's success was not sent; the store was to decide")
		}
		w.stopClean(a)
		w.stopClean(b)
	})
}

func TestPeersShareTheWork(t *testing.T) {
	inBubble(t, func(w *world) {
		var mu sync.Mutex
		ran := map[store.Token]int{}
		engine.Handle(w.mux, "job", func(_ context.Context, j *engine.Job[email]) error {
			mu.Lock()
			defer mu.Unlock()
			ran[j.Token()]++
			return nil
		})
		var ids []store.JobID
		for range 200 {
			ids = append(ids, w.enqueue("job", nil))
		}
		slow := func(context.Context, string) error { time.Sleep(10 * time.Millisecond); return nil }
		w.store.set(slow, slow)
		group := engine.Group{Name: "main", Queues: engine.Weighted(map[string]int{"default": 1, "other": 3}), Pumps: 2, PoolSize: 5}
		a, b := w.start(w.store, group), w.start(w.store, group)
		time.Sleep(10 * time.Second)
		workers := map[string]bool{}
		for _, id := range ids {
			workers[w.wantEnds(id, store.Succeeded, store.EndSuccess).Ends[0].Worker] = true
		}
		mu.Lock()
		defer mu.Unlock()
		for token, n := range ran {
			if n != 1 {
				t.Errorf("%v ran %d times", token, n)
			}
		}
		if len(workers) != 4 {
			t.Errorf("%d of 4 pumps took part", len(workers))
		}
		w.stopClean(a)
		w.stopClean(b)
	})
}

// A hint makes a poll come at once, not after the PollInterval.
func TestHintsBringAPollForward(t *testing.T) {
	inBubble(t, func(w *world) {
		var late []time.Duration
		engine.Handle(w.mux, "job", func(_ context.Context, j *engine.Job[time.Time]) error {
			late = append(late, time.Since(j.Args))
			return nil
		})
		e := w.start(w.store, engine.Group{Name: "main", Queues: engine.Strict("default"), PollInterval: time.Hour})
		for range 2 {
			time.Sleep(time.Minute)
			w.enqueue("job", time.Now())
		}
		time.Sleep(time.Second)
		w.stopClean(e)
		if !slices.Equal(late, []time.Duration{0, 0}) {
			t.Errorf("started %v after the enqueues, want two at once", late)
		}
	})
}
