package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"backwave/clockx"
	"backwave/store"
)

// InTx runs fn in a transaction that also records the success of job: what fn
// writes through tx, and the success, happen together or not at all, so they
// happen once. fn neither commits nor rolls back, and leaves no savepoint open.
// It may set the output of the job.
//
// The handler returns the error of InTx, if any. It is store.ErrLeaseLost if
// another worker may have the job by now: then nothing was written. When the
// commit was not answered, nobody knows yet; the engine finds out by its report.
//
// From the statement that records the success on, ctx does not matter any more.
// The server cuts off a transaction that stands still, or a statement that runs,
// for longer than the lease.
func (s *Store) InTx(ctx context.Context, job store.Attempt, fn func(pgx.Tx) error) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return wrap("begin "+job.Key().Token().String(), err)
	}
	defer s.rollback(ctx, tx)
	limit := millis(job.LeaseDuration())
	if _, err := tx.Exec(ctx, "select set_config('idle_in_transaction_session_timeout', $1, true), set_config('statement_timeout', $1, true)", limit); err != nil {
		return wrap("begin "+job.Key().Token().String(), err)
	}
	if err := fn(tx); err != nil {
		return err
	}
	own, cancel := clockx.WithTimeout(context.WithoutCancel(ctx), s.timer, operationTimeout(job.LeaseDuration()), context.DeadlineExceeded)
	defer cancel()
	if err := s.Complete(own, tx, job); err != nil {
		return err
	}
	err = tx.Commit(own)
	Settle(job, err)
	return commitError(job, err)
}

// operationTimeout is the engine's default: a sixth of the lease, at most 10 s.
func operationTimeout(lease time.Duration) time.Duration { return min(lease/6, 10*time.Second) }

// Complete records the success of job as the last statement of a transaction
// that the caller owns, has opened at top level, and now commits; Settle then
// tells the engine how that went. A lease that is lost answers
// store.ErrLeaseLost, and inside a savepoint it answers ErrSavepoint: in both
// cases the transaction has been ended by closing its connection, so that
// nothing of it can be committed.
//
// Above READ COMMITTED a renewal since the transaction's snapshot makes the
// server refuse it as a serialization failure (40001); use InTx, or run the
// transaction again.
func (s *Store) Complete(ctx context.Context, tx pgx.Tx, job store.Attempt) error {
	job.Completing()
	_, err := tx.Exec(ctx, s.stmts.complete, s.completion(job)...)
	if err == nil {
		return nil
	}
	// The server has marked the transaction as failed, but a savepoint could
	// still bring the part before it back to life.
	_ = tx.Conn().Close(context.WithoutCancel(ctx))
	_ = tx.Rollback(context.WithoutCancel(ctx))
	job.Completed(store.CompletionRolledBack)
	return completionError(job, err)
}

// CompleteSQL is Complete for a transaction of database/sql, with any driver for
// PostgreSQL.
func (s *Store) CompleteSQL(ctx context.Context, tx *sql.Tx, job store.Attempt) error {
	job.Completing()
	args := s.completion(job)
	args[1] = job.Key().Job.String()
	_, err := tx.ExecContext(ctx, s.stmts.complete, args...)
	if err == nil {
		return nil
	}
	_ = tx.Rollback() // the whole of it, savepoints included
	job.Completed(store.CompletionRolledBack)
	return completionError(job, err)
}

const completeSQL = `select {s}.complete($1::bigint, $2::uuid, $3::text, $4::int, $5::bigint, $6::bytea, $7::text)`

func (s *Store) completion(job store.Attempt) []any {
	key := job.Key()
	return []any{s.now(), pgtype.UUID{Bytes: key.Job, Valid: true}, job.Worker(), key.Attempt, int64(key.Claim), job.Output(), millis(job.LeaseDuration())}
}

func completionError(job store.Attempt, err error) error {
	switch sqlState(err) {
	case "BW001":
		err = store.ErrLeaseLost
	case "BW002":
		err = ErrSavepoint
	}
	return wrap("complete "+job.Key().Token().String(), err)
}

// sqlState returns the SQLSTATE of an error of any driver that tells it.
func sqlState(err error) string {
	if e, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok {
		return e.SQLState()
	}
	return ""
}

// Settle tells the engine how the commit after Complete ended.
func Settle(job store.Attempt, commit error) { job.Completed(completionOf(commit)) }

// completionOf says what a commit's error proves. An error of the server proves
// that nothing was committed, unless it is about to go away: it may have been
// told to between the commit and the answer.
func completionOf(err error) store.Completion {
	if err == nil {
		return store.CompletionCommitted
	}
	if errors.Is(err, pgx.ErrTxCommitRollback) || errors.Is(err, pgx.ErrTxClosed) || errors.Is(err, sql.ErrTxDone) {
		return store.CompletionRolledBack
	}
	state := sqlState(err)
	if state == "" || state[:2] == "57" || state[:2] == "08" {
		return store.CompletionUnknown
	}
	return store.CompletionRolledBack
}

func commitError(job store.Attempt, err error) error {
	if err != nil && completionOf(err) == store.CompletionRolledBack {
		err = fmt.Errorf("%w: %w", ErrNotCommitted, err)
	}
	return wrap("commit "+job.Key().Token().String(), err)
}

var _ interface{ SQLState() string } = (*pgconn.PgError)(nil)
