package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"backwave/internal/pgtest"
	"backwave/store"
	"backwave/store/postgres"
	"backwave/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Harness {
		w := open(t, postgres.Config{Clock: clock, NoNotify: true})
		return storetest.Harness{Store: w.Store, Hold: w.hold, Damage: w.damage, Audits: w.audits}
	})
}

// world is a store in a schema of its own and a stranger with a connection.
type world struct {
	*postgres.Store
	t      testing.TB
	url    string
	schema string // quoted
	named  string
}

func open(t testing.TB, cfg postgres.Config) *world {
	t.Helper()
	cfg.URL = pgtest.URL(t)
	return openAt(t, cfg)
}

// openAt leaves it to cfg on what way to the server the store goes.
func openAt(t testing.TB, cfg postgres.Config) *world {
	t.Helper()
	url, schema := pgtest.Schema(t)
	cfg.Schema = schema
	s, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &world{Store: s, t: t, url: url, schema: pgx.Identifier{schema}.Sanitize(), named: schema}
}

// connect opens a connection of a stranger, who reads and writes by hand.
func (w *world) connect() *pgx.Conn {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	w.exec(conn, "set search_path to "+w.schema)
	return conn
}

func (w *world) exec(conn *pgx.Conn, sql string, args ...any) (rows int64) {
	w.t.Helper()
	tag, err := conn.Exec(w.t.Context(), sql, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	return tag.RowsAffected()
}

// hold parks a transaction that has the job locked, wherever it is, or has
// added it if it is nowhere.
func (w *world) hold(id store.JobID) (release func()) {
	w.t.Helper()
	conn := w.connect()
	w.exec(conn, "begin")
	n := w.exec(conn, "select id from job where id = $1 for update", id.String())
	n += w.exec(conn, "select id from done where id = $1 for update", id.String())
	if n == 0 {
		w.exec(conn, "insert into queue (name) values ('strange') on conflict do nothing")
		w.exec(conn, "insert into job (id, due, enq_at, qid, name) select $1, 0, 0, qid, 'strange' from queue where name = 'strange'", id.String())
	}
	return func() {
		w.t.Helper()
		w.exec(conn, "rollback")
		_ = conn.Close(w.t.Context())
	}
}

// damage puts a note in the place of the payload.
func (w *world) damage(id store.JobID, why string) {
	w.t.Helper()
	conn := w.connect()
	w.exec(conn, "update job set payload = $2 where id = $1", id.String(), append([]byte{0}, why...))
	_ = conn.Close(w.t.Context())
}

func (w *world) audits() []store.Audit {
	w.t.Helper()
	audits, err := w.Audits(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return audits
}
