package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"backwave/clockx"
	"backwave/store"
	"backwave/store/memory"
)

type bubble struct{}

func (bubble) Now() store.Instant { return store.At(time.Now()) }

// sends notes when renewals are sent.
type sends struct {
	*memory.Locked
	mu sync.Mutex
	at []time.Time
}

func (s *sends) Renew(ctx context.Context, r *store.Renew) (*store.Renewed, error) {
	s.mu.Lock()
	s.at = append(s.at, time.Now())
	s.mu.Unlock()
	return s.Locked.Renew(ctx, r)
}

// leaping is a clock in which something happens, unseen, at an instant: before
// the first reading after it.
type leaping struct {
	clockx.Wall
	at   time.Time
	leap func()
}

func (l *leaping) Now() time.Time {
	now := time.Now()
	if l.leap != nil && !now.Before(l.at) {
		l.leap()
		l.leap = nil
	}
	return now
}

// When the wall clock runs ahead of the monotonic one, a lease that node time
// takes for over is only in doubt: a renewal goes out within a nap, and since
// the store still knows the lease, the handler goes on.
func TestAWallJumpPutsLeasesInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &sends{Locked: memory.NewLocked(memory.New(bubble{}))}
		mux := NewMux()
		Handle(mux, "job", func(ctx context.Context, _ *Job[[]byte]) error {
			time.Sleep(30 * time.Second)
			return context.Cause(ctx)
		})
		clock := &leaping{at: time.Now().Add(10 * time.Second)}
		e, err := New(Config{Store: st, Mux: mux, Clock: clock, Groups: []Group{{Name: "main", Queues: Strict("default"), PollInterval: time.Hour, MaintenanceInterval: time.Hour}}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewClient(ClientConfig{Store: st}).Enqueue(t.Context(), "job", nil)
		if err != nil {
			t.Fatal(err)
		}
		clock.leap = func() { e.hosts[0].node.Fold.Wall -= int64(time.Hour) } // as if the wall had moved an hour
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		time.Sleep(35 * time.Second)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run returned %v", err)
		}
		j, err := st.Job(t.Context(), r.ID)
		if err != nil || j.State != store.Succeeded || j.Attempt != 1 {
			t.Errorf("the job is %v after attempt %d: %v", j.State, j.Attempt, err)
		}
		if len(st.at) != 2 || st.at[0].Sub(clock.at) > nap {
			t.Errorf("%d renewals, the first after %v; want one within %v of the jump and one in its turn", len(st.at), st.at[0].Sub(clock.at), nap)
		}
	})
}

func TestWorkersAreNewForEveryStart(t *testing.T) {
	source := newChance(nil)
	long := string(make([]byte, 63)) + "é"
	a, err := source.worker(long, 1, long, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := source.worker(long, 1, long, 0)
	if err != nil || a == b {
		t.Errorf("two starts are both %q: %v", a, err)
	}
	if err := store.Validate(&store.Renew{Worker: a, Lease: time.Minute}); err != nil {
		t.Errorf("worker %q: %v", a, err)
	}
}
