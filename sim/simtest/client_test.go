package simtest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"backwave/engine"
	"backwave/sim"
	"backwave/store"
)

// chain runs "job", which adds "next".
func chain(t *testing.T, handle handler, faults ...sim.Fault) *rig {
	r := newRig(t, handle, faults...)
	setup := r.sc.Setup
	r.sc.Setup = func(w *World) func() *engine.Mux {
		build := setup(w)
		return func() *engine.Mux {
			mux := build()
			engine.Handle(mux, "next", func(_ context.Context, j *engine.Job[int]) error {
				r.say("%s: next %d, attempt %d", w.Elapsed().Round(time.Second), j.Args, j.Attempt)
				return nil
			})
			return mux
		}
	}
	return r
}

func TestAHandlerAddsJobs(t *testing.T) {
	handle := func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		_, err := r.w.Client().Enqueue(ctx, "next", 10*job.Attempt, engine.In(5*time.Second))
		return err
	}
	for _, c := range []struct {
		do   string
		ends string
		said []string
	}{
		{"", "success", []string{"5s: next 10, attempt 1"}},
		{"lose-request", "success", []string{"15s: next 10, attempt 1"}}, // sent again after 10s
		{"lose-reply", "success", []string{"5s: next 10, attempt 1"}},    // the same id: added once
		{"refuse", "success", []string{"5s: next 10, attempt 1"}},
		{"crash-after", "lapse success", []string{"5s: next 10, attempt 1", "20s: next 20, attempt 1"}},
	} {
		r := chain(t, handle)
		if c.do != "" {
			r.sc.Faults = []sim.Fault{sim.OnHandler{Job: "job", Do: c.do, By: time.Second}}
		}
		r.holds().want(c.ends, c.said...)
		next := r.w.Jobs("next")
		if len(next) != len(c.said) || next[0].State != store.Succeeded {
			t.Errorf("%s: the store has %+v", c.do, next)
		}
		var arg int
		if err := json.Unmarshal(next[0].Payload, &arg); err != nil || arg != 10 {
			t.Errorf("the payload is %s", next[0].Payload)
		}
	}
}

// A job that is added under an id of its own is added once.
func TestAHandlerAddsAJobOnce(t *testing.T) {
	sc := chain(t, func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		id := store.NewJobID(1_767_225_600_000, 7, 7)
		_, err := r.w.Client().Enqueue(ctx, "next", 1, engine.ID(id))
		return err
	}).sc
	setup := sc.Setup
	sc.Nodes = 2
	sc.Setup = func(w *World) func() *engine.Mux {
		w.AtEnd("one next", func() error {
			if n := len(w.Jobs("next")); n > 1 {
				return fmt.Errorf("there are %d", n)
			}
			return nil
		})
		return setup(w)
	}
	t.Chdir(t.TempDir())
	if f := Find(t, sc); f != nil {
		t.Errorf("%s", f)
	}
}
