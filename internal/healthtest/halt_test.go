//go:build unix

package healthtest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"backwave/engine"
	"backwave/internal/pgtest"
	"backwave/store"
)

// split sends the calls for one queue, and all that follows from them, to a
// store of its own.
type split struct {
	store.Leaser // for the other queues
	queue        string
	to           store.Leaser
	workers      sync.Map // those that claim from queue
}

func (s *split) of(worker string) store.Leaser {
	if _, ok := s.workers.Load(worker); ok {
		return s.to
	}
	return s.Leaser
}

func (s *split) Claim(ctx context.Context, r *store.Claim) (*store.Claimed, error) {
	if r.Queues[0].Queue == s.queue {
		s.workers.Store(r.Worker, nil)
	}
	return s.of(r.Worker).Claim(ctx, r)
}

func (s *split) Renew(ctx context.Context, r *store.Renew) (*store.Renewed, error) {
	return s.of(r.Worker).Renew(ctx, r)
}

func (s *split) Report(ctx context.Context, r *store.Report) (*store.Reported, error) {
	return s.of(r.Worker).Report(ctx, r)
}

func (s *split) Sweep(ctx context.Context, r *store.Sweep) (*store.Swept, error) {
	if r.Queues[0] == s.queue {
		return s.to.Sweep(ctx, r)
	}
	return s.Leaser.Sweep(ctx, r)
}

// Two groups of one process; the tables of one are damaged by hand.
func TestColumnDroppedByHand(t *testing.T) {
	url, schema := pgtest.Schema(t)
	hurt := open(t, url, schema)
	url, other := pgtest.Schema(t)
	whole := open(t, url, other)
	mux := engine.NewMux()
	started, halted := make(chan struct{}), make(chan error, 1)
	mux.HandleRaw("long", func(ctx context.Context, _ *engine.RawJob) error {
		close(started)
		<-ctx.Done()
		halted <- context.Cause(ctx)
		return nil
	})
	var ran runs
	mux.HandleRaw("short", func(_ context.Context, job *engine.RawJob) error {
		ran.add(job.ID)
		return nil
	})
	main, sibling := patient, patient
	main.Name, main.Queues = "main", engine.Strict("hurt")
	sibling.Name = "sibling"
	r := run(t, &split{Leaser: whole, queue: "hurt", to: hurt}, mux, main, sibling)
	id := add(t, hurt, "long", "hurt")
	<-started
	load := start(t, whole, "short")
	r.wantHealth(http.StatusOK, fine)

	drop(t, url, schema)
	eventually(t, "the group fail-stops", func() bool { return !r.Health().Healthy() })
	const text = "postgres: claim: ERROR: column j.payload does not exist (SQLSTATE 42703)"
	r.wantHealth(http.StatusServiceUnavailable, "Worker Group fail-stop: main (*pgconn.PgError: "+text+")")
	if err := <-halted; !errors.Is(err, engine.ErrHalted) {
		t.Errorf("the handler of the group was told %v", err)
	}

	before := ran.len()
	eventually(t, "the sibling lives on", func() bool { return ran.len() >= before+200 })
	ids := load.stop()
	idle(t, whole)
	for _, id := range ids {
		if j := job(t, whole, id); j.State != store.Succeeded || j.Attempt != 1 {
			t.Errorf("job %v of the sibling is %v in attempt %d", id, j.State, j.Attempt)
		}
	}
	r.wantHealth(http.StatusServiceUnavailable, "Worker Group fail-stop: main (*pgconn.PgError: "+text+")")
	if err := r.stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if lines := r.log.of(engine.LevelCritical, ""); len(lines) != 1 || !strings.Contains(lines[0], "msg=halted") || !strings.Contains(lines[0], text) {
		t.Errorf("logged as critical: %q", lines)
	}
	leftAlone(t, url, schema, id)
}

// drop removes a column that claims need, and nothing else that the group does
// while its job runs.
func drop(t *testing.T, url, schema string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), "alter table "+pgx.Identifier{schema, "job"}.Sanitize()+" drop column payload"); err != nil {
		t.Fatal(err)
	}
}

// leftAlone says that the halted group has recorded nothing more: the job is
// leased still.
func leftAlone(t *testing.T, url, schema string, id store.JobID) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var leased bool
	err = conn.QueryRow(t.Context(), "select lease_until is not null from "+pgx.Identifier{schema, "job"}.Sanitize()+" where id = $1", id.String()).Scan(&leased)
	if err != nil || !leased {
		t.Errorf("the job of the halted group is leased: %v, %v", leased, err)
	}
}
