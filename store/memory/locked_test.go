package memory_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"backwave/store"
	"backwave/store/memory"
)

// hinted opens a locked store and lists the queues it gives hints of.
func hinted() (l *memory.Locked, c *tick, got *[]string, stop func()) {
	c, got = &tick{now: 1_700_000_000_000_000}, new([]string)
	l = memory.NewLocked(memory.New(c))
	return l, c, got, l.Hints(func(q string) { *got = append(*got, q) })
}

func ok[R any](t *testing.T) func(R, error) R {
	return func(r R, err error) R {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func TestHintsTellOfWorkThatBecameDue(t *testing.T) {
	l, c, got, stop := hinted()
	ctx := t.Context()
	want := func(queues ...string) {
		t.Helper()
		if !slices.Equal(*got, queues) {
			t.Fatalf("hints %q, want %q", *got, queues)
		}
		*got = nil
	}
	job := func(n int, queue string, delay time.Duration) store.NewJob {
		return store.NewJob{ID: id(n), Name: "n", Queue: queue, Delay: delay}
	}
	ok[*store.Enqueued](t)(l.Enqueue(ctx, &store.Enqueue{Jobs: []store.NewJob{job(1, "a", 0), job(2, "b", 0), job(3, "a", 0), job(4, "c", time.Hour)}}))
	want("a", "b")
	claimed := ok[*store.Claimed](t)(l.Claim(ctx, &store.Claim{Worker: "w", Number: 1, Queues: []store.Quota{{Queue: "a", Most: 2}}, Max: 2, Lease: time.Minute}))
	want()
	ok[*store.Reported](t)(l.Report(ctx, &store.Report{Worker: "w", Rows: []store.ReportRow{{Key: claimed.Leases[0].Key, Outcome: store.Released{}}, {Key: claimed.Leases[1].Key, Outcome: store.Failure{}}}}))
	want("a")
	ok[*store.Done](t)(l.Do(ctx, &store.Do{Actor: "ann", RequestID: "1", Command: store.Resume{Queue: "z"}}))
	want("z")
	c.advance(time.Hour)
	stop()
	ok[*store.Enqueued](t)(l.Enqueue(ctx, &store.Enqueue{Jobs: []store.NewJob{job(5, "a", 0)}}))
	want()
}

func TestOneWhoStopsListeningLeavesTheOthers(t *testing.T) {
	l, _, got, stop := hinted()
	n := 0
	stopOther := l.Hints(func(string) { n++ })
	for i, change := range []func(){func() {}, stopOther, stop} {
		change()
		ok[*store.Enqueued](t)(l.Enqueue(t.Context(), &store.Enqueue{Jobs: []store.NewJob{{ID: id(i + 1), Name: "n", Queue: "a"}}}))
	}
	if n != 1 || len(*got) != 2 {
		t.Fatalf("the one that stopped first got %d hints and the other %d, want 1 and 2", n, len(*got))
	}
}

func TestHintMayCallTheStore(t *testing.T) {
	l, _, _, stop := hinted()
	defer stop()
	n := 0
	defer l.Hints(func(q string) { n, _ = l.Unfinished(context.Background(), []string{q, q}) })()
	ok[*store.Enqueued](t)(l.Enqueue(t.Context(), &store.Enqueue{Jobs: []store.NewJob{{ID: id(1), Name: "n", Queue: "a"}}}))
	if n != 1 {
		t.Fatalf("the hint saw %d unfinished jobs, want 1", n)
	}
}

func TestAnEndedContextDoesNothing(t *testing.T) {
	l, _, _, stop := hinted()
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Enqueue(ctx, &store.Enqueue{Jobs: []store.NewJob{{ID: id(1), Name: "n", Queue: "a"}}})
	_, err1 := l.Job(ctx, id(1))
	_, err2 := l.Jobs(ctx, "a", nil, 1)
	_, err3 := l.Unfinished(ctx, nil)
	for _, err := range []error{err, err1, err2, err3} {
		if !errors.Is(err, context.Canceled) || store.FaultOf(err) != store.FaultTimeout {
			t.Fatalf("got %v (%v), want the context's error as a timeout", err, store.FaultOf(err))
		}
	}
	if _, err := l.Job(t.Context(), id(1)); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("got %v, want no such job", err)
	}
}

func TestPayloadOfALeaseIsTheHandlersOwn(t *testing.T) {
	l, _, _, stop := hinted()
	defer stop()
	ok[*store.Enqueued](t)(l.Enqueue(t.Context(), &store.Enqueue{Jobs: []store.NewJob{{ID: id(1), Name: "n", Queue: "a", Payload: []byte("abc")}}}))
	claim := &store.Claim{Worker: "w", Number: 1, Queues: []store.Quota{{Queue: "a", Most: 1}}, Max: 1, Lease: time.Minute}
	ok[*store.Claimed](t)(l.Claim(t.Context(), claim)).Leases[0].Payload[0] = 'X'
	if got := ok[*store.Claimed](t)(l.Claim(t.Context(), claim)).Leases[0].Payload; string(got) != "abc" {
		t.Fatalf("the repeated claim answers payload %q", got)
	}
}
