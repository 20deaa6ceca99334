package postgres_test

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"backwave/internal/pgtest"
	"backwave/store"
	"backwave/store/postgres"
)

func bare(t *testing.T) (*postgres.Store, *world) {
	t.Helper()
	url, schema := pgtest.Schema(t)
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, Schema: schema, NoNotify: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, &world{Store: s, t: t, url: url, schema: pgx.Identifier{schema}.Sanitize(), named: schema}
}

func TestSixteenNodesMigrateAnEmptyDatabaseAtOnce(t *testing.T) {
	url, schema := pgtest.Schema(t)
	var nodes []*postgres.Store
	for range 16 {
		s, err := postgres.Open(t.Context(), postgres.Config{URL: url, Schema: schema, NoNotify: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		nodes = append(nodes, s)
	}
	var wg sync.WaitGroup
	for _, s := range nodes {
		wg.Go(func() {
			if err := s.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
			if err := s.CheckSchema(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// What a DBA is shown is what Migrate does.
func TestMigrationByHand(t *testing.T) {
	s, w := bare(t)
	var e *postgres.SchemaError
	if err := s.CheckSchema(t.Context()); !errors.As(err, &e) || e.Have != 0 {
		t.Fatalf("an empty database: %v", err)
	}
	script, err := s.MigrationSQL()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), w.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil { // finds nothing to do
		t.Fatal(err)
	}
	if _, err := s.Enqueue(t.Context(), &store.Enqueue{Jobs: []store.NewJob{{ID: id(1), Name: "n", Queue: "q"}}}); err != nil {
		t.Fatal(err)
	}
}

// next is the migration of a later program: it adds columns where rows are
// written most, and says which version it still works with.
func (w *world) next(worksWith int) {
	w.t.Helper()
	conn := w.connect()
	w.exec(conn, "begin")
	w.exec(conn, "alter table job add column later int")
	w.exec(conn, "alter table done add column later int not null default 7")
	w.exec(conn, "create table later (id int primary key)")
	w.exec(conn, "insert into version (n, works_with) values ($1, $2)", postgres.SchemaVersion+1, worksWith)
	w.exec(conn, "commit")
}

// A node of the version before goes on while the next one migrates, and one that
// starts afterwards works as well.
func TestANodeOfTheVersionBefore(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1)}, store.NewJob{ID: id(2), Queue: "later"})
	held := w.claim("w", 1, 1, time.Minute)
	w.next(postgres.SchemaVersion)
	want(t, "renewal", w.renew(held[0].Key)[0].Status, store.RenewOK)
	want(t, "report", w.report(store.Success{}, held[0].Key)[0].Status, store.ReportApplied)

	started, err := postgres.Open(t.Context(), postgres.Config{URL: w.url, Schema: w.named, NoNotify: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(started.Close)
	for _, err := range []error{started.CheckSchema(t.Context()), started.Migrate(t.Context()), started.CheckSchema(t.Context())} {
		if err != nil {
			t.Errorf("a node that starts: %v", err)
		}
	}
	w.Store = started
	w.add(store.NewJob{ID: id(3)})
	held = w.claim("w", 2, 1, time.Minute)
	want(t, "report", w.report(store.Discard{Error: "no"}, held[0].Key)[0].Status, store.ReportApplied)
	if _, err := w.Do(t.Context(), &store.Do{Actor: "a", RequestID: "r", Command: store.Requeue{Job: id(3)}}); err != nil {
		t.Error(err)
	}
	want(t, "attempts", len(w.claim("w", 3, 1, time.Minute)), 1)
}

func TestASchemaThatHasLeftThisVersionBehind(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.next(postgres.SchemaVersion + 1)
	for _, err := range []error{w.Migrate(t.Context()), w.CheckSchema(t.Context())} {
		var e *postgres.SchemaError
		if !errors.As(err, &e) || e.Have != postgres.SchemaVersion+1 || e.Needs != postgres.SchemaVersion+1 || !strings.Contains(err.Error(), "update the program") {
			t.Errorf("got %v", err)
		}
	}
}

// Every migration says which nodes go on beside it, and never sends away those
// of the version before.
func TestMigrationsSayWhatTheyWorkWith(t *testing.T) {
	s, _ := bare(t)
	script, err := s.MigrationSQL()
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`\(n, works_with\) values \((\d+), (\d+)\)`).FindAllStringSubmatch(script, -1)
	want(t, "migrations", len(said), postgres.SchemaVersion)
	before := 1
	for i, m := range said {
		oldest, err := strconv.Atoi(m[2])
		if m[1] != strconv.Itoa(i+1) || err != nil || oldest < before || oldest > max(1, i) {
			t.Errorf("migration %d of %d works with version %s, the one before it with %d: want that or more, at most %d", i+1, len(said), m[2], before, max(1, i))
		}
		before = oldest
	}
}
