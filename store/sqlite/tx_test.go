package sqlite_test

import (
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"backwave/store"
)

// attempt is a running attempt, and what it was told.
type attempt struct {
	key    store.LeaseKey
	output []byte
	told   []string
}

func (a *attempt) Key() store.LeaseKey          { return a.key }
func (a *attempt) Worker() string               { return "w" }
func (a *attempt) LeaseDuration() time.Duration { return time.Minute }
func (a *attempt) Output() []byte               { return a.output }
func (a *attempt) Completing()                  { a.told = append(a.told, "completing") }
func (a *attempt) Completed(c store.Completion) {
	a.told = append(a.told, map[store.Completion]string{store.CompletionCommitted: "committed", store.CompletionRolledBack: "rolled back", store.CompletionUnknown: "unknown"}[c])
}

func (a *attempt) wantTold(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(a.told, want) {
		t.Errorf("the attempt was told %q, want %q", a.told, want)
	}
}

// running is a world with one running attempt and a table of the application.
func running(t *testing.T) (*world, *attempt) {
	w := newWorld(t)
	mustExec(t, w.other, `CREATE TABLE effect (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES effect DEFERRABLE INITIALLY DEFERRED)`)
	w.add(1)
	return w, &attempt{key: w.take("w")[0].Key, output: []byte("done")}
}

func effect(tx *sql.Tx) error {
	_, err := tx.Exec(`INSERT INTO effect (parent) VALUES (NULL)`)
	return err
}

// wantLost checks that nothing is left of a transaction and that its job can
// go on elsewhere.
func (w *world) wantLost(err error, a *attempt) {
	w.Helper()
	if !errors.Is(err, store.ErrLeaseLost) {
		w.Errorf("got %v, want that the lease is lost", err)
	}
	if n := w.effects(); n != 0 {
		w.Errorf("%d effects survived", n)
	}
	w.wantState(a.key.Job, store.Executing)
	if got := must(w.s.Sweep(w.Context(), &store.Sweep{Queues: []string{"q"}, Max: 9})); len(got.Disposed) != 1 {
		w.Errorf("the sweep disposed of %+v", got)
	}
}

func TestInTxKeepsEffectAndSuccessTogether(t *testing.T) {
	w, a := running(t)
	check(t, w.s.InTx(t.Context(), a, effect))
	a.wantTold(t, "completing", "committed")
	j := w.read(a.key.Job)
	if j.State != store.Succeeded || string(j.Output) != "done" || w.effects() != 1 {
		t.Errorf("job %+v, %d effects", j, w.effects())
	}
	// What the engine reports when the handler returns.
	got := must(w.s.Report(t.Context(), &store.Report{Worker: "w", Rows: []store.ReportRow{{Key: a.key, Outcome: store.Failure{}}}}))
	if got.Rows[0] != (store.ReportAnswer{Status: store.ReportAlready, Already: store.EndSuccess}) {
		t.Errorf("the report is answered %+v", got.Rows[0])
	}
	if err := w.s.InTx(t.Context(), a, effect); !errors.Is(err, store.ErrLeaseLost) || w.effects() != 1 {
		t.Errorf("a second transaction of the attempt: %v", err)
	}
}

func TestInTxOfALeaseThatIsLostBefore(t *testing.T) {
	w, a := running(t)
	w.now = w.now.Add(time.Minute) // exactly the end: over
	w.wantLost(w.s.InTx(t.Context(), a, func(*sql.Tx) error { t.Error("it ran"); return nil }), a)
	a.wantTold(t)
}

func TestInTxOfALeaseThatIsLostMeanwhile(t *testing.T) {
	w, a := running(t)
	err := w.s.InTx(t.Context(), a, func(tx *sql.Tx) error {
		w.now = w.now.Add(time.Minute)
		return effect(tx)
	})
	a.wantTold(t, "completing", "rolled back")
	w.wantLost(err, a)
}

func TestInTxRolledBackByItsFunction(t *testing.T) {
	w, a := running(t)
	mine := errors.New("mine")
	if err := w.s.InTx(t.Context(), a, func(tx *sql.Tx) error { return errors.Join(effect(tx), mine) }); !errors.Is(err, mine) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		check(t, w.s.InTx(t.Context(), a, func(tx *sql.Tx) error { check(t, effect(tx)); panic("mine") }))
	}()
	a.wantTold(t)
	if n := w.effects(); n != 0 {
		t.Errorf("%d effects survived", n)
	}
	check(t, w.s.InTx(t.Context(), a, effect)) // the lock is free again and the lease lives
}

func TestInTxWhoseCommitFails(t *testing.T) {
	w, a := running(t)
	err := w.s.InTx(t.Context(), a, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO effect (parent) VALUES (77)`) // judged at the commit
		return err
	})
	if err == nil || errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("got %v", err)
	}
	a.wantTold(t, "completing", "rolled back")
	if n := w.effects(); n != 0 {
		t.Errorf("%d effects survived", n)
	}
	got := must(w.s.Report(t.Context(), &store.Report{Worker: "w", Rows: []store.ReportRow{{Key: a.key, Outcome: store.Failure{Error: "commit"}}}}))
	if got.Rows[0].Status != store.ReportApplied {
		t.Errorf("the failure is answered %+v", got.Rows[0])
	}
}

func TestInTxWhoseFunctionEndsTheTransaction(t *testing.T) {
	w, a := running(t)
	if err := w.s.InTx(t.Context(), a, func(tx *sql.Tx) error { return tx.Rollback() }); !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("got %v", err)
	}
	a.wantTold(t, "completing", "rolled back")
	w.wantState(a.key.Job, store.Executing)
}

func TestInTxWithTooMuchOutput(t *testing.T) {
	w, a := running(t)
	a.output = make([]byte, store.MaxOutput+1)
	if err := w.s.InTx(t.Context(), a, effect); err == nil || errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("got %v", err)
	}
	if n := w.effects(); n != 0 {
		t.Errorf("%d effects survived", n)
	}
}

func TestEverybodyElseIsBusyMeanwhile(t *testing.T) {
	w, a := running(t)
	check(t, w.s.InTx(t.Context(), a, func(*sql.Tx) error {
		_, err := w.s.Renew(t.Context(), &store.Renew{Worker: "w", Lease: time.Minute, Rows: []store.RenewRow{{Key: a.key}}})
		w.wantFault(err, store.FaultBusy)
		_, err = w.s.Sweep(t.Context(), &store.Sweep{Any: true, Max: 1})
		w.wantFault(err, store.FaultBusy)
		_, err = w.s.Begin(t.Context())
		w.wantFault(err, store.FaultBusy)
		_, err = w.s.Job(t.Context(), a.key.Job) // readers wait for nobody
		return err
	}))
	w.add(1)
}

// Whatever the caller does after a lost completion, nothing survives.
func TestCompleteOfALostLeaseEndsTheTransaction(t *testing.T) {
	for name, then := range map[string]func(tx *sql.Tx) error{
		"commits":            (*sql.Tx).Commit,
		"rolls back":         (*sql.Tx).Rollback,
		"back to savepoint":  func(tx *sql.Tx) error { _, err := tx.Exec(`ROLLBACK TO here`); return errors.Join(err, tx.Commit()) },
		"releases savepoint": func(tx *sql.Tx) error { _, err := tx.Exec(`RELEASE here`); return errors.Join(err, tx.Commit()) },
		"writes again":       func(tx *sql.Tx) error { return errors.Join(effect(tx), tx.Commit()) },
	} {
		for _, begin := range []string{"immediate", "deferred"} {
			t.Run(name+"/"+begin, func(t *testing.T) {
				w, a := running(t)
				db := must(sql.Open("sqlite", "file:"+w.path+"?_txlock="+begin))
				defer db.Close() //nolint:errcheck // a reader of a temporary file
				tx := must(db.Begin())
				check(t, effect(tx))
				mustExec(t, tx, `SAVEPOINT here`)
				check(t, effect(tx))
				w.now = w.now.Add(time.Minute)
				err := w.s.Complete(t.Context(), tx, a)
				a.wantTold(t, "completing", "rolled back")
				if err := then(tx); !errors.Is(err, sql.ErrTxDone) {
					t.Errorf("the caller got %v", err)
				}
				w.wantLost(err, a)
			})
		}
	}
}

// A deferred transaction that has read before somebody else wrote cannot write
// any more: the completion is busy and has ended it.
func TestCompleteInATransactionThatReadTooEarly(t *testing.T) {
	w, a := running(t)
	db := must(sql.Open("sqlite", "file:"+w.path))
	defer db.Close() //nolint:errcheck // a reader of a temporary file
	tx := must(db.Begin())
	var n int
	check(t, tx.QueryRow(`SELECT count(*) FROM effect`).Scan(&n))
	w.add(1)
	w.wantFault(w.s.Complete(t.Context(), tx, a), store.FaultBusy)
	if err := tx.Commit(); !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("the commit got %v", err)
	}
	w.wantState(a.key.Job, store.Executing)
}

func TestCompleteCommittedByItsCaller(t *testing.T) {
	w, a := running(t)
	tx := must(w.s.Begin(t.Context()))
	check(t, effect(tx))
	check(t, w.s.Complete(t.Context(), tx, a))
	check(t, tx.Commit())
	a.wantTold(t, "completing")
	w.wantState(a.key.Job, store.Succeeded)
}

func TestEnqueueInATransactionOfTheCaller(t *testing.T) {
	w := newWorld(t)
	hints := make(chan string, 9)
	stop := w.s.Hints(func(q string) { hints <- q })
	defer stop()
	lost, kept := w.job(), w.job()
	kept.UniqueKey = "k"
	tx := must(w.s.Begin(t.Context()))
	_, _, err := w.s.EnqueueTx(t.Context(), tx, &store.Enqueue{Jobs: []store.NewJob{lost}})
	check(t, err)
	check(t, tx.Rollback())
	if _, err := w.s.Job(t.Context(), lost.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a job that was rolled back: %v", err)
	}

	tx = must(w.other.Begin()) // a connection of the caller
	out, wake, err := w.s.EnqueueTx(t.Context(), tx, &store.Enqueue{Jobs: []store.NewJob{kept, kept}})
	check(t, err)
	if out.At != w.now || out.Rows[0].Status != store.EnqueueAdded || out.Rows[1].Status != store.EnqueueDuplicate {
		t.Errorf("answered %+v", out)
	}
	if _, err := w.s.Job(t.Context(), kept.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a job seen before its commit: %v", err)
	}
	check(t, tx.Commit())
	wake()
	if q := <-hints; q != "q" {
		t.Errorf("hint of %q", q)
	}
	w.wantState(kept.ID, store.Scheduled)

	_, _, err = w.s.EnqueueTx(t.Context(), tx, &store.Enqueue{Jobs: []store.NewJob{{}}})
	if _, ok := errors.AsType[*store.InvalidError](err); !ok {
		t.Errorf("a job without an id: %v", err)
	}
}
