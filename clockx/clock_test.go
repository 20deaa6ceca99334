package clockx_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"backwave/clockx"
)

var (
	_ clockx.Clock = clockx.Wall{}
	_ clockx.Clock = (*clockx.Mock)(nil)
)

func TestMockOwesACallUntilItsTime(t *testing.T) {
	m := clockx.NewMock()
	done := make(chan struct{}, 1)
	timer := m.AfterFunc(time.Second, func() { done <- struct{}{} })
	m.Add(999 * time.Millisecond)
	if !timer.Stop() {
		t.Fatal("the call was made before its time")
	}
	timer.Reset(time.Second)
	m.Add(time.Second)
	<-done
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := clockx.Sleep(t.Context(), clockx.Wall{}, time.Minute); err != nil || time.Since(start) != time.Minute {
			t.Errorf("slept %v: %v", time.Since(start), err)
		}
		reason := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(reason) })
		if err := clockx.Sleep(ctx, clockx.Wall{}, time.Minute); !errors.Is(err, reason) {
			t.Errorf("a sleep cut short returned %v, want the cause", err)
		}
		if err := clockx.Sleep(ctx, clockx.Wall{}, 0); !errors.Is(err, reason) {
			t.Errorf("a sleep under an ended context returned %v, want the cause", err)
		}
	})
}

func TestWithTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("too late")
		ctx, cancel := clockx.WithTimeout(t.Context(), clockx.Wall{}, time.Second, reason)
		defer cancel()
		start := time.Now()
		<-ctx.Done()
		if got := time.Since(start); got != time.Second || !errors.Is(context.Cause(ctx), reason) {
			t.Errorf("ended after %v with %v", got, context.Cause(ctx))
		}
		ctx, cancel = clockx.WithTimeout(t.Context(), clockx.Wall{}, time.Second, reason)
		cancel()
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Errorf("a cancelled context ended with %v", context.Cause(ctx))
		}
	})
}
