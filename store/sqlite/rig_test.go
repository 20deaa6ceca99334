package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"backwave/store"
	"backwave/store/sqlite"
)

const start store.Instant = 1_767_225_600_000_000

// world is a store on virtual time, and a second connection to its file.
type world struct {
	*testing.T
	path  string
	now   store.Instant
	s     *sqlite.Store
	other *sql.DB
	made  uint64
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, path: filepath.Join(t.TempDir(), "jobs.db"), now: start}
	w.s = open(t, sqlite.Config{Path: w.path, BusyTimeout: 4 * time.Millisecond, Clock: func() store.Instant { return w.now }})
	w.other = raw(t, w.path)
	return w
}

func (w *world) job() store.NewJob {
	w.made++
	return store.NewJob{ID: store.NewJobID(1_767_225_600_000, 1, w.made), Name: "work", Queue: "q", Payload: []byte("p")}
}

// add enqueues n jobs.
func (w *world) add(n int) (ids []store.JobID) {
	w.Helper()
	var r store.Enqueue
	for range n {
		j := w.job()
		r.Jobs = append(r.Jobs, j)
		ids = append(ids, j.ID)
	}
	for _, a := range must(w.s.Enqueue(w.Context(), &r)).Rows {
		if a.Status != store.EnqueueAdded {
			w.Fatalf("enqueue: %v", a)
		}
	}
	return ids
}

// take claims all that is due under a worker of its own.
func (w *world) take(worker string) []store.Lease {
	w.Helper()
	return must(w.s.Claim(w.Context(), &store.Claim{Worker: worker, Number: 1, Queues: []store.Quota{{Queue: "q", Most: 99}}, Max: 99, Lease: time.Minute})).Leases
}

func (w *world) read(id store.JobID) *store.Job {
	w.Helper()
	return must(w.s.Job(w.Context(), id))
}

func (w *world) wantState(id store.JobID, want store.State) {
	w.Helper()
	if got := w.read(id).State; got != want {
		w.Errorf("job %v is %v, want %v", id, got, want)
	}
}

func (w *world) wantFault(err error, want store.Fault) {
	w.Helper()
	if err == nil || store.FaultOf(err) != want {
		w.Errorf("got %v of class %v, want class %v", err, store.FaultOf(err), want)
	}
}

// effects counts the rows of the application's table.
func (w *world) effects() (n int) {
	w.Helper()
	check(w, w.other.QueryRow(`SELECT count(*) FROM effect`).Scan(&n))
	return n
}
