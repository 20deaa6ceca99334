//go:build unix

package pgtest_test

import (
	"testing"

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
