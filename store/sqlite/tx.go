package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"backwave/store"
	"backwave/store/rules"
)

// Wake tells those who wait for jobs of this process. Call it after the commit,
// any number of times or never: a poll finds the jobs too.
type Wake func()

// Begin begins a transaction on the store's file and takes the write lock at
// once, for EnqueueTx, Complete and statements of the caller. Nobody else can
// write to the file until it ends. A file that is busy for Config.BusyTimeout
// is a *store.TransientError. The transaction is rolled back when ctx ends.
func (s *Store) Begin(ctx context.Context) (tx *sql.Tx, err error) {
	err = s.acquire(ctx, false, s.busy, func() (err error) {
		tx, err = s.db.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		return nil, wrap("begin", err)
	}
	s.gate.leave()
	return tx, nil
}

// EnqueueTx adds jobs in a transaction of the caller on the store's file, of
// Begin or of a connection of his own: if it is rolled back they never were.
// Delays count from this call.
func (s *Store) EnqueueTx(ctx context.Context, tx *sql.Tx, r *store.Enqueue) (*store.Enqueued, Wake, error) {
	if err := store.Validate(r); err != nil {
		return nil, nil, err
	}
	if ctx.Err() != nil {
		return nil, nil, wrap("enqueue in transaction", context.Cause(ctx))
	}
	c, err := s.join(tx)
	if err != nil {
		return nil, nil, wrap("enqueue in transaction", err)
	}
	out, err := c.enqueueAll(r)
	if err != nil {
		return nil, nil, wrap("enqueue in transaction", err)
	}
	return out, func() { s.hint(c.woken) }, nil
}

// InTx runs fn in a transaction on the store's file and records the attempt's
// success as its last statement: what fn wrote there and the success are kept
// together or not at all. If the lease is lost, before fn or after it, nothing
// is kept and the error is store.ErrLeaseLost. An error of fn is returned as it
// is, and nothing is kept either. fn must not end the transaction.
//
// The transaction has the file's only write lock from before fn until its end,
// so fn must be far shorter than the lease: meanwhile every other call on the
// file is busy, renewals included. InTx waits for the lock for at most a
// quarter of the lease.
func (s *Store) InTx(ctx context.Context, job store.Attempt, fn func(tx *sql.Tx) error) error {
	op := fmt.Sprintf("transaction of %v", job.Key())
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return wrap(op, err)
	}
	var tx *sql.Tx
	kept := false
	defer func() {
		if !kept {
			undo(conn, tx) // whatever fn left behind, a panic included
		}
		conn.Close() //nolint:errcheck // it goes back to the pool, or is closed already
	}()
	err = s.acquire(ctx, false, job.LeaseDuration()/4, func() (err error) {
		tx, err = conn.BeginTx(context.WithoutCancel(ctx), nil)
		return err
	})
	if err != nil {
		return wrap(op, err)
	}
	s.gate.leave()
	if err := s.held(tx, job); err != nil {
		return wrap(op, err)
	}
	if err := fn(tx); err != nil {
		return err
	}
	job.Completing()
	if err := s.complete(tx, job); err != nil {
		undo(conn, tx)
		job.Completed(store.CompletionRolledBack)
		return wrap(op, err)
	}
	if err := tx.Commit(); err != nil {
		undo(conn, tx)
		how := s.howEnded(ctx, job)
		job.Completed(how)
		if how == store.CompletionCommitted {
			return nil
		}
		return wrap(op, fmt.Errorf("commit: %w", err))
	}
	kept = true
	job.Completed(store.CompletionCommitted)
	return nil
}

// undo rolls back, if need be by closing the connection.
func undo(conn *sql.Conn, tx *sql.Tx) {
	if tx != nil {
		tx.Rollback() //nolint:errcheck // SQLite rolls back when the connection is closed
	}
	discard(conn)
}

// Complete records the attempt's success in a transaction of the caller on the
// store's file. Call it last, and not within a savepoint, which could take it
// back alone. Whatever error it returns, it has ended the transaction: nothing
// can commit any of it. store.ErrLeaseLost says that the lease was lost. The
// caller commits, and may tell job.Completed how that went.
func (s *Store) Complete(ctx context.Context, tx *sql.Tx, job store.Attempt) error {
	err := context.Cause(ctx)
	if err == nil {
		job.Completing()
		err = s.complete(tx, job)
	}
	if err == nil {
		return nil
	}
	how := store.CompletionRolledBack
	if end := tx.Rollback(); end != nil && !errors.Is(end, sql.ErrTxDone) {
		how, err = store.CompletionUnknown, errors.Join(err, end)
	}
	job.Completed(how)
	return wrap(fmt.Sprintf("complete %v", job.Key()), err)
}

// join makes a call of the caller's transaction. It takes the write lock, if
// that is not taken yet, before it reads the clock.
func (s *Store) join(tx *sql.Tx) (c *call, err error) {
	c = &call{session: onTx(tx)}
	if _, err := c.exec(`UPDATE backwave_schema SET version = version WHERE version < 0`); err != nil {
		return nil, err
	}
	c.now, err = s.read(c.session)
	return c, err
}

// held looks at the fence before the handler does anything.
func (s *Store) held(tx *sql.Tx, job store.Attempt) error {
	c, err := s.join(tx)
	if err != nil {
		return err
	}
	j, err := c.job(job.Key().Job)
	if err == nil && (j == nil || !rules.Holds(j, job.Worker(), job.Key(), c.now)) {
		return store.ErrLeaseLost
	}
	return err
}

// complete writes the fenced success.
func (s *Store) complete(tx *sql.Tx, job store.Attempt) error {
	c, err := s.join(tx)
	if err != nil {
		return err
	}
	j, err := c.job(job.Key().Job)
	if err != nil {
		return err
	}
	if j == nil {
		return store.ErrLeaseLost
	}
	switch a := rules.Report(j, job.Worker(), &store.ReportRow{Key: job.Key(), Outcome: store.Success{Output: job.Output()}}, c.now); {
	case a.Status == store.ReportRejected:
		return errors.New(a.Reason)
	case a.Status != store.ReportApplied:
		return store.ErrLeaseLost // also if it ended before: its effects must not happen twice
	}
	return c.settle(j)
}

// howEnded finds out what became of a commit that answered an error.
func (s *Store) howEnded(ctx context.Context, job store.Attempt) store.Completion {
	j, err := s.Job(context.WithoutCancel(ctx), job.Key().Job)
	if err != nil {
		return store.CompletionUnknown
	}
	if kind, ok := rules.Reported(j, job.Worker(), job.Key()); ok && kind == store.EndSuccess {
		return store.CompletionCommitted
	}
	return store.CompletionRolledBack
}
