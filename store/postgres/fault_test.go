package postgres_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"backwave/internal/pgtest"
	"backwave/store"
	"backwave/store/postgres"
)

// Each row is provoked on a real server. docs/postgres.md has the same rows.
func TestFaults(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.exec(w.connect(), "create table two (n int primary key, v int)")
	for _, c := range []struct {
		name    string
		state   string // SQLSTATE; "" = not an error of the server
		want    store.Fault
		provoke func(*testing.T, *world) error
	}{
		{"refused", "", store.FaultConnection, refused},
		{"connection lost", "", store.FaultConnection, connectionLost},
		{"read-only", "25006", store.FaultFailover, readOnly},
		{"idle in transaction", "25P03", store.FaultTimeout, idle("idle_in_transaction_session_timeout", "begin")},
		{"idle session", "57P05", store.FaultConnection, idle("idle_session_timeout", "select 1")},
		{"serialization", "40001", store.FaultSerialization, serialization},
		{"deadlock", "40P01", store.FaultDeadlock, deadlock},
		{"too many connections", "53300", store.FaultExhausted, exhausted},
		{"lock timeout", "55P03", store.FaultLockTimeout, lockTimeout},
		{"statement timeout", "57014", store.FaultLockTimeout, by("set statement_timeout = 1", "select pg_sleep(5)")},
		{"terminated", "57P01", store.FaultShutdown, terminated},
		{"caller gave up", "", store.FaultTimeout, gaveUp},
		{"table missing", "42P01", store.FaultFatal, by("select * from gone")},
		{"column missing", "42703", store.FaultFatal, by("select gone from job")},
		{"no privilege", "42501", store.FaultFatal, func(t *testing.T, w *world) error {
			return by("drop role if exists weak", "create role weak", "set role weak", "select * from "+w.schema+".job")(t, w)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.provoke(t, w)
			if err == nil {
				t.Fatal("no error")
			}
			var e *pgconn.PgError
			if c.state != "" && (!errors.As(err, &e) || e.Code != c.state) {
				t.Errorf("got %v, want SQLSTATE %s", err, c.state)
			}
			want(t, "class", postgres.Fault(err), c.want)
		})
	}
}

// by runs statements until one fails.
func by(statements ...string) func(*testing.T, *world) error {
	return func(t *testing.T, w *world) error {
		conn := w.connect()
		for _, sql := range statements {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				return err
			}
		}
		return nil
	}
}

func refused(t *testing.T, _ *world) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close() // nobody listens there now
	s, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres://nobody@" + l.Addr().String() + "/none?sslmode=disable", NoNotify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Sweep(t.Context(), &store.Sweep{Any: true, Max: 1})
	want(t, "class of the call", store.FaultOf(err), store.FaultConnection)
	return err
}

func connectionLost(t *testing.T, w *world) error {
	conn := w.connect()
	_ = conn.PgConn().Conn().Close()
	_, err := conn.Exec(t.Context(), "select 1")
	return err
}

func readOnly(t *testing.T, w *world) error {
	sep := "?"
	if strings.Contains(w.url, "?") {
		sep = "&"
	}
	s, err := postgres.Open(t.Context(), postgres.Config{URL: w.url + sep + "default_transaction_read_only=on", Schema: w.named, NoNotify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Claim(t.Context(), &store.Claim{Worker: "w", Number: 1, Queues: []store.Quota{{Queue: "q", Most: 1}}, Max: 1, Lease: second})
	want(t, "class of the call", store.FaultOf(err), store.FaultFailover)
	return err
}

func idle(setting, then string) func(*testing.T, *world) error {
	return func(t *testing.T, w *world) error {
		conn := w.connect()
		pid := int32(conn.PgConn().PID())
		w.exec(conn, "set "+setting+" = 20")
		w.exec(conn, then)
		other := w.connect()
		for n := 1; n > 0; {
			if err := other.QueryRow(t.Context(), "select count(*), pg_sleep(0.02) from pg_stat_activity where pid = $1", pid).Scan(&n, nil); err != nil {
				t.Fatal(err)
			}
		}
		_, err := conn.Exec(t.Context(), "select 1")
		return err
	}
}

func serialization(t *testing.T, w *world) error {
	conn, other := w.connect(), w.connect()
	w.exec(other, "insert into two values (9, 0)")
	w.exec(conn, "begin isolation level repeatable read")
	w.exec(conn, "select * from two")
	w.exec(other, "update two set v = 1")
	_, err := conn.Exec(t.Context(), "update two set v = 2")
	return err
}

func deadlock(t *testing.T, w *world) error {
	w.exec(w.connect(), "insert into two values (1, 0), (2, 0)")
	a, b := w.connect(), w.connect()
	for _, c := range []*pgx.Conn{a, b} {
		w.exec(c, "set deadlock_timeout = '50ms'")
		w.exec(c, "begin")
	}
	w.exec(a, "update two set v = 1 where n = 1")
	w.exec(b, "update two set v = 1 where n = 2")
	errs := make(chan error, 2)
	go func() {
		_, err := a.Exec(context.WithoutCancel(t.Context()), "update two set v = 1 where n = 2")
		_, _ = a.Exec(context.WithoutCancel(t.Context()), "rollback")
		errs <- err
	}()
	_, err := b.Exec(t.Context(), "update two set v = 1 where n = 1")
	w.exec(b, "rollback")
	if other := <-errs; err == nil {
		err = other
	}
	return err
}

func exhausted(t *testing.T, w *world) error {
	w.exec(w.connect(), "drop role if exists crowded")
	w.exec(w.connect(), "create role crowded login connection limit 0")
	cfg, err := pgx.ParseConfig(w.url)
	if err != nil {
		t.Fatal(err)
	}
	cfg.User = "crowded"
	_, err = pgx.ConnectConfig(t.Context(), cfg)
	return err
}

func lockTimeout(t *testing.T, w *world) error {
	w.add(store.NewJob{ID: id(1)})
	defer w.hold(id(1))()
	return by("set lock_timeout = 1", "update job set due = 0")(t, w)
}

func terminated(t *testing.T, w *world) error {
	conn := w.connect()
	w.exec(w.connect(), "select pg_terminate_backend($1, 5000)", int32(conn.PgConn().PID()))
	_, err := conn.Exec(t.Context(), "select 1")
	return err
}

func gaveUp(t *testing.T, w *world) error {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Enqueue(ctx, &store.Enqueue{Jobs: []store.NewJob{{ID: id(1), Name: "n", Queue: "q"}}})
	want(t, "class of the call", store.FaultOf(err), store.FaultTimeout)
	return err
}

// The server is there again: so is the store, without anybody's help.
func TestStoreOutlivesItsConnections(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1)})
	l := w.claim("w", 1, 1, second)
	w.renew(l[0].Key)
	w.exec(w.connect(), "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'backwave' and pid <> pg_backend_pid()")
	var err error
	for range 20 { // each connection that was killed may cost one call
		if _, err = w.Renew(t.Context(), &store.Renew{Worker: "w", Lease: second, Rows: []store.RenewRow{{Key: l[0].Key}}}); err == nil {
			break
		}
		if !store.FaultOf(err).Transient() {
			t.Fatal(err)
		}
	}
	want(t, "error", err, nil)
}

// A database that was put back to an earlier state knows neither the workers nor
// the queues that this process knows.
func TestRestoreToAnEarlierState(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1)})
	w.claim("w", 1, 1, second)
	w.exec(w.connect(), "truncate job, done, queue, worker, lapse")
	want(t, "enqueue", w.add(store.NewJob{ID: id(1)})[0].Status, store.EnqueueAdded)
	want(t, "leases", len(w.claim("w", 2, 1, second)), 1)
}

func TestURLWithoutSense(t *testing.T) {
	for _, cfg := range []postgres.Config{{}, {URL: "postgres://u:secret@%zz/"}, {URL: "postgres://u:secret@h:port/"}} {
		s, err := postgres.Open(t.Context(), cfg)
		if err == nil {
			s.Close()
			t.Fatalf("%q was opened", cfg.URL)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is in %q", err)
		}
	}
	_ = pgtest.URL(t)
}
