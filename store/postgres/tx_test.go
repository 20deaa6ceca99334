package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"

	"backwave/store"
	"backwave/store/postgres"
)

// attempt is a running attempt as the engine shows it.
type attempt struct {
	worker string
	lease  store.Lease
	length time.Duration
	output []byte
	told   []string
}

func (a *attempt) Key() store.LeaseKey          { return a.lease.Key }
func (a *attempt) Worker() string               { return a.worker }
func (a *attempt) LeaseDuration() time.Duration { return a.length }
func (a *attempt) Output() []byte               { return a.output }
func (a *attempt) Completing()                  { a.told = append(a.told, "completing") }
func (a *attempt) Completed(c store.Completion) {
	a.told = append(a.told, map[store.Completion]string{
		store.CompletionCommitted: "committed", store.CompletionRolledBack: "rolled back", store.CompletionUnknown: "unknown",
	}[c])
}

// effects is a world with a table of its user's and one running attempt.
type effects struct {
	*world
	hand *pgx.Conn
	job  *attempt
}

func effect(t *testing.T, lease time.Duration) *effects {
	t.Helper()
	e := &effects{world: open(t, postgres.Config{NoNotify: true})}
	e.hand = e.connect()
	e.exec(e.hand, "create table effect (what text)")
	e.add(store.NewJob{ID: id(1), Payload: []byte("p")})
	e.job = &attempt{worker: "w", length: lease, lease: e.claim("w", 1, 1, lease)[0], output: []byte("out")}
	return e
}

func (e *effects) write(tx pgx.Tx, what string) error {
	_, err := tx.Exec(e.t.Context(), "insert into "+e.schema+".effect values ($1)", what)
	return err
}

func (e *effects) count() (n int) {
	e.t.Helper()
	if err := e.hand.QueryRow(e.t.Context(), "select count(*) from effect").Scan(&n); err != nil {
		e.t.Fatal(err)
	}
	return n
}

func (e *effects) state() store.State {
	e.t.Helper()
	j, err := e.Job(e.t.Context(), id(1))
	if err != nil {
		e.t.Fatal(err)
	}
	return j.State
}

// displace lets the lease lapse and another worker have the job.
func (e *effects) displace() {
	e.t.Helper()
	e.exec(e.hand, "update job set lease_until = clock(null) - 1, terms = null")
	e.exec(e.hand, "update lapse set check_at = 0")
	out, err := e.Sweep(e.t.Context(), &store.Sweep{Queues: []string{"q"}, Max: 9})
	if err != nil || len(out.Disposed) != 1 {
		e.t.Fatalf("swept %+v, error %v", out, err)
	}
}

func (e *effects) begin() pgx.Tx {
	e.t.Helper()
	conn := e.connect()
	tx, err := conn.Begin(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	return tx
}

func told(t *testing.T, a *attempt, words ...string) {
	t.Helper()
	if len(a.told) != len(words) {
		t.Fatalf("told %v, want %v", a.told, words)
	}
	for i := range words {
		want(t, "told", a.told[i], words[i])
	}
}

func TestEffectsAndSuccessHappenTogether(t *testing.T) {
	e := effect(t, time.Minute)
	if err := e.InTx(t.Context(), e.job, func(tx pgx.Tx) error { return e.write(tx, "x") }); err != nil {
		t.Fatal(err)
	}
	want(t, "effects", e.count(), 1)
	j, err := e.Job(t.Context(), id(1))
	want(t, "error", err, nil)
	want(t, "state", j.State, store.Succeeded)
	want(t, "output", string(j.Output), "out")
	want(t, "ends", len(j.Ends), 1)
	want(t, "kind", j.Ends[0].Kind, store.EndSuccess)
	told(t, e.job, "completing", "committed")
	want(t, "the engine's report", e.report(store.Failure{Error: "completion not committed"}, e.job.Key())[0], store.ReportAnswer{Status: store.ReportAlready, Already: store.EndSuccess})
}

// A cancel that comes after the handler's work must not make its outcome
// unknown.
func TestContextThatEndsBeforeTheCompletion(t *testing.T) {
	e := effect(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	err := e.InTx(ctx, e.job, func(tx pgx.Tx) error {
		defer cancel()
		return e.write(tx, "x")
	})
	want(t, "error", err, nil)
	want(t, "effects", e.count(), 1)
	told(t, e.job, "completing", "committed")
}

func TestHandlerThatFailsLeavesNothing(t *testing.T) {
	e := effect(t, time.Minute)
	bad := errors.New("no")
	err := e.InTx(t.Context(), e.job, func(tx pgx.Tx) error {
		if err := e.write(tx, "x"); err != nil {
			return err
		}
		return bad
	})
	want(t, "error", errors.Is(err, bad), true)
	want(t, "effects", e.count(), 0)
	want(t, "state", e.state(), store.Executing)
	told(t, e.job)
}

func TestDisplacedHandlerLeavesNothing(t *testing.T) {
	e := effect(t, time.Minute)
	err := e.InTx(t.Context(), e.job, func(tx pgx.Tx) error {
		e.displace()
		return e.write(tx, "x")
	})
	want(t, "lost", errors.Is(err, store.ErrLeaseLost), true)
	want(t, "effects", e.count(), 0)
	told(t, e.job, "completing", "rolled back")
}

// The caller ignores the error and commits all the same, at top level and with
// a savepoint to go back to.
func TestDisplacedCompletionCannotBeCommitted(t *testing.T) {
	for _, savepoint := range []bool{false, true} {
		e := effect(t, time.Minute)
		tx := e.begin()
		want(t, "error", e.write(tx, "before"), nil)
		if savepoint {
			if _, err := tx.Exec(t.Context(), "savepoint s"); err != nil {
				t.Fatal(err)
			}
		}
		e.displace()
		err := e.Complete(t.Context(), tx, e.job)
		want(t, "lost", errors.Is(err, store.ErrLeaseLost), true)
		if _, err := tx.Exec(t.Context(), "rollback to savepoint s"); err == nil {
			t.Error("the transaction could be brought back to life")
		}
		if tx.Commit(t.Context()) == nil {
			t.Error("it was committed")
		}
		want(t, "effects", e.count(), 0)
	}
}

func TestCompletionInsideASavepointIsRefused(t *testing.T) {
	e := effect(t, time.Minute)
	tx := e.begin()
	want(t, "error", e.write(tx, "before"), nil)
	nested, err := tx.Begin(t.Context())
	want(t, "error", err, nil)
	err = e.Complete(t.Context(), nested, e.job)
	want(t, "refused", errors.Is(err, postgres.ErrSavepoint), true)
	if tx.Commit(t.Context()) == nil {
		t.Error("it was committed")
	}
	want(t, "effects", e.count(), 0)
	want(t, "state", e.state(), store.Executing)
	told(t, e.job, "completing", "rolled back")
	want(t, "renewal", e.renew(e.job.Key())[0].Status, store.RenewOK)
}

// A savepoint that was released before is none.
func TestCompletionAfterASavepoint(t *testing.T) {
	e := effect(t, time.Minute)
	err := e.InTx(t.Context(), e.job, func(tx pgx.Tx) error {
		return pgx.BeginFunc(t.Context(), tx, func(nested pgx.Tx) error { return e.write(nested, "x") })
	})
	want(t, "error", err, nil)
	want(t, "effects", e.count(), 1)
}

// From the statement on the row lock holds the lease, also past its end: sweep,
// claim and the rest change nothing.
func TestNothingComesBetweenCompletionAndCommit(t *testing.T) {
	e := effect(t, time.Minute)
	e.add(store.NewJob{ID: id(2)})
	other := e.claim("w", 2, 1, time.Minute)[0]
	tx := e.begin()
	want(t, "error", e.write(tx, "x"), nil)
	want(t, "error", e.Complete(t.Context(), tx, e.job), nil)
	renewed := e.renew(e.job.Key(), other.Key)
	want(t, "its renewal", renewed[0].Status, store.RenewBusy)
	want(t, "another renewal", renewed[1].Status, store.RenewOK)
	e.exec(e.hand, "update lapse set check_at = 0")
	out, err := e.Sweep(t.Context(), &store.Sweep{Any: true, Max: 9})
	want(t, "error", err, nil)
	want(t, "swept", len(out.Disposed), 0)
	want(t, "claimed", len(e.claim("v", 1, 9, time.Minute)), 0)
	want(t, "report", e.report(store.Failure{}, e.job.Key())[0].Status, store.ReportBusy)
	done, err := e.Do(t.Context(), &store.Do{Actor: "a", RequestID: "r", Command: store.Cancel{Job: id(1), Force: true}})
	want(t, "error", err, nil)
	want(t, "cancel", done.Result, store.DoBusy)
	err = tx.Commit(t.Context())
	postgres.Settle(e.job, err)
	want(t, "error", err, nil)
	want(t, "state", e.state(), store.Succeeded)
	want(t, "effects", e.count(), 1)
	told(t, e.job, "completing", "committed")
}

// A client that is frozen between statement and commit is cut off by the server
// when its lease is over, and then swept.
func TestFrozenCompletionIsCutOff(t *testing.T) {
	e := effect(t, time.Second)
	tx := e.begin()
	want(t, "error", e.write(tx, "x"), nil)
	want(t, "error", e.Complete(t.Context(), tx, e.job), nil)
	pid := tx.Conn().PgConn().PID()
	for { // the server ends it; the deadline of the test is the bound
		var n int
		if err := e.hand.QueryRow(t.Context(), "select count(*), pg_sleep(0.05) from pg_stat_activity where pid = $1", int32(pid)).Scan(&n, nil); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	err := tx.Commit(context.Background())
	if err == nil {
		t.Fatal("it was committed")
	}
	want(t, "effects", e.count(), 0)
	out, err := e.Sweep(t.Context(), &store.Sweep{Queues: []string{"q"}, Max: 9})
	want(t, "error", err, nil)
	want(t, "swept", len(out.Disposed), 1)
}

// A constraint that is checked at the commit fails it: nothing has happened, and
// the attempt goes on.
func TestFailedCommit(t *testing.T) {
	e := effect(t, time.Minute)
	e.exec(e.hand, "alter table effect add constraint one unique (what) deferrable initially deferred")
	e.exec(e.hand, "insert into effect values ('x')")
	err := e.InTx(t.Context(), e.job, func(tx pgx.Tx) error { return e.write(tx, "x") })
	want(t, "not committed", errors.Is(err, postgres.ErrNotCommitted), true)
	want(t, "effects", e.count(), 1)
	want(t, "state", e.state(), store.Executing)
	told(t, e.job, "completing", "rolled back")
	want(t, "report", e.report(store.Failure{Error: err.Error()}, e.job.Key())[0].Status, store.ReportApplied)
}

// The connection dies at the commit: nobody knows, and the engine is told so.
func TestUnknownCommit(t *testing.T) {
	e := effect(t, time.Minute)
	tx := e.begin()
	want(t, "error", e.write(tx, "x"), nil)
	want(t, "error", e.Complete(t.Context(), tx, e.job), nil)
	_ = tx.Conn().Close(t.Context())
	err := tx.Commit(t.Context())
	postgres.Settle(e.job, err)
	told(t, e.job, "completing", "unknown")
}

func TestRenewalUnderASerializableCompletion(t *testing.T) {
	e := effect(t, time.Minute)
	conn := e.connect()
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	want(t, "error", err, nil)
	want(t, "error", e.write(tx, "x"), nil)
	want(t, "renewal", e.renew(e.job.Key())[0].Status, store.RenewOK)
	want(t, "fault", store.FaultOf(e.Complete(t.Context(), tx, e.job)), store.FaultSerialization)
	want(t, "effects", e.count(), 0)
}

func (e *effects) database() *sql.DB {
	db, err := sql.Open("pgx", e.url)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestCompletionByDatabaseSQL(t *testing.T) {
	for _, displaced := range []bool{false, true} {
		e := effect(t, time.Minute)
		tx, err := e.database().BeginTx(t.Context(), nil)
		want(t, "error", err, nil)
		_, err = tx.ExecContext(t.Context(), "insert into "+e.schema+".effect values ('x')")
		want(t, "error", err, nil)
		if displaced {
			e.displace()
		}
		err = e.CompleteSQL(t.Context(), tx, e.job)
		want(t, "lost", errors.Is(err, store.ErrLeaseLost), displaced)
		err = tx.Commit()
		want(t, "committed", err == nil, !displaced)
		want(t, "effects", e.count() == 1, !displaced)
	}
}

func TestEnqueueInTheCallersTransaction(t *testing.T) {
	e := effect(t, time.Minute)
	jobs := &store.Enqueue{Jobs: []store.NewJob{
		{ID: id(1), Name: "n", Queue: "q", Payload: []byte("p")},
		{ID: id(2), Name: "n", Queue: "brand new", Payload: []byte("x"), UniqueKey: "k"},
		{ID: id(3), Name: "n", Queue: "q", UniqueKey: "k"},
	}}
	check := func(out *store.Enqueued, err error) {
		t.Helper()
		want(t, "error", err, nil)
		want(t, "first", out.Rows[0].Status, store.EnqueueDuplicate)
		want(t, "second", out.Rows[1].Status, store.EnqueueAdded)
		want(t, "third", out.Rows[2], store.EnqueueAnswer{Status: store.EnqueueHeld, Holder: id(2)})
	}
	tx := e.begin()
	out, _, err := e.EnqueueTx(t.Context(), tx, jobs)
	check(out, err)
	want(t, "elsewhere", e.add(store.NewJob{ID: id(2), Queue: "brand new"})[0].Status, store.EnqueueBusy)
	want(t, "the queue's others", e.add(store.NewJob{ID: id(4), Queue: "brand new"})[0].Status, store.EnqueueAdded)
	want(t, "error", tx.Rollback(t.Context()), nil)
	_, err = e.Job(t.Context(), id(2))
	want(t, "gone", errors.Is(err, store.ErrNotFound), true)

	var woken []string
	stop := e.Hints(func(queue string) { woken = append(woken, queue) })
	defer stop()
	stx, err := e.database().BeginTx(t.Context(), nil)
	want(t, "error", err, nil)
	out, wake, err := e.EnqueueSQL(t.Context(), stx, jobs)
	check(out, err)
	want(t, "error", stx.Commit(), nil)
	wake()
	want(t, "hints", len(woken), 1)
	j, err := e.Job(t.Context(), id(2))
	want(t, "error", err, nil)
	want(t, "payload", string(j.Payload), "x")
}
