package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"backwave/engine"
	"backwave/store"
)

var _ store.Attempt = (*engine.Job[email])(nil)

// fenced records the success of an attempt as the statement of a transaction
// would that is committed at once.
func (w *world) fenced(job store.Attempt) {
	w.t.Helper()
	r, err := w.store.Locked.Report(w.t.Context(), &store.Report{Worker: job.Worker(), Rows: []store.ReportRow{
		{Key: job.Key(), Outcome: store.Success{Output: job.Output()}},
	}})
	if err != nil || r.Rows[0].Status != store.ReportApplied {
		w.t.Errorf("the statement answers %+v, %v", r, err)
	}
}

// wantUndisturbed expects the context of a handler to go on.
func wantUndisturbed(ctx context.Context, t *testing.T) {
	t.Helper()
	if err := context.Cause(ctx); err != nil {
		t.Errorf("the handler's context ended with %v", err)
	}
}

func (w *world) wantRenewals(want int) {
	w.t.Helper()
	synctest.Wait()
	if n := w.store.count("renew"); n != want {
		w.t.Errorf("renewed %d times, want %d", n, want)
	}
}

// A renewal in flight comes too late for a success that is recorded by then,
// and its refusal, like the end of the own view, is nothing to the handler.
func TestACompletionIsLeftAlone(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(ctx context.Context, j *engine.Job[email]) error {
			if j.LeaseDuration() != time.Minute {
				t.Errorf("the lease is one of %v", j.LeaseDuration())
			}
			time.Sleep(20500 * time.Millisecond)
			j.Completing()
			if err := j.SetOutput([]byte("done")); err != nil {
				return err
			}
			w.fenced(j)
			time.Sleep(3 * time.Minute)
			wantUndisturbed(ctx, t)
			j.Completed(store.CompletionCommitted)
			time.Sleep(3 * time.Minute)
			wantUndisturbed(ctx, t)
			return nil
		})
		id := w.enqueue("job", nil)
		w.store.set(only("renew", func(context.Context) error { time.Sleep(time.Second); return nil }), nil)
		e := w.start(w.store)
		time.Sleep(7 * time.Minute)
		if j := w.wantEnds(id, store.Succeeded, store.EndSuccess); string(j.Output) != "done" {
			t.Errorf("the output is %q", j.Output)
		}
		w.wantRenewals(1)
		if n := w.store.count("report"); n != 1 {
			t.Errorf("reported %d times, want once, to be told that it is recorded", n)
		}
		if l := w.logs.at(slog.LevelInfo); len(l) > 0 {
			t.Errorf("it is worth %q", l)
		}
		w.stopClean(e)
	})
}

func TestACompletionThatIsRolledBack(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(ctx context.Context, j *engine.Job[email]) error {
			switch j.Attempt {
			case 1: // its nil is worth nothing without the commit
				j.Completing()
				time.Sleep(30 * time.Second)
				w.wantRenewals(0)
				j.Completed(store.CompletionRolledBack)
				w.wantRenewals(1)
			case 2: // the own view is over
				j.Completing()
				time.Sleep(59 * time.Second)
				wantUndisturbed(ctx, t)
				j.Completed(store.CompletionRolledBack)
				synctest.Wait()
				wantCause(ctx, t, engine.ErrLeaseLost)
			case 3: // and it may try again
				j.Completing()
				j.Completed(store.CompletionRolledBack)
				j.Completing()
				w.fenced(j)
				j.Completed(store.CompletionCommitted)
			}
			return nil
		})
		id := w.enqueue("job", nil)
		e := w.start(w.store)
		time.Sleep(3 * time.Minute)
		j := w.wantEnds(id, store.Succeeded, store.EndFailure, store.EndLapse, store.EndSuccess)
		if len(j.Ends) > 0 && j.Ends[0].Error != "completion not committed" {
			t.Errorf("the failure is %q", j.Ends[0].Error)
		}
		w.stopClean(e)
	})
}

// Whoever does not know whether it was committed reports a failure, and the
// store knows.
func TestACommitThatWasNotAnswered(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "landed", func(_ context.Context, j *engine.Job[email]) error {
			j.Completing()
			w.fenced(j)
			j.Completed(store.CompletionUnknown)
			return errors.New("commit: connection reset")
		})
		engine.Handle(w.mux, "lost", func(_ context.Context, j *engine.Job[email]) error {
			if j.Attempt > 1 {
				return nil
			}
			j.Completing()
			j.Completed(store.CompletionUnknown)
			return errors.New("commit: connection reset")
		})
		landed, lost := w.enqueue("landed", nil), w.enqueue("lost", nil)
		e := w.start(w.store)
		time.Sleep(10 * time.Second)
		w.wantEnds(landed, store.Succeeded, store.EndSuccess)
		w.wantEnds(lost, store.Succeeded, store.EndFailure, store.EndSuccess)
		w.stopClean(e)
	})
}

func TestADrainDuringACompletion(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(ctx context.Context, j *engine.Job[email]) error {
			j.Completing()
			<-ctx.Done()
			wantCause(ctx, t, engine.ErrDraining)
			time.Sleep(time.Second)
			w.fenced(j)
			j.Completed(store.CompletionCommitted)
			return nil
		})
		id := w.enqueue("job", nil)
		e := w.start(w.store)
		time.Sleep(time.Second)
		w.stopClean(e)
		w.wantEnds(id, store.Succeeded, store.EndSuccess)
		if n := w.store.count("report"); n != 0 {
			t.Errorf("a drained pump has reported %d times", n)
		}
	})
}

// Completing waits for the pump, and for nobody when there is none: the bubble
// would report a goroutine that waits for ever.
func TestCompletingWaitsForThePumpOnly(t *testing.T) {
	inBubble(t, func(w *world) {
		jobs := make(chan *engine.RawJob, 2)
		release := make(chan struct{})
		engine.Handle(w.mux, "short", func(_ context.Context, j *engine.Job[email]) error { jobs <- j.RawJob; return nil })
		engine.Handle(w.mux, "long", func(ctx context.Context, j *engine.Job[email]) error {
			jobs <- j.RawJob
			<-ctx.Done()
			wantCause(ctx, t, engine.ErrHalted)
			j.Completing() // its pump has halted
			j.Completed(store.CompletionRolledBack)
			<-release
			return nil
		})
		complete := func(j *engine.RawJob) {
			j.Completing()
			j.Completed(store.CompletionCommitted)
		}
		id := w.enqueue("short", nil)
		e := w.start(w.store)
		short := <-jobs
		synctest.Wait()
		complete(short) // its handler has returned
		w.wantEnds(id, store.Succeeded, store.EndSuccess)
		w.enqueue("long", nil)
		long := <-jobs
		w.store.set(only("claim", func(context.Context) error { return errors.New("what is this") }), nil)
		time.Sleep(2 * time.Second)
		if err := e.stop(); err == nil {
			t.Error("Run does not name the handler that still runs")
		}
		complete(short) // its pump is gone
		complete(long)
		complete(&engine.RawJob{}) // it never had one
		close(release)
	})
}

// gate holds up whoever logs until it is opened.
type gate struct {
	*journal
	open chan struct{}
}

func (g gate) WithAttrs([]slog.Attr) slog.Handler { return g }
func (g gate) Handle(context.Context, slog.Record) error {
	<-g.open
	return nil
}

// A renewal must not go out after Completing has returned, so the pump has to
// have heard of it by then, however busy it is.
func TestCompletingReturnsWhenThePumpHasHeard(t *testing.T) {
	inBubble(t, func(w *world) {
		began := time.Now()
		engine.Handle(w.mux, "job", func(_ context.Context, j *engine.Job[email]) error {
			time.Sleep(5 * time.Second)
			j.Completing()
			if d := time.Since(began); d != 30*time.Second {
				t.Errorf("it returned after %v, the pump was held up until 30s", d)
			}
			w.fenced(j)
			j.Completed(store.CompletionCommitted)
			return nil
		})
		w.enqueue("job", nil)
		g := gate{w.logs, make(chan struct{})}
		e, err := engine.New(engine.Config{
			Store: w.store, Mux: w.mux, Logger: slog.New(g),
			Groups: []engine.Group{{Name: "main", Queues: engine.Strict("default")}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		r := &running{Engine: e, cancel: cancel, done: make(chan error, 1)}
		go func() { r.done <- e.Run(ctx) }()
		time.Sleep(500 * time.Millisecond)
		w.store.set(only("claim", func(context.Context) error {
			return &store.TransientError{Fault: store.FaultConnection, Err: errors.New("connection refused")}
		}), nil)
		time.Sleep(29500 * time.Millisecond)
		close(g.open)
		time.Sleep(time.Second)
		w.stopClean(r)
	})
}
