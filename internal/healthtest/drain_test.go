//go:build unix

package healthtest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"backwave/engine"
	"backwave/internal/pgtest"
	"backwave/store"
)

// brief is a group whose leases lapse soon after it has gone.
var brief = engine.Group{
	Name: "g", Queues: engine.Strict("q"), PoolSize: 8, LeaseDuration: 3 * time.Second,
	PollInterval: 20 * time.Millisecond, MaintenanceInterval: 100 * time.Millisecond,
}

// What a drain interrupts is left to the leases, and another process does it
// over; what had ended before is recorded.
func TestDrainUnderLoad(t *testing.T) {
	url, schema := pgtest.Schema(t)
	s := open(t, url, schema)
	var first, second runs
	var interrupted sync.Map
	mux := engine.NewMux()
	mux.HandleRaw("short", func(_ context.Context, job *engine.RawJob) error {
		first.add(job.ID)
		return nil
	})
	mux.HandleRaw("long", func(ctx context.Context, job *engine.RawJob) error {
		first.add(job.ID)
		<-ctx.Done()
		if errors.Is(context.Cause(ctx), engine.ErrDraining) {
			interrupted.Store(job.ID, nil)
		}
		return nil // not recorded
	})
	r := run(t, s, mux, brief)
	ids := []store.JobID{add(t, s, "long", "q"), add(t, s, "long", "q"), add(t, s, "long", "q")}
	load := start(t, s, "short")
	eventually(t, "many jobs have run, and the long ones run", func() bool {
		return first.len() >= 200 && first.count(ids[0])+first.count(ids[1])+first.count(ids[2]) == 3
	})
	r.stopClean() // while jobs keep coming
	r.wantHealth(http.StatusOK, fine)
	if lines := r.log.of(slog.LevelWarn, ""); len(lines) > 0 {
		t.Errorf("warnings of a drain: %q", lines)
	}
	for _, id := range ids {
		if _, ok := interrupted.Load(id); !ok {
			t.Errorf("the handler of %v was not interrupted", id)
		}
		if j := job(t, s, id); j.State != store.Executing || len(j.Ends) != 0 {
			t.Errorf("job %v is %v with %v right after the drain", id, j.State, j.Ends)
		}
	}

	peer := open(t, url, schema)
	again := engine.NewMux()
	again.HandleRaw("short", func(_ context.Context, job *engine.RawJob) error { second.add(job.ID); return nil })
	again.HandleRaw("long", func(_ context.Context, job *engine.RawJob) error { second.add(job.ID); return nil })
	p := run(t, peer, again, brief)
	ids = append(ids, load.stop()...)
	idle(t, peer)
	p.stopClean()
	for i, id := range ids {
		j := job(t, peer, id)
		if j.State != store.Succeeded || j.Ends[len(j.Ends)-1].Kind != store.EndSuccess {
			t.Errorf("job %v is %v with %v", id, j.State, j.Ends)
		}
		if i < 3 && (len(j.Ends) != 2 || j.Ends[0].Kind != store.EndLapse || first.count(id) != 1 || second.count(id) != 1) {
			t.Errorf("long job %v ran %d and %d times and has %v", id, first.count(id), second.count(id), j.Ends)
		}
		if j.EndsCut+len(j.Ends) != j.Attempt {
			t.Errorf("job %v has %d attempts and %v", id, j.Attempt, j.Ends)
		}
	}
	t.Logf("%d jobs, %d of them begun before the drain, %d after", len(ids), first.len(), second.len())
}

func TestHandlerThatNeverReturns(t *testing.T) {
	url, schema := pgtest.Schema(t)
	s := open(t, url, schema)
	started, never := make(chan store.Token, 1), make(chan struct{})
	t.Cleanup(func() { close(never) })
	mux := engine.NewMux()
	mux.HandleRaw("deaf", func(_ context.Context, job *engine.RawJob) error {
		started <- job.Token()
		<-never
		return nil
	})
	listens := make(chan struct{})
	mux.HandleRaw("listens", func(ctx context.Context, _ *engine.RawJob) error {
		close(listens)
		<-ctx.Done()
		return nil
	})
	id := add(t, s, "deaf", "q")
	add(t, s, "listens", "q")
	r := run(t, s, mux, brief)
	token := <-started
	<-listens
	err := r.stop()
	var left *engine.AbandonedError
	if !errors.As(err, &left) || len(left.Jobs) != 1 {
		t.Fatalf("Run: %v", err)
	}
	j := job(t, s, id)
	want := engine.AbandonedJob{Token: token, Name: "deaf", Queue: "q", Group: "g", Worker: j.Worker}
	if left.Jobs[0] != want || token.Job != id {
		t.Errorf("abandoned was %+v, want %+v", left.Jobs[0], want)
	}
	if j.State != store.Executing {
		t.Errorf("its job is %v", j.State)
	}
}
