package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"backwave/internal/pgtest"
	"backwave/store/postgres"
)

// handIn makes a pool of the caller's.
func handIn(t *testing.T, change func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	change(cfg)
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func TestPoolIsLargeEnoughForItsPumps(t *testing.T) {
	pool := handIn(t, func(c *pgxpool.Config) { c.MaxConns = 9 })
	for _, c := range []struct {
		pumps, completing int
		want              int // connections; 0 = it is large enough
	}{{0, 0, 0}, {1, 0, 0}, {2, 2, 0}, {2, 3, 10}, {3, 0, 10}, {0, 9, 0}, {0, 10, 10}} {
		s, err := postgres.Open(t.Context(), postgres.Config{Pool: pool, Pumps: c.pumps, Completing: c.completing, NoNotify: true})
		if err == nil {
			s.Close()
		}
		var e *postgres.PoolError
		switch {
		case c.want == 0 && err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.want > 0 && (!errors.As(err, &e) || e.Have != 9 || e.Want != c.want):
			t.Errorf("%+v: %v", c, err)
		}
	}
	_, err := postgres.Open(t.Context(), postgres.Config{Pool: pool, Pumps: 3, Completing: 8})
	const text = "postgres: open: the pool has at most 9 connections, but 3 pumps and 8 handlers in InTx need 18: set pool_max_conns=18"
	if err == nil || err.Error() != text {
		t.Errorf("got %v, want %s", err, text)
	}
	if _, err := postgres.Open(t.Context(), postgres.Config{Pool: pool, Pumps: -1}); err == nil {
		t.Error("-1 pumps")
	}
	if _, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres://nobody@127.0.0.1:1/none?pool_max_conns=3", Pumps: 1}); !errors.As(err, new(*postgres.PoolError)) {
		t.Errorf("a pool of the store's own: %v", err)
	}
	want(t, "the pool is the caller's", pool.Ping(t.Context()), nil)
}

// Whoever decided on the level, it is noticed before anything is done.
func TestSessionsAreReadCommitted(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	for _, level := range []string{"serializable", "repeatable read"} {
		pool := handIn(t, func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["default_transaction_isolation"] = level })
		_, err := postgres.Open(t.Context(), postgres.Config{Pool: pool})
		wantIsolation(t, err, level)
		_, err = postgres.Open(t.Context(), postgres.Config{URL: "postgres://nobody@127.0.0.1:1/none", DirectURL: "postgres://nobody@127.0.0.1:1/none?default_transaction_isolation=" + strings.ReplaceAll(level, " ", "%20")})
		wantIsolation(t, err, level)
		hooked := handIn(t, func(c *pgxpool.Config) {
			c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, "set default_transaction_isolation to '"+level+"'")
				return err
			}
		})
		s, err := postgres.Open(t.Context(), postgres.Config{Pool: hooked, Schema: w.named, NoNotify: true})
		want(t, "error", err, nil)
		defer s.Close()
		wantIsolation(t, s.Migrate(t.Context()), level)
		wantIsolation(t, s.CheckSchema(t.Context()), level)
	}
	pool := handIn(t, func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["default_transaction_isolation"] = "READ COMMITTED"
	})
	s, err := postgres.Open(t.Context(), postgres.Config{Pool: pool, Schema: w.named, NoNotify: true})
	want(t, "error", err, nil)
	defer s.Close()
	want(t, "error", s.CheckSchema(t.Context()), nil)
}

func wantIsolation(t *testing.T, err error, have string) {
	t.Helper()
	var e *postgres.IsolationError
	if !errors.As(err, &e) || e.Have != have || !strings.Contains(err.Error(), `must be "read committed"`) {
		t.Errorf("got %v, want an isolation error of %s", err, have)
	}
}
