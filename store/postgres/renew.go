package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"backwave/store"
)

// renewSQL prolongs leases. Parameters: instant, worker, length, jobs, attempts,
// claim numbers, progress, whether there is any; in order of the jobs' ids. The
// clock is read when all rows are had, and only then is judged who lives. A
// lease that ends earlier than before gets a row of the directory of its own,
// since the one that covers it may look too late.
//
// Its answer has a row for each that was asked: what it is now, or else whether
// the job is in the hot table at all.
const renewSQL = `
with w as materialized (select wid from {s}.worker where name = $2),
r as materialized (
  select * from unnest($4::uuid[], $5::int[], $6::bigint[], $7::bytea[], $8::bool[]) with ordinality as r(id, attempt, claim, progress, carried, ord)),
l as materialized (
  select r.ord, r.claim, r.progress, r.carried, j.ctid as tid, j.lease_until,
    j.worker = (select wid from w) and j.attempt = r.attempt and j.claim = r.claim as mine
  from r join {s}.job j on j.id = r.id for no key update of j skip locked),
nw as materialized (select {s}.clock($1) as t from (select count(*) from l) n),
u as (
  update {s}.job j set lease_until = nw.t + $3::bigint, lease_for = $3::bigint, progress = case when l.carried then l.progress else j.progress end
  from l, nw where j.ctid = l.tid and l.mine and l.lease_until > nw.t
  returning l.ord, l.claim, j.cancel, j.qid, j.due, j.seq, l.lease_until > j.lease_until as earlier),
s as (update {s}.worker w set stamped = nw.t from nw where w.name = $2 and w.stamped < nw.t and exists (select from u)),
i as (
  insert into {s}.lapse (check_at, made, stamped, top, worker, qid, lo_due, lo_seq, hi_due, hi_seq)
  select nw.t + $3::bigint, nw.t, nw.t, max(u.claim), w.wid, u.qid, min(u.due), min(u.seq), max(u.due), max(u.seq)
  from u, w, nw where u.earlier group by u.qid, w.wid, nw.t)
select nw.t, a.ord, a.renewed, a.cancel, a.locked, a.there from nw, (
  select u.ord, true as renewed, u.cancel, true as locked, true as there from u
  union all
  select l.ord, false, null, true, true from l where l.ord not in (select ord from u)
  union all
  select r.ord, false, null, false, exists (select from {s}.job j where j.id = r.id) from r where r.ord not in (select ord from l)) a`

// finishedSQL locks finished jobs, as far as nobody else has.
const finishedSQL = `
select d.id, l.id is not null from {s}.done d left join (
  select id from {s}.done where id = any($1::uuid[]) for key share skip locked) l on l.id = d.id
where d.id = any($1::uuid[])`

// Renew implements store.Leaser. It is one round trip on a connection that
// nothing but renewals uses, unless rows are held or gone.
func (s *Store) Renew(ctx context.Context, r *store.Renew) (*store.Renewed, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	out := &store.Renewed{}
	if len(r.Rows) > 0 {
		out.Rows = make([]store.RenewAnswer, len(r.Rows))
	}
	n := len(r.Rows)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return r.Rows[a].Key.Job.Compare(r.Rows[b].Key.Job) })
	attempts, claims, progress, carried := make([]int32, n), make([]int64, n), make([][]byte, n), make([]bool, n)
	for k, i := range order {
		attempts[k], claims[k] = int32(r.Rows[i].Key.Attempt), int64(r.Rows[i].Key.Claim)
		progress[k], carried[k] = r.Rows[i].Progress, r.Rows[i].Progress != nil
	}
	ids := uuids(order, func(i *int) store.JobID { return r.Rows[*i].Key.Job })
	var gone []int
	var b pgx.Batch
	b.Queue(bounded, millis(lockWait), "0")
	b.Queue(s.sql("select {s}.clock($1)"), s.now()).QueryRow(func(row pgx.Row) error { return row.Scan(&out.At) })
	b.Queue(s.stmts.renew, s.now(), r.Worker, r.Lease.Microseconds(), ids, attempts, claims, progress, carried).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			var ord int
			var renewed, locked, exists bool
			var cancel *bool
			if err := rows.Scan(&out.At, &ord, &renewed, &cancel, &locked, &exists); err != nil {
				return err
			}
			a := &out.Rows[order[ord-1]]
			switch {
			case renewed:
				*a = store.RenewAnswer{Status: store.RenewOK, Cancel: or0(cancel), ExpiresAt: out.At.Add(r.Lease)}
			case locked:
				a.Status = store.RenewLost
			case exists:
				a.Status = store.RenewBusy
			default:
				gone = append(gone, order[ord-1])
			}
		}
		return rows.Err()
	})
	if err := s.renewals.SendBatch(ctx, &b).Close(); err != nil {
		return nil, wrap("renew", err)
	}
	return out, wrap("renew", s.judgeGone(ctx, r, gone, out))
}

// judgeGone tells those that are finished, or nowhere, from those that somebody
// holds among the finished.
func (s *Store) judgeGone(ctx context.Context, r *store.Renew, gone []int, out *store.Renewed) error {
	if len(gone) == 0 {
		return nil
	}
	ids := uuids(gone, func(i *int) store.JobID { return r.Rows[*i].Key.Job })
	rows, err := s.renewals.Query(ctx, s.stmts.finished, ids)
	if err != nil {
		return err
	}
	held := map[store.JobID]bool{}
	var id store.JobID
	var free bool
	if _, err := pgx.ForEachRow(rows, []any{(*[16]byte)(&id), &free}, func() error {
		held[id] = !free
		return nil
	}); err != nil {
		return err
	}
	for _, i := range gone {
		out.Rows[i].Status = store.RenewLost
		if held[r.Rows[i].Key.Job] {
			out.Rows[i].Status = store.RenewBusy
		}
	}
	return nil
}
