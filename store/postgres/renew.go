package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"backwave/store"
)

// renewSQL prolongs leases. Parameters: instant, worker, length, jobs, attempts,
// claim numbers, progress, whether there is any, in order of the jobs' ids, and
// the bound of its waits. It passes over what does not fit. A row that somebody holds is waited for, as
// long as lock_timeout lets it. If it then has another lease end than this
// statement has seen, or one that is over by now, the statement fails.
//
// A lease that ends earlier than before gets a row of the directory of its own,
// since the one that covers it may look too late. An update cannot return what
// was there before, so each row is read beside it, by its place.
//
// Its answer is the instant, whose leases an operator wants cancelled, and,
// unless all were renewed, which were.
const renewSQL = `
with w as materialized (select wid from {s}.worker where name = $2),
nw as materialized (select {s}.clock($1) as t, set_config('lock_timeout', $9, true)),
u as (
  update {s}.job j set lease_for = $3::bigint, progress = case when r.carried then r.progress else j.progress end,
    lease_until = case when j.lease_until = o.lease_until then (select t from nw) + $3::bigint else {s}.late() end
  from unnest($4::uuid[], $5::int[], $6::bigint[], $7::bytea[], $8::bool[]) with ordinality as r(id, attempt, claim, progress, carried, ord)
    join {s}.job o on o.id = r.id
  where j.ctid = o.ctid and j.worker = (select wid from w) and j.attempt = r.attempt and j.claim = r.claim and j.lease_until > (select t from nw)
  returning r.ord, j.claim, j.cancel, j.qid, j.due, j.seq, o.lease_until as was, o.lease_until > j.lease_until as earlier),
e as materialized (select count(*) as n, min(was) as ends from u),
s as (
  update {s}.worker w set stamped = nw.t from nw where w.name = $2 and w.stamped < nw.t and (select n from e) > 0),
i as (
  insert into {s}.lapse (check_at, made, stamped, top, worker, qid, lo_due, lo_seq, hi_due, hi_seq)
  select nw.t + $3::bigint, nw.t, nw.t, max(u.claim), w.wid, u.qid, min(u.due), min(u.seq), max(u.due), max(u.seq)
  from u, w, nw where u.earlier group by u.qid, w.wid, nw.t)
select case when e.ends <= {s}.clock($1) then {s}.late() else (select t from nw) end,
  array(select ord::int from u where cancel), case when e.n < cardinality($4::uuid[]) then array(select ord::int from u) end
from e`

// renewEachSQL is the same for rows of which one is held, or was passed over: it
// locks what it can first, which costs a record of the log more for each, reads
// the clock when all are had, and only then judges who lives.
//
// Its last parameter is the instant at which other rows of the call have been
// renewed, null if none: an answer has one instant, so those of this statement are
// renewed as of then, if they live now. One that has ended in between is not
// lost as of then, and answers as if it were held.
//
// Its answer has a row for each that was asked: what it is now, or else whether
// the job is in the hot table at all.
const renewEachSQL = `
with w as materialized (select wid from {s}.worker where name = $2),
r as materialized (
  select * from unnest($4::uuid[], $5::int[], $6::bigint[], $7::bytea[], $8::bool[]) with ordinality as r(id, attempt, claim, progress, carried, ord)),
l as materialized (
  select r.ord, r.claim, r.progress, r.carried, j.ctid as tid, j.lease_until,
    j.worker = (select wid from w) and j.attempt = r.attempt and j.claim = r.claim as mine
  from r join {s}.job j on j.id = r.id for no key update of j skip locked),
nw as materialized (select now as t, coalesce($9::bigint, now) as since from (select {s}.clock($1) as now from (select count(*) from l) n) c),
u as (
  update {s}.job j set lease_until = nw.since + $3::bigint, lease_for = $3::bigint, progress = case when l.carried then l.progress else j.progress end
  from l, nw where j.ctid = l.tid and l.mine and l.lease_until > nw.t
  returning l.ord, l.claim, j.cancel, j.qid, j.due, j.seq, l.lease_until > j.lease_until as earlier),
s as (update {s}.worker w set stamped = nw.t from nw where w.name = $2 and w.stamped < nw.t and exists (select from u)),
i as (
  insert into {s}.lapse (check_at, made, stamped, top, worker, qid, lo_due, lo_seq, hi_due, hi_seq)
  select nw.since + $3::bigint, nw.t, nw.t, max(u.claim), w.wid, u.qid, min(u.due), min(u.seq), max(u.due), max(u.seq)
  from u, w, nw where u.earlier group by u.qid, w.wid, nw.t, nw.since)
select nw.since, a.ord, a.renewed, a.cancel, a.locked, a.there from nw, (
  select u.ord, true as renewed, u.cancel, true as locked, true as there from u
  union all
  select l.ord, false, null, not coalesce(l.mine and l.lease_until > $9::bigint, false), true from l where l.ord not in (select ord from u)
  union all
  select r.ord, false, null, false, exists (select from {s}.job j where j.id = r.id) from r where r.ord not in (select ord from l)) a`

// finishedSQL locks finished jobs, as far as nobody else has.
const finishedSQL = `
select d.id, l.id is not null from {s}.done d left join (
  select id from {s}.done where id = any($1::uuid[]) for key share skip locked) l on l.id = d.id
where d.id = any($1::uuid[])`

// renewal is one call: its rows in order of their jobs' ids, by column.
type renewal struct {
	s        *Store
	r        *store.Renew
	out      *store.Renewed
	order    []int // places of the rows in r
	ids      []pgtype.UUID
	attempts []int32
	claims   []int64
	progress [][]byte
	carried  []bool
}

func (s *Store) newRenewal(r *store.Renew, out *store.Renewed, which []int) *renewal {
	n := len(which)
	c := &renewal{
		s: s, r: r, out: out, order: which,
		ids: make([]pgtype.UUID, n), attempts: make([]int32, n), claims: make([]int64, n), progress: make([][]byte, n), carried: make([]bool, n),
	}
	slices.SortFunc(c.order, func(a, b int) int { return r.Rows[a].Key.Job.Compare(r.Rows[b].Key.Job) })
	for k, i := range c.order {
		row := &r.Rows[i]
		c.ids[k] = pgtype.UUID{Bytes: row.Key.Job, Valid: true}
		c.attempts[k], c.claims[k] = int32(row.Key.Attempt), int64(row.Key.Claim)
		c.progress[k], c.carried[k] = row.Progress, row.Progress != nil
	}
	return c
}

func (c *renewal) args() []any {
	return []any{c.s.now(), c.r.Worker, c.r.Lease.Microseconds(), c.ids, c.attempts, c.claims, c.progress, c.carried}
}

// Renew implements store.Leaser. It is one round trip on a connection that
// nothing but renewals uses, unless rows are held, lost or gone.
func (s *Store) Renew(ctx context.Context, r *store.Renew) (*store.Renewed, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	out := &store.Renewed{}
	n := len(r.Rows)
	if n > 0 {
		out.Rows = make([]store.RenewAnswer, n)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	rest, err := s.newRenewal(r, out, all).atOnce(ctx)
	if code(err, lockNotAvailable) || code(err, lateLease) {
		rest, err = all, nil
	}
	if err == nil && len(rest) > 0 {
		var since *int64
		if len(rest) < n {
			since = new(int64(out.At))
		}
		err = s.newRenewal(r, out, rest).each(ctx, since)
	}
	if err != nil {
		return nil, wrap("renew", err)
	}
	return out, nil
}

// atOnce prolongs what meets nothing unusual and returns the other rows.
func (c *renewal) atOnce(ctx context.Context) (rest []int, err error) {
	var cancelled, renewed []int32
	err = c.s.renewals.QueryRow(ctx, c.s.stmts.renew, append(c.args(), millis(lockWait))...).Scan(&c.out.At, &cancelled, &renewed)
	if err != nil {
		return nil, err
	}
	answer := store.RenewAnswer{Status: store.RenewOK, ExpiresAt: c.out.At.Add(c.r.Lease)}
	if renewed == nil {
		for _, i := range c.order {
			c.out.Rows[i] = answer
		}
	}
	for _, ord := range renewed {
		c.out.Rows[c.order[ord-1]] = answer
	}
	for _, ord := range cancelled {
		c.out.Rows[c.order[ord-1]].Cancel = true
	}
	for _, i := range c.order {
		if c.out.Rows[i].Status == 0 {
			rest = append(rest, i)
		}
	}
	return rest, nil
}

// each answers row by row; since is when other rows were renewed, nil if none.
func (c *renewal) each(ctx context.Context, since *int64) error {
	var gone []int
	var b pgx.Batch
	b.Queue(bounded, millis(lockWait), "0")
	b.Queue(c.s.stmts.renewEach, append(c.args(), since)...).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			var ord int
			var renewed, locked, exists bool
			var cancel *bool
			if err := rows.Scan(&c.out.At, &ord, &renewed, &cancel, &locked, &exists); err != nil {
				return err
			}
			a := &c.out.Rows[c.order[ord-1]]
			switch {
			case renewed:
				*a = store.RenewAnswer{Status: store.RenewOK, Cancel: or0(cancel), ExpiresAt: c.out.At.Add(c.r.Lease)}
			case locked:
				a.Status = store.RenewLost
			case exists:
				a.Status = store.RenewBusy
			default:
				gone = append(gone, c.order[ord-1])
			}
		}
		return rows.Err()
	})
	if err := c.s.renewals.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	return c.s.judgeGone(ctx, c.r, gone, c.out)
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
