package simtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"backwave/engine"
	"backwave/sim"
)

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in\n%s", p, text)
		}
	}
}

// quoted fails unless the guide quotes a text.
func quoted(t *testing.T, text string) {
	t.Helper()
	guide, err := os.ReadFile("../../docs/testing-your-jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), "```\n"+text+"\n```\n") {
		t.Errorf("the guide does not quote\n%s", text)
	}
}

// neverComes blocks outside of the calls that the world knows.
func neverComes(ready chan struct{}) { <-ready }

func TestAHandlerThatBlocksIsShownWithItsStack(t *testing.T) {
	ready := make(chan struct{})
	defer close(ready) // lets the goroutine go
	r := newRig(t, func(context.Context, *rig, *engine.Job[string]) error {
		neverComes(ready)
		return nil
	})
	r.sc.Patience = 50 * time.Millisecond
	f := r.breaks(runnable)
	wantText(t, f.String(), "the handler of job#1 has not come back", "50ms", "neverComes", "verdict_test.go")
	quoted(t, "simtest: "+runnable+": "+strings.Replace(f.Message, "50ms", "10s", 1))
}

func TestAHandlerThatBlocksOnItsWayOutIsShownToo(t *testing.T) {
	ready := make(chan struct{})
	defer close(ready)
	r := newRig(t, func(ctx context.Context, r *rig, _ *engine.Job[string]) error {
		defer neverComes(ready)
		return r.ask(ctx, "x")
	}, sim.OnHandler{Job: "job", Do: "crash", By: time.Second})
	r.sc.Patience = 50 * time.Millisecond
	wantText(t, r.breaks(runnable).String(), "neverComes")
}

func TestAHandlerThatSpinsIsShownWithItsStack(t *testing.T) {
	var mu sync.Mutex
	over := false
	r := newRig(t, func(context.Context, *rig, *engine.Job[string]) error {
		for {
			mu.Lock()
			stop := over
			mu.Unlock()
			if stop {
				return nil
			}
		}
	})
	r.sc.Patience = 50 * time.Millisecond
	f := r.breaks(runnable)
	mu.Lock()
	over = true
	mu.Unlock()
	wantText(t, f.String(), "has not come back", "TestAHandlerThatSpins")
}

func TestAHandlerThatTellsOfProgressForEver(t *testing.T) {
	r := newRig(t, func(_ context.Context, _ *rig, job *engine.Job[string]) error {
		for {
			if err := job.SetProgress([]byte("x")); err != nil {
				return err
			}
		}
	})
	wantText(t, r.breaks("progress").Message, "job#1", "for ever")
}

func TestGoroutinesOfHandlersAreFound(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, r *rig, job *engine.Job[string]){
		"engine.Sleep":    func(ctx context.Context, _ *rig, _ *engine.Job[string]) { _ = engine.Sleep(ctx, time.Second) },
		"engine.Now":      func(ctx context.Context, _ *rig, _ *engine.Job[string]) { engine.Now(ctx) },
		"World.HTTP":      func(ctx context.Context, r *rig, _ *engine.Job[string]) { _ = r.ask(ctx, "x") },
		"Ledger.Write":    func(ctx context.Context, r *rig, _ *engine.Job[string]) { _ = r.w.Ledger().Write(ctx, "a", 1) },
		"Job.SetProgress": func(_ context.Context, _ *rig, job *engine.Job[string]) { _ = job.SetProgress([]byte("x")) },
		"World.InTx": func(ctx context.Context, r *rig, job *engine.Job[string]) {
			_ = r.w.InTx(ctx, job, func(*Tx) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(ctx context.Context, r *rig, job *engine.Job[string]) error {
				var wg sync.WaitGroup
				wg.Go(func() { call(ctx, r, job) })
				wg.Wait()
				return nil
			})
			wantText(t, r.breaks(runnable).String(), name, "by a goroutine that is not the handler's", "verdict_test.go")
			if len(r.said) > 0 {
				t.Errorf("it had an effect: %q", r.said)
			}
		})
	}
}

// What differs between two runs of one timeline is not the engine's fault.
func TestHandlersThatAreNotDeterministicHaveAVerdictOfTheirOwn(t *testing.T) {
	outside := 0
	r := newRig(t, func(ctx context.Context, r *rig, _ *engine.Job[string]) error {
		outside++
		return r.ask(ctx, fmt.Sprintf("try/%d", outside))
	})
	f := r.breaks(deterministic)
	wantText(t, f.Message, "call 1 of the handlers", "GET /try/1", "GET /try/2")
	quoted(t, "simtest: "+deterministic+": "+f.Message)

	runs := 0
	r = newRig(t, func(ctx context.Context, r *rig, _ *engine.Job[string]) error {
		if runs++; runs > 1 {
			return nil
		}
		return engine.Snooze(time.Second)
	})
	wantText(t, r.breaks(deterministic).Message, "calls at first")

	answers := 0
	r = newRig(t, func(ctx context.Context, r *rig, _ *engine.Job[string]) error { return r.ask(ctx, "x") })
	r.check = func(w *World) {
		w.Always("even", func() error {
			if answers++; answers%1000 > 990 {
				return fmt.Errorf("asked %d times", answers)
			}
			return nil
		})
	}
	r.holds()
}

func TestInvariantsOfTheAuthor(t *testing.T) {
	handle := func(ctx context.Context, r *rig, _ *engine.Job[string]) error {
		for range 3 {
			if err := r.w.Ledger().Write(ctx, "a", 1); err != nil {
				return err
			}
			if err := engine.Sleep(ctx, time.Second); err != nil {
				return err
			}
		}
		return r.w.Ledger().Write(ctx, "a", -3)
	}
	r := newRig(t, handle)
	r.check = func(w *World) {
		w.Always("at most 2", func() error {
			if n := w.Ledger().Balance("a"); n > 2 {
				return fmt.Errorf("the balance is %d", n)
			}
			return nil
		})
		w.AtEnd("nothing left", func() error {
			if n := w.Ledger().Balance("a"); n != 0 {
				return fmt.Errorf("%d are left", n)
			}
			return nil
		})
	}
	f := r.breaks("at most 2")
	if f.Message != "the balance is 3" || f.At.Round(time.Second) != 2*time.Second {
		t.Errorf("found %q at %v", f.Message, f.At)
	}
	r = newRig(t, handle)
	r.check = func(w *World) {
		w.AtEnd("the job has ended", func() error {
			if j := w.Job("job"); j == nil || !j.State.Terminal() {
				return fmt.Errorf("it is %+v", j)
			}
			return nil
		})
	}
	r.holds().want("success")
}

// The engine's own invariants stay on: a store that is broken on purpose would
// be theirs. Here it is the world that is asked to end what people see.
func TestSameSeedSameTrace(t *testing.T) {
	handle := func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		if err := engine.Sleep(ctx, 3*time.Second); err != nil {
			return err
		}
		if err := r.ask(ctx, "x"); err != nil {
			return err
		}
		return r.w.Ledger().WriteFenced(ctx, job.Token(), "a", 1)
	}
	play := func(seed uint64) (uint64, string) {
		r := newRig(t, handle, sim.Pause{At: time.Second, Node: "n1", For: 12 * time.Second}, sim.OnHandler{Job: "job", Attempt: 2, Nth: 2, Do: "lose-reply"})
		r.sc.Nodes, r.sc.Seed = 3, seed
		r.holds()
		return r.last.res.TraceHash, told(r.story)
	}
	a, first := play(1)
	b, second := play(1)
	if a != b || first != second {
		t.Errorf("one seed, two runs:\n%s\nand\n%s", first, second)
	}
	if c, _ := play(2); a == c {
		t.Error("another seed gave the same run")
	}
}
