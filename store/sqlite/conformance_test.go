package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"backwave/store"
	"backwave/store/sqlite"
	"backwave/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Harness {
		path := filepath.Join(t.TempDir(), "jobs.db")
		s := open(t, sqlite.Config{Path: path, Clock: clock.Now, BusyTimeout: 4 * time.Millisecond})
		other := raw(t, path)
		return storetest.Harness{
			Store:    s,
			HoldsAll: true,
			Hold: func(store.JobID) func() {
				tx := must(other.Begin())
				mustExec(t, tx, `UPDATE backwave_schema SET version = version`)
				return func() { check(t, tx.Rollback()) }
			},
			Damage: func(id store.JobID, why string) {
				mustExec(t, other, `UPDATE backwave_job SET ends = ?2 WHERE id = ?1`, id[:], []byte(why))
			},
			Audits: func() []store.Audit { return must(s.Audits(t.Context())) },
		}
	})
}

func open(t testing.TB, c sqlite.Config) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

// raw opens the file as somebody else would.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db := must(sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(5000)"))
	t.Cleanup(func() { check(t, db.Close()) })
	return db
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

type execer interface {
	Exec(query string, args ...any) (sql.Result, error)
}

func mustExec(t testing.TB, on execer, query string, args ...any) {
	t.Helper()
	if _, err := on.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}
