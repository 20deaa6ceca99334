package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
		e, err := New(Config{Store: st, Mux: mux, Groups: []Group{{Name: "main", Queues: Strict("default")}}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewClient(ClientConfig{Store: st}).Enqueue(t.Context(), "job", nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		time.Sleep(10 * time.Second)
		jumped := time.Now()
		e.hosts[0].box.post(func(h *host) { h.node.Fold.Wall -= int64(time.Hour) }) // as if the wall had moved an hour
		time.Sleep(25 * time.Second)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run returned %v", err)
		}
		j, err := st.Job(t.Context(), r.ID)
		if err != nil || j.State != store.Succeeded || j.Attempt != 1 {
			t.Errorf("the job is %v after attempt %d: %v", j.State, j.Attempt, err)
		}
		if len(st.at) != 2 || st.at[0].Sub(jumped) > nap {
			t.Errorf("%d renewals, the first after %v; want one within %v of the jump and one in its turn", len(st.at), st.at[0].Sub(jumped), nap)
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
