//go:build unix

package pgtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"backwave/internal/pgtest"
)

func TestServerTakesConnectionsAndCommitsForReal(t *testing.T) {
	url, schema := pgtest.Schema(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), "create schema "+pgx.Identifier{schema}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	var version, commit string
	if err := conn.QueryRow(t.Context(), "select current_setting('server_version'), current_setting('synchronous_commit')").Scan(&version, &commit); err != nil {
		t.Fatal(err)
	}
	t.Logf("PostgreSQL %s at %s", version, url)
	if commit != "on" {
		t.Errorf("synchronous_commit is %s", commit)
	}
}

// A server of a test's own hangs, goes on, ends and starts again, and keeps what
// was committed also when it ended as in a crash.
func TestServerOfOnesOwn(t *testing.T) {
	o := pgtest.NewOwn(t)
	conn := connect(t, o.URL())
	if _, err := conn.Exec(t.Context(), "create table kept (n int)"); err != nil {
		t.Fatal(err)
	}
	other := connect(t, o.URL())
	o.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := other.Exec(ctx, "select 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen server answered: %v", err)
	}
	o.Thaw()
	if _, err := conn.Exec(t.Context(), "insert into kept values (1)"); err != nil {
		t.Fatal(err)
	}
	for _, fast := range []bool{true, false} {
		o.Stop(fast)
		if _, err := pgx.Connect(t.Context(), o.URL()); err == nil {
			t.Fatal("a server that was stopped took a connection")
		}
		o.Start()
	}
	var n int
	if err := connect(t, o.URL()).QueryRow(t.Context(), "select n from kept").Scan(&n); err != nil || n != 1 {
		t.Errorf("read %d, %v", n, err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
