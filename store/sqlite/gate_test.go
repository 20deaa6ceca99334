package sqlite

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"backwave/clockx"
	"backwave/store"
)

func TestUrgentCallsPassTheGateFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		if err := g.enter(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		var order []string
		wait := func(name string, urgent bool) {
			go func() {
				if err := g.enter(context.Background(), urgent); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				g.leave()
			}()
			synctest.Wait()
		}
		wait("sweep", false)
		wait("claim", false)
		wait("renew", true)
		wait("renew again", true)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { gone <- g.enter(ctx, true) }()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("a wait that was given up returned %v", err)
		}
		g.leave()
		synctest.Wait()
		want := []string{"renew", "renew again", "sweep", "claim"}
		if len(order) != len(want) {
			t.Fatalf("passed: %q, want %q", order, want)
		}
		for i := range want {
			if order[i] != want[i] {
				t.Fatalf("passed: %q, want %q", order, want)
			}
		}
	})
}

// A sweep that waits for another process's write must not keep a renewal of
// its own process from trying, and gives up in the end.
func TestWaitingForTheFileLeavesTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{waits: clockx.Wall{}}
		busy := &store.TransientError{Fault: store.FaultBusy, Err: errors.New("somebody writes")}
		swept := make(chan error, 1)
		start := time.Now()
		go func() { swept <- s.acquire(t.Context(), false, 250*time.Millisecond, func() error { return busy }) }()
		time.Sleep(100 * time.Millisecond) // of the bubble: it costs no time
		if err := s.acquire(t.Context(), true, 0, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited > 101*time.Millisecond {
			t.Errorf("the renewal waited until %v", waited)
		}
		s.gate.leave()
		if err := <-swept; store.FaultOf(err) != store.FaultBusy {
			t.Errorf("the sweep ended with %v", err)
		}
		if waited := time.Since(start); waited < 250*time.Millisecond || waited > 270*time.Millisecond {
			t.Errorf("the sweep gave up after %v", waited)
		}
	})
}
