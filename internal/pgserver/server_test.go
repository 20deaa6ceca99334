//go:build unix

package pgserver_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"backwave/internal/pgserver"
)

func start(t *testing.T) *pgserver.Server {
	t.Helper()
	bin, err := pgserver.Binaries("run this where there is one")
	if err != nil {
		t.Fatal(err)
	}
	s, err := pgserver.Start(bin, "max_connections=33")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func query[T any](t *testing.T, s *pgserver.Server, sql string) (out T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	if out, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[T]); err != nil {
		t.Fatal(err)
	}
	return out
}

// What was committed is there after every process was killed, however often.
func TestCrashKeepsWhatWasCommitted(t *testing.T) {
	s := start(t)
	if got := query[string](t, s, "select current_setting('max_connections')"); got != "33" {
		t.Errorf("max_connections is %s", got)
	}
	conn, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "create table kept (n int)"); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if conn, err = pgx.Connect(t.Context(), s.URL()); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "insert into kept values ($1)", n); err != nil {
			t.Fatal(err)
		}
		if err := s.Crash(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := conn.Ping(t.Context()); err == nil {
			t.Error("a session outlived the server")
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if got := query[int64](t, s, "select count(*) from kept"); got != 3 {
		t.Errorf("%d rows were kept, want 3", got)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	s := start(t)
	data := query[string](t, s, "select current_setting('data_directory')")
	s.Close()
	if _, err := os.Stat(filepath.Dir(data)); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", data, err)
	}
	if _, err := pgx.Connect(t.Context(), s.URL()); err == nil {
		t.Error("it still takes connections")
	}
}
