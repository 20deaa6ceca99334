package engine_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"backwave/engine"
	"backwave/store"
)

// Goroutines go from one handler to the next, and no handler can spoil that
// for another, however it ends: all others start at once, even those that wait
// until all of them have started.
func TestNoHandlerHoldsUpAnother(t *testing.T) {
	inBubble(t, func(w *world) {
		const each = 50
		var all sync.WaitGroup
		all.Add(each)
		ways := []struct {
			name    string
			handler engine.Handler
			end     store.EndKind
		}{
			{"waits for the others", func(context.Context, *engine.RawJob) error { all.Done(); all.Wait(); return nil }, store.EndSuccess},
			{"returns", func(context.Context, *engine.RawJob) error { return nil }, store.EndSuccess},
			{"fails", func(context.Context, *engine.RawJob) error { return errors.New("boom") }, store.EndFailure},
			{"panics", func(context.Context, *engine.RawJob) error { panic("ouch") }, store.EndFailure},
			{"leaves", func(context.Context, *engine.RawJob) error { runtime.Goexit(); return nil }, store.EndFailure},
			{"panics on leaving", func(context.Context, *engine.RawJob) error { defer panic("ouch"); runtime.Goexit(); return nil }, store.EndFailure},
		}
		ids := map[store.JobID]store.EndKind{}
		for _, way := range ways {
			w.mux.HandleRaw(way.name, way.handler)
		}
		for range each {
			for _, way := range ways {
				ids[w.enqueue(way.name, nil)] = way.end
			}
		}
		e := w.start(w.store, engine.Group{Name: "main", Queues: engine.Strict("default"), PoolSize: each * len(ways)})
		time.Sleep(time.Second)
		for id, want := range ids {
			if j := w.job(id); len(j.Ends) != 1 || j.Ends[0].Kind != want {
				t.Errorf("a job that %s ended as %v, want %v", j.Name, ends(j), want)
			}
		}
		w.stopClean(e)
	})
}
