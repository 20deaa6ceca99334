package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"backwave/engine"
	"backwave/store"
)

// Whenever Run is told to stop, it returns in time, and a peer finishes all
// that was left: nothing is lost, and nothing that was recorded runs again.
func TestDrainAtEveryMoment(t *testing.T) {
	for at := 7 * time.Millisecond; at <= 1200*time.Millisecond; at += 40 * time.Millisecond { // never at the instant of anything else
		t.Run(at.String(), func(t *testing.T) { inBubble(t, func(w *world) { drainAt(w, at) }) })
	}
}

func drainAt(w *world, at time.Duration) {
	var interrupted atomic.Int32
	engine.Handle(w.mux, "job", func(ctx context.Context, _ *engine.Job[email]) error {
		select {
		case <-time.After(300 * time.Millisecond):
			return nil
		case <-ctx.Done():
			wantCause(ctx, w.t, engine.ErrDraining)
			interrupted.Add(1)
			return nil // not recorded: it may have been cut short
		}
	})
	var ids []store.JobID
	for range 9 {
		ids = append(ids, w.enqueue("job", nil))
	}
	slow := func(context.Context, string) error { time.Sleep(100 * time.Millisecond); return nil }
	w.store.set(slow, slow) // a drain falls before, into and after each call
	e := w.start(w.store, engine.Group{Name: "main", Queues: engine.Strict("default"), PoolSize: 3})
	time.Sleep(at)
	began := time.Now()
	w.stopClean(e)
	if d := time.Since(began); d > time.Second {
		w.t.Errorf("the drain took %v", d)
	}
	ended := map[store.JobID]int{}
	for _, id := range ids {
		j := w.job(id)
		ended[id] = j.Attempt
		if j.State == store.Succeeded && len(j.Ends) != 1 {
			w.t.Errorf("job %v succeeded after %v", id, ends(j))
		}
	}
	peer := w.start(w.store.peer())
	time.Sleep(3 * time.Minute)
	lapsed := int32(0)
	for _, id := range ids {
		j := w.job(id)
		if j.State != store.Succeeded || len(j.Ends) != j.Attempt {
			w.t.Errorf("job %v is %v after %v, attempt %d", id, j.State, ends(j), j.Attempt)
		}
		for _, k := range ends(j) {
			if k == store.EndLapse {
				lapsed++
			}
		}
	}
	if lapsed != interrupted.Load() {
		w.t.Errorf("%d leases lapsed, but %d handlers were interrupted", lapsed, interrupted.Load())
	}
	w.stopClean(peer)
}

func TestRunReturnsAndNamesWhatStillRuns(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		engine.Handle(w.mux, "stubborn", func(context.Context, *engine.Job[email]) error { <-release; return nil })
		var ids []store.JobID
		for range 12 {
			ids = append(ids, w.enqueue("stubborn", nil))
		}
		slices.SortFunc(ids, store.JobID.Compare)
		e := w.start(w.store)
		time.Sleep(time.Second)
		began := time.Now()
		err := e.stop()
		var left *engine.AbandonedError
		if !errors.As(err, &left) || len(left.Jobs) != len(ids) {
			t.Fatalf("Run returned %v", err)
		}
		want := "engine: handlers still running: 12: "
		for i, id := range ids {
			j := left.Jobs[i]
			if j.Token != (store.Token{Job: id, Attempt: 1}) || j.Name != "stubborn" || j.Queue != "default" || j.Group != "main" || j.Worker != w.job(id).Worker {
				t.Errorf("it names %+v, want job %v", j, id)
			}
			if i < 10 {
				want += fmt.Sprintf("%v#1 (stubborn), ", id)
			}
		}
		if want += "and 2 more"; err.Error() != want {
			t.Errorf("it says %q, want %q", err, want)
		}
		if d := time.Since(began); d != 30*time.Second {
			t.Errorf("it returned after %v, want the ShutdownTimeout", d)
		}
		close(release) // or the bubble would report a goroutine of its own
	})
}

// A handler that returns after its pump has given up on it, while another pump
// still drains, was not left running.
func TestRunDoesNotNameWhatReturnedMeanwhile(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "stubborn", func(context.Context, *engine.Job[email]) error { time.Sleep(30 * time.Second); return nil })
		engine.Handle(w.mux, "patient", func(context.Context, *engine.Job[email]) error { time.Sleep(40 * time.Second); return nil })
		e := w.startFor(
			w.store, 15*time.Second,
			engine.Group{Name: "main", Queues: engine.Strict("default")},
			engine.Group{Name: "other", Queues: engine.Strict("other"), FinishTimeout: time.Minute},
		)
		w.enqueue("stubborn", nil)
		w.enqueue("patient", nil, engine.Queue("other"))
		time.Sleep(2 * time.Second)
		w.stopClean(e)
	})
}

func TestFinishLetsHandlersReport(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(ctx context.Context, j *engine.Job[time.Duration]) error {
			select {
			case <-time.After(j.Args):
				return nil
			case <-ctx.Done():
				wantCause(ctx, t, engine.ErrDraining)
				time.Sleep(10 * time.Second) // within the ShutdownTimeout, which begins only now
				return nil
			}
		})
		short := w.enqueue("job", 90*time.Second)
		long := w.enqueue("job", time.Hour)
		e := w.startFor(w.store, 15*time.Second, engine.Group{Name: "main", Queues: engine.Strict("default"), FinishTimeout: 2 * time.Minute, ReleaseOnDrain: true})
		time.Sleep(time.Second)
		began := time.Now()
		w.stopClean(e)
		if d := time.Since(began); d != 130*time.Second {
			t.Errorf("the drain took %v, want 2m to finish and 10s for the last handler", d)
		}
		w.wantEnds(short, store.Succeeded, store.EndSuccess)
		w.wantEnds(long, store.Scheduled, store.EndRelease)
	})
}

func TestRunWithAnEndedContextDoesNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		e, err := engine.New(engine.Config{Store: w.store, Mux: w.mux, Groups: []engine.Group{{Name: "main", Queues: engine.Strict("default")}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(w.t.Context())
		cancel()
		if err := e.Run(ctx); err != nil {
			t.Errorf("Run returned %v", err)
		}
		if err := e.Run(ctx); !errors.Is(err, engine.ErrStarted) {
			t.Errorf("a second Run returned %v", err)
		}
		if n := w.store.count("claim"); n != 0 {
			t.Errorf("it claimed %d times", n)
		}
	})
}

// A store whose calls ignore their context cannot keep Run from returning.
func TestRunReturnsThoughTheStoreNeverAnswers(t *testing.T) {
	for _, verb := range []string{"claim", "sweep", "report", "renew"} {
		t.Run(verb, func(t *testing.T) {
			inBubble(t, func(w *world) {
				engine.Handle(w.mux, "job", func(ctx context.Context, _ *engine.Job[email]) error {
					if verb == "renew" {
						<-ctx.Done()
					}
					return nil
				})
				w.enqueue("job", nil)
				release := make(chan struct{})
				w.store.set(only(verb, func(context.Context) error { <-release; return nil }), nil)
				e := w.start(w.store)
				time.Sleep(31 * time.Second)
				if got := e.Health().DegradedGroups()["main"]; !strings.Contains(got, verb+": no answer within the operation timeout of 10s") {
					t.Errorf("degraded: %q", got)
				}
				w.stopClean(e)
				if got := w.logs.at(4); len(got) < 2 || !strings.Contains(got[len(got)-1], "ignore their context") {
					t.Errorf("warnings: %q", got)
				}
				close(release)
			})
		})
	}
}

// A store that hangs but honours contexts is waited for no longer than that,
// and holds no more goroutines the longer it hangs.
func TestAHangingStoreHoldsFewCalls(t *testing.T) {
	inBubble(t, func(w *world) {
		var open, most atomic.Int32
		w.store.set(func(ctx context.Context, _ string) error {
			most.Store(max(most.Load(), open.Add(1)))
			defer open.Add(-1)
			return hang(ctx)
		}, nil)
		e := w.start(w.store)
		time.Sleep(10 * time.Minute)
		if n := most.Load(); n > 4 {
			t.Errorf("%d calls were open at once", n)
		}
		w.store.set(nil, nil)
		time.Sleep(30 * time.Second)
		if len(e.Health().DegradedGroups()) != 0 {
			t.Errorf("still degraded: %v", e.Health().DegradedGroups())
		}
		synctest.Wait()
		if n := open.Load(); n != 0 {
			t.Errorf("%d calls are still open", n)
		}
		w.stopClean(e)
	})
}
