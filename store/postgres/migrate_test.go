package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

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

func TestNewerSchemaIsRefused(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.exec(w.connect(), "insert into version (n) values ($1)", postgres.SchemaVersion+1)
	for _, err := range []error{w.Migrate(t.Context()), w.CheckSchema(t.Context())} {
		var e *postgres.SchemaError
		if !errors.As(err, &e) || e.Have != postgres.SchemaVersion+1 || !strings.Contains(err.Error(), "update the program") {
			t.Errorf("got %v", err)
		}
	}
}
