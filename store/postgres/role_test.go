package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"backwave/store"
	"backwave/store/postgres"
)

// The role of docs/postgres.md can do all that a worker does, and cannot change
// the schema. It comes with a pool of the caller's.
func TestMinimalRoleOnAPoolOfTheCallers(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	hand := w.connect()
	name := "role of " + w.named
	role := pgx.Identifier{name}.Sanitize()
	for _, grant := range []string{
		"create role " + role + " login",
		"grant usage on schema " + w.schema + " to " + role,
		"grant select, insert, update, delete on all tables in schema " + w.schema + " to " + role,
		"grant usage on all sequences in schema " + w.schema + " to " + role,
		"grant execute on all functions in schema " + w.schema + " to " + role,
	} {
		w.exec(hand, grant)
	}
	cfg, err := pgxpool.ParseConfig(w.url)
	want(t, "error", err, nil)
	cfg.ConnConfig.User = name
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	want(t, "error", err, nil)
	defer pool.Close()
	s, err := postgres.Open(t.Context(), postgres.Config{Pool: pool, Schema: w.named})
	want(t, "error", err, nil)
	defer s.Close()
	weak := *w
	weak.Store = s
	want(t, "error", s.CheckSchema(t.Context()), nil)
	weak.add(store.NewJob{ID: id(1)}, store.NewJob{ID: id(2), UniqueKey: "k"}, store.NewJob{ID: id(3)}, store.NewJob{ID: id(3)})
	l := weak.claim("w", 1, 9, time.Minute)
	want(t, "leases", len(l), 3)
	want(t, "renewal", weak.renew(l[0].Key)[0].Status, store.RenewOK)
	want(t, "success", weak.report(store.Success{}, l[0].Key)[0].Status, store.ReportApplied)
	want(t, "failure", weak.report(store.Discard{}, l[1].Key)[0].Status, store.ReportApplied)
	job := &attempt{worker: "w", length: time.Minute, lease: l[2]}
	want(t, "error", s.InTx(t.Context(), job, func(pgx.Tx) error { return nil }), nil)
	for i, c := range []store.Command{store.Requeue{Job: id(2)}, store.Cancel{Job: id(2)}, store.Pause{Queue: "p"}, store.Resume{Queue: "p"}} {
		out, err := s.Do(t.Context(), &store.Do{Actor: "a", RequestID: string(rune('a' + i)), Command: c})
		want(t, "error", err, nil)
		want(t, "result", out.Result, store.DoChanged)
	}
	_, err = s.Sweep(t.Context(), &store.Sweep{Any: true, Max: 9})
	want(t, "error", err, nil)
	_, err = pool.Exec(t.Context(), "drop table "+w.schema+".job")
	want(t, "class of a change of the schema", postgres.Fault(err), store.FaultFatal)
	s.Close()
	want(t, "the pool is the caller's", pool.Ping(t.Context()), nil)
	w.exec(hand, "drop owned by "+role)
	w.exec(hand, "drop role "+role)
}
