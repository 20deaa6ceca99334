package enginetest_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"backwave/engine"
	"backwave/engine/enginetest"
	"backwave/store"
)

type none = engine.Job[[]byte]

func enqueue(t *testing.T, k *enginetest.Kit, name string, opts ...engine.EnqueueOption) store.JobID {
	t.Helper()
	r, err := k.Client().Enqueue(t.Context(), name, nil, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func names(runs []enginetest.Run) (out []string) {
	for _, r := range runs {
		out = append(out, r.Name+" "+r.End.String())
	}
	return out
}

func want(t *testing.T, runs []enginetest.Run, wanted ...string) {
	t.Helper()
	if got := names(runs); !slices.Equal(got, wanted) {
		t.Errorf("ran %q, want %q", got, wanted)
	}
}

func TestRunDueRunsInOrderAndFollowsUp(t *testing.T) {
	mux := engine.NewMux()
	var k *enginetest.Kit
	engine.Handle(mux, "parent", func(ctx context.Context, _ *none) error {
		_, err := k.Client().Enqueue(ctx, "child", nil)
		return err
	})
	engine.Handle(mux, "child", func(context.Context, *none) error { return nil })
	k = enginetest.New(t, enginetest.Config{Mux: mux})
	enqueue(t, k, "child", engine.In(2*time.Minute))
	enqueue(t, k, "parent", engine.In(time.Minute))
	want(t, k.RunDue())
	k.Advance(5 * time.Minute)
	want(t, k.RunDue(), "parent success", "child success", "child success")
	want(t, k.RunDue())
}

func TestRetriesSnoozesAndDeadLetters(t *testing.T) {
	mux := engine.NewMux()
	engine.Handle(mux, "fails", func(context.Context, *none) error { return errors.New("no") })
	engine.Handle(mux, "panics", func(context.Context, *none) error { panic("ouch") })
	engine.Handle(mux, "exits", func(context.Context, *none) error { runtime.Goexit(); return nil })
	engine.Handle(mux, "snoozes", func(_ context.Context, j *none) error {
		if j.Attempt == 1 {
			return engine.Snooze(time.Hour)
		}
		return nil
	})
	group := engine.Group{RetryPolicy: engine.RetryPolicy{MaxAttempts: 2, First: 10 * time.Second, NoJitter: true}}
	k := enginetest.New(t, enginetest.Config{Mux: mux, Group: group})
	id := enqueue(t, k, "fails")
	enqueue(t, k, "panics")
	enqueue(t, k, "exits")
	enqueue(t, k, "snoozes")
	enqueue(t, k, "unknown")
	runs := k.RunDue()
	want(t, runs, "fails failure", "panics failure", "exits failure", "snoozes snooze", "unknown unknown-name")
	if runs[0].Error != "no" || runs[0].State != store.Scheduled {
		t.Errorf("the failure is %+v", runs[0])
	}
	k.Advance(10*time.Second - time.Microsecond)
	want(t, k.RunDue(), "unknown unknown-name") // after 2 s
	k.Advance(time.Microsecond)
	want(t, k.RunDue(), "fails failure", "panics failure", "exits failure")
	if j := k.Job(id); j.State != store.DeadLettered || j.Attempt != 2 {
		t.Errorf("the job is %v after %d attempts", j.State, j.Attempt)
	}
	k.Advance(time.Hour)
	want(t, k.RunDue(), "unknown unknown-name", "snoozes success")
}

func TestTakeRunsIntoTheTimeout(t *testing.T) {
	mux := engine.NewMux()
	engine.Handle(mux, "slow", func(ctx context.Context, j *none) error {
		if err := j.SetProgress([]byte("half")); err != nil {
			return err
		}
		if err := enginetest.Take(ctx, 10*time.Minute); err != nil {
			return err
		}
		return enginetest.Take(ctx, time.Hour)
	})
	k := enginetest.New(t, enginetest.Config{Mux: mux, Group: engine.Group{Timeouts: map[string]time.Duration{"slow": 15 * time.Minute}}})
	id := enqueue(t, k, "slow")
	begin := k.Now()
	runs := k.RunDue()
	want(t, runs, "slow failure")
	if d := k.Now().Sub(begin); d != 15*time.Minute {
		t.Errorf("it took %v, want until the timeout", d)
	}
	if runs[0].Error != engine.ErrHandlerTimeout.Error() || string(k.Job(id).Progress) != "half" {
		t.Errorf("the failure is %q, the progress %q", runs[0].Error, k.Job(id).Progress)
	}
}

func TestTakeIsForHandlersOnly(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Take accepted any context")
		}
	}()
	_ = enginetest.Take(t.Context(), time.Second)
}

func TestACancelledJobIsToldWithinItsHandler(t *testing.T) {
	mux := engine.NewMux()
	var k *enginetest.Kit
	engine.Handle(mux, "job", func(ctx context.Context, j *none) error {
		if _, err := k.Store().Do(ctx, &store.Do{Actor: "me", RequestID: "1", Command: store.Cancel{Job: j.ID}}); err != nil {
			return err
		}
		err := enginetest.Take(ctx, time.Hour)
		if !errors.Is(err, engine.ErrCancelRequested) {
			t.Errorf("told %v", err)
		}
		return err
	})
	k = enginetest.New(t, enginetest.Config{Mux: mux})
	id := enqueue(t, k, "job")
	want(t, k.RunDue(), "job failure")
	if s := k.Job(id).State; s != store.Cancelled {
		t.Errorf("the job is %v", s)
	}
}
