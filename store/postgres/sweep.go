package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"backwave/store"
	"backwave/store/rules"
)

// lapsedSQL asks whether there is anything to do: a row of the directory whose
// time has come, or a lease stamped by a clock that stood further ahead.
const lapsedSQL = `
with nw as materialized (select {s}.clock($1) as t)
select nw.t,
  exists (select from {s}.lapse d where d.check_at <= (select t from nw)),
  exists (select from {s}.worker w where w.stamped > nw.t) or exists (select from {s}.lapse d where d.stamped > nw.t)
from nw`

// lapsesSQL locks the rows of the directory whose time has come.
const lapsesSQL = `
select d.did, q.name, d.qid, d.lo_due, d.lo_seq, d.hi_due, d.hi_seq from {s}.lapse d join {s}.queue q on q.qid = d.qid
where d.check_at <= {s}.clock($1) and ($2::bool or q.name = any($3::text[]))
order by d.did for update of d skip locked`

// allLapsesSQL is all of the directory for some queues, unlocked.
const allLapsesSQL = `
select d.did, q.name, d.qid, d.lo_due, d.lo_seq, d.hi_due, d.hi_seq from {s}.lapse d join {s}.queue q on q.qid = d.qid
where $1::bool or q.name = any($2::text[])`

// reachesSQL are the reaches that a statement has as its parameters 2 to 6, and
// inReachSQL is what puts a job into one. A lateral subquery with an offset stays
// what it is: a scan of the claim's index over each reach.
const reachesSQL = `unnest($2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) as r(qid, lo_due, lo_seq, hi_due, hi_seq)`

const inReachSQL = `j.qid = r.qid and (j.due, j.seq) >= (r.lo_due, r.lo_seq) and (j.due, j.seq) <= (r.hi_due, r.hi_seq)`

// mostCandidates bounds how many lapsed leases a sweep looks at. A fleet that
// dies as a whole leaves more behind than one sweep may dispose of, and each of
// the many sweeps it then takes must not look at all of them.
const mostCandidates = 10_000

// disposeSQL locks lapsed leases in the order in which they are to be disposed
// of. Parameters: instant, reaches, queues, maximum, candidates. It is a
// statement after lapsesSQL, so that it sees every lease that a claim has put
// into the reaches. Rows are locked one by one, by their places, so that nothing
// else is read; one that has changed meanwhile has another place, and is passed
// over.
const disposeSQL = `
with nw as materialized (select {s}.clock($1) as t),
c as materialized (
  select l.tid, l.lease_until, l.seq, a.ord, q.name from nw, ` + reachesSQL + ` join {s}.queue q on q.qid = r.qid left join unnest($7::text[]) with ordinality as a(name, ord) on a.name = q.name, lateral (
    select j.ctid as tid, j.lease_until, j.seq from {s}.job j
    where ` + inReachSQL + ` and j.lease_until <= nw.t and (a.ord is not null or j.lease_until + j.lease_for <= nw.t) offset 0) l
  limit $9),
l as materialized (
  select j.*, c.ord from (select * from c order by c.ord nulls last, c.name, c.lease_until, c.seq) c, lateral (
    select j.* from {s}.job j
    where j.ctid = c.tid and j.lease_until <= (select t from nw) and (c.ord is not null or j.lease_until + j.lease_for <= (select t from nw))
    for update skip locked) j
  limit $8)
select ` + jobColumns + `, nw.t from nw cross join l j` + named + ` order by j.ord nulls last, q.name, j.lease_until, j.seq`

// rearmSQL lets rows of the directory look at the next lease in their range to
// end, or drops those without one. Parameters: those rows, and their reaches.
const rearmSQL = `
with l as materialized (
  select r.qid, l.* from ` + reachesSQL + `, lateral (
    select j.worker, j.due, j.seq, j.lease_until from {s}.job j where ` + inReachSQL + ` and j.lease_until is not null offset 0) l),
m as materialized (
  select d.did, min(l.lease_until) as next from {s}.lapse d left join l
    on l.qid = d.qid and l.worker = d.worker and (l.due, l.seq) >= (d.lo_due, d.lo_seq) and (l.due, l.seq) <= (d.hi_due, d.hi_seq)
  where d.did = any($1::bigint[]) group by d.did),
x as (delete from {s}.lapse d using m where d.did = m.did and m.next is null)
update {s}.lapse d set check_at = m.next from m where d.did = m.did and m.next is not null`

// cutSQL shortens leases that run longer than their stamped length from now.
// What is cut gets rows of the directory that look in time. Parameters: instant,
// reaches.
const cutSQL = `
with nw as materialized (select {s}.clock($1) as t),
c as materialized (
  select l.id from nw, ` + reachesSQL + `, lateral (
    select j.id from {s}.job j where ` + inReachSQL + ` and j.lease_until > nw.t + j.lease_for offset 0) l),
l as materialized (
  select j.id from c join {s}.job j on j.id = c.id where j.lease_until > (select t from nw) + j.lease_for
  order by j.id for no key update of j skip locked),
u as (
  update {s}.job j set lease_until = nw.t + j.lease_for from l, nw where j.id = l.id
  returning j.qid, j.worker, j.claim, j.due, j.seq, j.lease_until)
insert into {s}.lapse (check_at, made, stamped, top, worker, qid, lo_due, lo_seq, hi_due, hi_seq)
select min(u.lease_until), nw.t, nw.t, max(u.claim), u.worker, u.qid, min(u.due), min(u.seq), max(u.due), max(u.seq)
from u, nw group by u.worker, u.qid, nw.t`

// Sweep implements store.Leaser. It is one round trip when there is nothing to
// do. It waits for nobody, so its own locks may be in any order.
func (s *Store) Sweep(ctx context.Context, r *store.Sweep) (*store.Swept, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	out := &store.Swept{}
	var lapsed, ahead bool
	err := s.pool.QueryRow(ctx, s.stmts.lapsed, s.now()).Scan(&out.At, &lapsed, &ahead)
	if err == nil && lapsed {
		err = s.dispose(ctx, r, out)
	}
	if err == nil && ahead {
		err = s.cut(ctx, r)
	}
	if err != nil {
		return nil, wrap("sweep", err)
	}
	return out, nil
}

func (s *Store) dispose(ctx context.Context, r *store.Sweep, out *store.Swept) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.rollback(ctx, tx)
	queues := r.Queues
	if queues == nil {
		queues = []string{}
	}
	rows, err := tx.Query(ctx, s.stmts.lapses, s.now(), r.Any, queues)
	if err != nil {
		return err
	}
	dirs, where, err := collectReaches(rows, r)
	if err != nil || len(dirs) == 0 {
		return err
	}
	args := append(append([]any{s.now()}, where.columns()...), queues, r.Max, max(mostCandidates, r.Max))
	if rows, err = tx.Query(ctx, s.stmts.dispose, args...); err != nil {
		return err
	}
	var changed []*row
	var due []string
	defer rows.Close()
	for rows.Next() {
		j, err := scanRow(rows, &out.At)
		if err != nil {
			return err
		}
		out.Disposed = append(out.Disposed, rules.Lapse(&j.Job, out.At))
		changed = append(changed, j)
		if j.State == store.Scheduled && j.Due <= out.At {
			due = append(due, j.Queue)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	var b pgx.Batch
	s.write(&b, changed)
	if len(changed) < r.Max { // else the next sweep, which comes at once, looks there again
		b.Queue(s.stmts.rearm, append([]any{dirs}, where.columns()...)...)
	}
	if err := commit(ctx, tx, &b); err != nil {
		return err
	}
	s.hints.tell(due)
	return nil
}

func (s *Store) cut(ctx context.Context, r *store.Sweep) error {
	rows, err := s.pool.Query(ctx, s.stmts.allLapses, r.Any, r.Queues)
	if err != nil {
		return err
	}
	_, where, err := collectReaches(rows, r)
	if err != nil || len(where) == 0 {
		return err
	}
	_, err = s.pool.Exec(ctx, s.stmts.cut, append([]any{s.now()}, where.columns()...)...)
	return err
}
