package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backwave/store"
	"backwave/store/sqlite"
)

// Each row of the table of faults in docs/sqlite.md.

func (w *world) enqueue(payload int) error {
	j := w.job()
	j.Payload = make([]byte, payload)
	_, err := w.s.Enqueue(w.Context(), &store.Enqueue{Jobs: []store.NewJob{j}})
	return err
}

func TestFaultBusy(t *testing.T) {
	w := newWorld(t)
	tx := must(w.other.Begin())
	w.wantFault(w.enqueue(1), store.FaultBusy)
	check(t, tx.Rollback())
	check(t, w.enqueue(1))
}

func TestFaultOfTheCallersTime(t *testing.T) {
	w := newWorld(t)
	id := w.add(1)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.s.Sweep(ctx, &store.Sweep{Any: true, Max: 1})
	w.wantFault(err, store.FaultTimeout)
	_, err = w.s.Job(ctx, id)
	w.wantFault(err, store.FaultTimeout)
	_, err = w.s.Begin(ctx)
	w.wantFault(err, store.FaultTimeout)
	check(t, w.enqueue(1))
}

// A call that nobody waits for any more is rolled back and leaves no lock.
func TestACallThatIsGivenUpHalfWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	ctx, cancel := context.WithCancel(t.Context())
	s := open(t, sqlite.Config{Path: path, Clock: func() store.Instant { cancel(); return start }})
	w := &world{T: t, s: s}
	_, err := s.Enqueue(ctx, &store.Enqueue{Jobs: []store.NewJob{w.job()}})
	w.wantFault(err, store.FaultTimeout)
	mustExec(t, raw(t, path), `UPDATE backwave_schema SET version = version`)
	if n := must(s.Unfinished(t.Context(), []string{"q"})); n != 0 {
		t.Errorf("%d jobs were added", n)
	}
	check(t, w.enqueue(1))
}

func TestFaultReadOnly(t *testing.T) {
	w := newWorld(t)
	check(t, w.s.OnWriter(t.Context(), `PRAGMA query_only = ON`))
	w.wantFault(w.enqueue(1), store.FaultFatal)
	check(t, w.enqueue(1)) // on a fresh connection
}

func TestFaultDiskFull(t *testing.T) {
	w := newWorld(t)
	id := w.add(1)[0]
	check(t, w.s.OnWriter(t.Context(), `PRAGMA max_page_count = 1`)) // of those that it has, none more
	err := w.enqueue(1 << 20)
	w.wantFault(err, store.FaultFatal)
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("got %v", err)
	}
	w.wantState(id, store.Scheduled)
	check(t, w.enqueue(1<<20))
}

func TestFaultCorrupt(t *testing.T) {
	w := newWorld(t)
	ids := w.add(200)
	mustExec(t, w.other, `PRAGMA wal_checkpoint(TRUNCATE)`)
	var page, size int64
	check(t, w.other.QueryRow(`SELECT rootpage FROM sqlite_schema WHERE name = 'backwave_job'`).Scan(&page))
	check(t, w.other.QueryRow(`PRAGMA page_size`).Scan(&size))
	check(t, w.s.Close())
	f := must(os.OpenFile(w.path, os.O_WRONLY, 0))
	must(f.WriteAt(bytes.Repeat([]byte{0xee}, int(size)), (page-1)*size))
	check(t, f.Close())
	s := open(t, sqlite.Config{Path: w.path})
	_, err := s.Job(t.Context(), ids[0])
	w.wantFault(err, store.FaultFatal)
	_, err = s.Sweep(t.Context(), &store.Sweep{Queues: []string{"q"}, Any: true, Max: 1})
	if err != nil { // an index alone may answer it
		w.wantFault(err, store.FaultFatal)
	}
	_, err = s.Enqueue(t.Context(), &store.Enqueue{Jobs: []store.NewJob{w.job()}})
	w.wantFault(err, store.FaultFatal)
}

func TestFaultSchemaDroppedByHand(t *testing.T) {
	w := newWorld(t)
	check(t, w.enqueue(1))
	mustExec(t, w.other, `ALTER TABLE backwave_job DROP COLUMN progress`)
	_, err := w.s.Renew(t.Context(), &store.Renew{Worker: "w", Lease: store.MinLease, Rows: []store.RenewRow{{}}})
	check(t, err) // there is no such lease, and nothing to write
	mustExec(t, w.other, `DROP TABLE backwave_job`)
	w.wantFault(w.enqueue(1), store.FaultFatal)
	_, err = w.s.Unfinished(t.Context(), []string{"q"})
	w.wantFault(err, store.FaultFatal)
}

func TestOpenRefuses(t *testing.T) {
	w := newWorld(t)
	mustExec(t, w.other, `UPDATE backwave_schema SET version = 99, works_with = 98`)
	_, err := sqlite.Open(t.Context(), sqlite.Config{Path: w.path})
	if e, ok := errors.AsType[*sqlite.SchemaError](err); !ok || *e != (sqlite.SchemaError{Found: 99, Needs: 98, Known: sqlite.SchemaVersion()}) || !strings.Contains(err.Error(), "use a newer program") {
		t.Errorf("tables that have left this version behind: %v", err)
	}
	text := filepath.Join(t.TempDir(), "notes.txt")
	check(t, os.WriteFile(text, bytes.Repeat([]byte("this is no database. "), 500), 0o600))
	for name, c := range map[string]sqlite.Config{
		"no path":           {},
		"no folder":         {Path: filepath.Join(t.TempDir(), "none", "jobs.db")},
		"no database":       {Path: text},
		"negative timeout":  {Path: w.path, BusyTimeout: -1},
		"unknown durable":   {Path: w.path, Synchronous: 9},
		"negative polls":    {Path: w.path, HintPoll: -1},
		"the file is a dir": {Path: t.TempDir()},
	} {
		if _, err := sqlite.Open(t.Context(), c); err == nil || store.FaultOf(err) != store.FaultFatal {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A later program has added to the tables, and says that this one may go on: a
// process that works meanwhile does, and so does one that starts.
func TestAProcessOfTheVersionBefore(t *testing.T) {
	w := newWorld(t)
	ids := w.add(1)
	held := w.take("w")
	mustExec(t, w.other, `ALTER TABLE backwave_job ADD COLUMN later INTEGER NOT NULL DEFAULT 7`)
	mustExec(t, w.other, `CREATE TABLE backwave_later (seq INTEGER PRIMARY KEY) STRICT`)
	mustExec(t, w.other, fmt.Sprintf(`UPDATE backwave_schema SET version = %d, works_with = %d`, sqlite.SchemaVersion()+1, sqlite.SchemaVersion()))
	finish := func(l store.Lease) {
		t.Helper()
		r := must(w.s.Report(t.Context(), &store.Report{Worker: "w", Rows: []store.ReportRow{{Key: l.Key, Outcome: store.Success{}}}}))
		if r.Rows[0].Status != store.ReportApplied {
			t.Errorf("the report is answered %v", r.Rows[0].Status)
		}
	}
	finish(held[0])
	w.wantState(ids[0], store.Succeeded)
	w.s = open(t, sqlite.Config{Path: w.path, Clock: func() store.Instant { return w.now }})
	ids = w.add(1)
	r := must(w.s.Claim(t.Context(), &store.Claim{Worker: "w", Number: 2, Queues: []store.Quota{{Queue: "q", Most: 1}}, Max: 1, Lease: time.Minute}))
	finish(r.Leases[0])
	w.wantState(ids[0], store.Succeeded)
	var version int
	check(t, w.other.QueryRow(`SELECT version FROM backwave_schema`).Scan(&version))
	if version != sqlite.SchemaVersion()+1 {
		t.Errorf("the tables are of version %d now", version)
	}
}

func TestAClosedStoreRefuses(t *testing.T) {
	w := newWorld(t)
	check(t, w.s.Close())
	check(t, w.s.Close())
	w.wantFault(w.enqueue(1), store.FaultFatal)
}

func TestPathsAreTakenLiterally(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?mode=ro#%41'é.db")
	s := open(t, sqlite.Config{Path: path})
	must(s.Enqueue(t.Context(), &store.Enqueue{}))
	must(os.Stat(path))
}

// Sixteen that open a new file at once all find the same tables.
func TestOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	opened := make(chan error)
	for range 16 {
		go func() {
			s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
			if err == nil {
				_, err = s.Sweep(context.Background(), &store.Sweep{Any: true, Max: 1})
				err = errors.Join(err, s.Close())
			}
			opened <- err
		}()
	}
	for range 16 {
		check(t, <-opened)
	}
}
