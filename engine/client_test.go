package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"backwave/engine"
	"backwave/store"
)

func TestEnqueueIsRepeatedUntilItIsAnswered(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after func(context.Context, string) error
	}{
		{"requests are lost", transient, nil},
		{"replies are lost", nil, transient},
		{"calls hang", func(ctx context.Context, _ string) error { return hang(ctx) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				client := engine.NewClient(engine.ClientConfig{Store: w.store})
				w.store.set(c.before, c.after)
				time.AfterFunc(25*time.Second, func() { w.store.set(nil, nil) })
				r, err := client.Enqueue(w.t.Context(), "job", email{"a@b"})
				if err != nil || r.Existing || w.job(r.ID).State != store.Scheduled {
					t.Fatalf("enqueued %+v: %v", r, err)
				}
				if n := w.store.count("enqueue"); n < 3 {
					t.Errorf("sent %d times", n)
				}
				jobs, err := w.store.Jobs(w.t.Context(), "default", nil, 10)
				if err != nil || len(jobs) != 1 || string(jobs[0].Payload) != `{"To":"a@b"}` {
					t.Errorf("the store has %d jobs: %v", len(jobs), err)
				}
			})
		})
	}
}

func transient(context.Context, string) error {
	return &store.TransientError{Fault: store.FaultConnection, Err: errors.New("reset")}
}

func TestEnqueueGivesUpWithItsContext(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store.set(transient, nil)
		ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second)
		defer cancel()
		_, err := engine.NewClient(engine.ClientConfig{Store: w.store}).Enqueue(ctx, "job", nil)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "reset") {
			t.Errorf("it gave %v", err)
		}
	})
}

func TestEnqueueWaitsForBusyRowsOnly(t *testing.T) {
	inBubble(t, func(w *world) {
		st := &busyOnce{faulty: w.store}
		out, err := engine.NewClient(engine.ClientConfig{Store: st}).EnqueueMany(w.t.Context(), []engine.NewJob{{Name: "a"}, {Name: "b"}, {Name: "c"}})
		if err != nil || len(out) != 3 {
			t.Fatalf("%v, %v", out, err)
		}
		for i, name := range []string{"a", "b", "c"} {
			if j := w.job(out[i].ID); j.Name != name {
				t.Errorf("receipt %d is of %s", i, j.Name)
			}
		}
		if len(st.sizes) != 2 || st.sizes[0] != 3 || st.sizes[1] != 1 {
			t.Errorf("sent batches of %v", st.sizes)
		}
	})
}

// busyOnce answers Busy for the second row of the first call.
type busyOnce struct {
	*faulty
	sizes []int
}

func (b *busyOnce) Enqueue(ctx context.Context, r *store.Enqueue) (*store.Enqueued, error) {
	b.sizes = append(b.sizes, len(r.Jobs))
	if len(b.sizes) > 1 {
		return b.faulty.Enqueue(ctx, r)
	}
	out, err := b.faulty.Enqueue(ctx, &store.Enqueue{Jobs: []store.NewJob{r.Jobs[0], r.Jobs[2]}})
	if err != nil {
		return nil, err
	}
	out.Rows = []store.EnqueueAnswer{out.Rows[0], {Status: store.EnqueueBusy}, out.Rows[1]}
	return out, nil
}

func TestEnqueueOptions(t *testing.T) {
	inBubble(t, func(w *world) {
		id := store.NewJobID(1, 2, 3)
		at := time.Now().Add(time.Hour)
		w.enqueue("job", email{"x"}, engine.ID(id), engine.In(time.Minute), engine.At(at), engine.Queue("q"), engine.Unique("k"), engine.MaxAttempts(3))
		j := w.job(id)
		if j.Queue != "q" || j.Due != store.At(at) || j.UniqueKey != "k" || j.MaxAttempts != 3 {
			t.Errorf("the job is %+v", j)
		}
		later := w.enqueue("job", nil, engine.At(at), engine.In(time.Minute))
		if late := w.job(later).Due.Sub(store.At(time.Now())); late != time.Minute {
			t.Errorf("due in %v, want what the last option says", late)
		}
		if got := w.enqueue("job", email{"x"}, engine.ID(id), engine.Queue("q")); got != id {
			t.Errorf("the same again gave %v", got)
		}
		if _, err := w.client.Enqueue(w.t.Context(), "job", email{"y"}, engine.ID(id), engine.Queue("q")); !errors.Is(err, engine.ErrDiffers) {
			t.Errorf("another payload under the same id gave %v", err)
		}
		if r, err := w.client.Enqueue(w.t.Context(), "job", nil, engine.Unique("k")); err != nil || !r.Existing || r.ID != id {
			t.Errorf("a held key gave %+v, %v", r, err)
		}
	})
}

func TestEnqueueRefusesBeforeItSends(t *testing.T) {
	inBubble(t, func(w *world) {
		_, err := w.client.EnqueueMany(w.t.Context(), []engine.NewJob{
			{Name: "fine"},
			{Name: "big", Args: make([]byte, store.MaxPayload+1)},
			{Name: "odd", Args: func() {}},
		})
		var over *store.BoundError
		var kind *json.UnsupportedTypeError
		if !errors.As(err, &over) || !errors.As(err, &kind) {
			t.Errorf("it gave %v, want both mistakes", err)
		}
		if jobs, err := w.store.Jobs(w.t.Context(), "default", nil, 10); err != nil || len(jobs) != 0 {
			t.Errorf("%d jobs were added: %v", len(jobs), err)
		}
		w.store.set(only("enqueue", func(context.Context) error { return errMute }), nil)
		if _, err := engine.NewClient(engine.ClientConfig{Store: w.store}).Enqueue(w.t.Context(), "job", nil); err == nil || !strings.Contains(err.Error(), "neither a reply nor an error") {
			t.Errorf("a store that answered nothing gave %v", err)
		}
		if _, err := engine.NewClient(engine.ClientConfig{}).Enqueue(w.t.Context(), "job", nil); err == nil {
			t.Error("a client without a store enqueued")
		}
	})
}

func TestEnqueueManyInBatches(t *testing.T) {
	inBubble(t, func(w *world) {
		out, err := engine.NewClient(engine.ClientConfig{Store: w.store}).EnqueueMany(w.t.Context(), make2500())
		if err != nil || len(out) != 2500 {
			t.Fatalf("%d receipts: %v", len(out), err)
		}
		if n := w.store.count("enqueue"); n != 3 {
			t.Errorf("they were sent in %d batches, want 3 of at most 1,000", n)
		}
		if n, err := w.store.Unfinished(w.t.Context(), []string{"default"}); err != nil || n != 2500 {
			t.Errorf("%d jobs: %v", n, err)
		}
	})
}

func make2500() []engine.NewJob {
	jobs := make([]engine.NewJob, 2500)
	for i := range jobs {
		jobs[i] = engine.NewJob{Name: "job", Args: i}
	}
	return jobs
}
