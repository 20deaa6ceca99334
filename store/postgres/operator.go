package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"backwave/store"
	"backwave/store/rules"
)

const (
	requestSQL  = `select {s}.clock($1), (select result from {s}.request where id = $2)`
	rememberSQL = `insert into {s}.request (id, at, actor, result, command, target, force) values ($1, $2, $3, $4, $5, $6, $7)`
	pauseSQL    = `insert into {s}.queue as q (name, paused) values ($1, true) on conflict (name) do update set paused = true where not q.paused returning 1`
	resumeSQL   = `update {s}.queue set paused = false where name = $1 and paused returning 1`
	auditsSQL   = `select at, actor, id, command, target, force from {s}.request where result = 1 order by n`
)

// holderSQL finds the job that holds a unique key: whether there is one, and
// whether nobody else has locked it.
const holderSQL = `
with l as materialized (select id from {s}.job where ukey = $1 for key share skip locked)
select exists (select from {s}.job where ukey = $1), exists (select from l)`

// reviveSQL moves a finished job back; nothing, if another one has its key.
const reviveSQL = `
with d as (delete from {s}.done where id = $1 returning *)
insert into {s}.job (id, seq, due, enq_at, qid, base, max_attempts, lease_for, claim, worker, attempt, terms, name, ukey, hist, progress, payload)
select id, seq, $2, enq_at, qid, $3, max_attempts, lease_for, claim, worker, attempt, $4, name, ukey, $5, progress, payload from d
on conflict do nothing returning 1`

// The numbers under which the table of requests keeps commands.
const (
	cmdCancel = iota + 1
	cmdRequeue
	cmdPause
	cmdResume
)

// Do implements store.Operator.
func (s *Store) Do(ctx context.Context, r *store.Do) (*store.Done, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	for {
		out, err := s.do(ctx, r)
		if code(err, uniqueViolation) { // the same request, at the same time: its result is there now
			continue
		}
		if code(err, lockNotAvailable) {
			out, err = &store.Done{At: out.At, Result: store.DoBusy}, nil
		}
		if err != nil {
			return nil, wrap("do", err)
		}
		if out.Result == store.DoChanged {
			s.hintCommand(r.Command)
		}
		return out, nil
	}
}

// do is one try. Its answer carries an instant also beside an error of a lock.
func (s *Store) do(ctx context.Context, r *store.Do) (*store.Done, error) {
	out := &store.Done{}
	tx, err := s.begin(ctx)
	if err != nil {
		return out, err
	}
	defer s.rollback(ctx, tx)
	var before *int16
	if err := tx.QueryRow(ctx, s.stmts.request, s.now(), r.RequestID).Scan(&out.At, &before); err != nil {
		return out, err
	}
	if before != nil {
		out.Result, out.Repeat = store.DoResult(*before), true
		return out, nil
	}
	var b pgx.Batch
	switch c := r.Command.(type) {
	case store.Cancel:
		out.Result, err = s.cancel(ctx, tx, c, out, &b)
	case store.Requeue:
		out.Result, err = s.requeue(ctx, tx, c, out)
	case store.Pause:
		out.Result, err = s.turnQueue(ctx, tx, s.stmts.pause, c.Queue)
	case store.Resume:
		out.Result, err = s.turnQueue(ctx, tx, s.stmts.resume, c.Queue)
	}
	if err != nil || out.Result == store.DoBusy {
		return out, err // nothing was decided: the action may be sent again
	}
	kind, target, force := packCommand(r.Command)
	b.Queue(s.stmts.remember, r.RequestID, int64(out.At), r.Actor, int16(out.Result), kind, target, force)
	return out, commit(ctx, tx, &b)
}

func (s *Store) cancel(ctx context.Context, tx pgx.Tx, c store.Cancel, out *store.Done, b *pgx.Batch) (store.DoResult, error) {
	h, err := s.lock(ctx, tx, []pgtype.UUID{{Bytes: c.Job, Valid: true}})
	if err != nil {
		return 0, err
	}
	out.At = h.now
	j := h.rows[c.Job]
	switch {
	case h.held[c.Job]:
		return store.DoBusy, nil
	case j == nil:
		return store.DoNotFound, nil
	}
	result := rules.Cancel(&j.Job, c, h.now)
	if result == store.DoChanged {
		s.write(b, []*row{j})
	}
	return result, nil
}

func (s *Store) requeue(ctx context.Context, tx pgx.Tx, c store.Requeue, out *store.Done) (store.DoResult, error) {
	h, err := s.lock(ctx, tx, []pgtype.UUID{{Bytes: c.Job, Valid: true}})
	if err != nil {
		return 0, err
	}
	out.At = h.now
	j := h.rows[c.Job]
	switch {
	case h.held[c.Job]:
		return store.DoBusy, nil
	case j == nil:
		return store.DoNotFound, nil
	case !rules.MayRequeue(&j.Job):
		return store.DoRefused, nil
	}
	if j.UniqueKey != "" {
		var there, free bool
		if err := tx.QueryRow(ctx, s.stmts.holder, j.UniqueKey).Scan(&there, &free); err != nil {
			return 0, err
		}
		if there && free {
			return store.DoRefused, nil
		} else if there {
			return store.DoBusy, nil
		}
	}
	terms := j.packedTerms() // of the last attempt, before its base is another
	rules.Requeue(&j.Job, h.now)
	tag, err := tx.Exec(ctx, s.stmts.revive, c.Job.String(), int64(j.Due), orNull(int32(j.Base)), terms, j.packHistory(j.Ends, j.LeaseUntil))
	if err != nil {
		return 0, err
	}
	if tag.RowsAffected() == 0 {
		return store.DoBusy, nil // another took the key this very moment
	}
	return store.DoChanged, nil
}

// turnQueue pauses or resumes.
func (s *Store) turnQueue(ctx context.Context, tx pgx.Tx, sql, queue string) (store.DoResult, error) {
	tag, err := tx.Exec(ctx, sql, queue)
	if err == nil && tag.RowsAffected() == 0 {
		return store.DoUnchanged, nil
	}
	return store.DoChanged, err
}

func (s *Store) hintCommand(c store.Command) {
	switch c := c.(type) {
	case store.Resume:
		s.hints.tell([]string{c.Queue})
	case store.Requeue, store.Cancel, store.Pause:
	}
}

func packCommand(c store.Command) (kind int16, target string, force bool) {
	switch c := c.(type) {
	case store.Cancel:
		return cmdCancel, c.Job.String(), c.Force
	case store.Requeue:
		return cmdRequeue, c.Job.String(), false
	case store.Pause:
		return cmdPause, c.Queue, false
	case store.Resume:
		return cmdResume, c.Queue, false
	}
	return 0, "", false
}

func unpackCommand(kind int16, target string, force bool) (store.Command, error) {
	switch kind {
	case cmdCancel, cmdRequeue:
		id, err := store.ParseJobID(target)
		if kind == cmdCancel {
			return store.Cancel{Job: id, Force: force}, err
		}
		return store.Requeue{Job: id}, err
	case cmdPause:
		return store.Pause{Queue: target}, nil
	case cmdResume:
		return store.Resume{Queue: target}, nil
	}
	return nil, fmt.Errorf("unknown command %d", kind)
}

// Audits returns the recorded actions of operators, oldest first.
func (s *Store) Audits(ctx context.Context) ([]store.Audit, error) {
	rows, err := s.pool.Query(ctx, s.stmts.audits)
	if err != nil {
		return nil, wrap("audits", err)
	}
	var audits []store.Audit
	var a store.Audit
	var kind int16
	var target string
	var force bool
	_, err = pgx.ForEachRow(rows, []any{&a.At, &a.Actor, &a.RequestID, &kind, &target, &force}, func() (err error) {
		if a.Command, err = unpackCommand(kind, target, force); err == nil {
			audits = append(audits, a)
		}
		return err
	})
	return audits, wrap("audits", err)
}
