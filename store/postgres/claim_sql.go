package postgres

const workerSQL = `insert into {s}.worker (name) values ($1) on conflict do nothing`

// turnSQL bounds the waits of its transaction, and lets the claims of one worker
// through one by one, so that a copy of a claim sees what the first has taken.
// What comes after it in the transaction has a snapshot of its own.
const turnSQL = `
select set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true), pg_advisory_xact_lock(hashtextextended($3, 0))`

// claimSQL picks and leases. Parameters: instant, worker, claim number, queues,
// quotas, maximum, length, default terms, names with terms of their own, those
// terms, whether to go on beyond the quotas, whether to ignore leases under
// this or a higher number, and where to begin in each queue.
//
// The picks are materialized, so that each row is locked once and the limits
// bind; the instant is a subquery, so that it can bound an index scan. What is
// behind the beginning is looked at when there is not enough before it: the
// second half of a union is not started until the first has ended. A row that
// changed between snapshot and lock has another ctid: it is not hit and waits
// for the next claim.
//
// Its last column is how long it took so far, if the server's clock decides. It
// leaves to the statement after it whether it was filled.
const claimSQL = `
with nw as materialized (select {s}.clock($1) as t),
w as materialized (select wid from {s}.worker where name = $2),
again as materialized (select 1 from w join {s}.lapse d on d.worker = w.wid where d.top >= $3::bigint and not $12::bool limit 1),
room as materialized (select case when exists (select from again) or not exists (select from w) then 0 else $6::int end as n),
q as materialized (
  select q.qid, a.ord, a.most, a.due, a.seq
  from unnest($4::text[], $5::int[], $13::bigint[], $14::bigint[]) with ordinality as a(name, most, due, seq, ord) join {s}.queue q on q.name = a.name
  where not q.paused order by a.ord),
p1 as materialized (
  select q.ord, p.tid, p.id from q cross join lateral (
    select * from (
      select j.ctid as tid, j.id from {s}.job j
      where j.qid = q.qid and j.due <= (select t from nw) and (j.due, j.seq) > (q.due, q.seq) and j.lease_until is null
      order by j.due, j.seq for no key update skip locked) ahead
    union all select * from (
      select j.ctid, j.id from {s}.job j
      where j.qid = q.qid and j.due <= (select t from nw) and (j.due, j.seq) <= (q.due, q.seq) and j.lease_until is null
      order by j.due, j.seq for no key update skip locked) behind
    limit q.most) p
  limit (select n from room)),
p2 as materialized (
  select q.ord, p.tid from q cross join lateral (
    select * from (
      select j.ctid as tid from {s}.job j
      where j.qid = q.qid and j.due <= (select t from nw) and (j.due, j.seq) > (q.due, q.seq) and j.lease_until is null and j.id not in (select id from p1)
      order by j.due, j.seq for no key update skip locked) ahead
    union all select * from (
      select j.ctid from {s}.job j
      where j.qid = q.qid and j.due <= (select t from nw) and (j.due, j.seq) <= (q.due, q.seq) and j.lease_until is null and j.id not in (select id from p1)
      order by j.due, j.seq for no key update skip locked) behind
    limit $6::int) p
  limit (select case when $11::bool then (select n from room) - (select count(*) from p1) else 0 end)),
u as (
  update {s}.job j set lease_until = (select t from nw) + $7::bigint, lease_for = $7::bigint, claim = $3::bigint, worker = (select wid from w),
    attempt = coalesce(j.attempt, 0) + 1,
    terms = case when $9::text[] is null then $8::bytea
      else coalesce((select n.terms from unnest($9::text[], $10::bytea[]) as n(name, terms) where n.name = j.name), $8::bytea) end
  from (select 1 as round, ord, tid from p1 union all select 2, ord, tid from p2) p
  where j.ctid = p.tid
  returning p.round, p.ord, j.qid, j.due, j.seq, j.id, j.attempt, j.name, j.base, j.hist, j.payload),
g as materialized (
  select qid, min(due) as lo_due, min(seq) as lo_seq, max(due) as hi_due, max(seq) as hi_seq, count(*) as n from u group by qid),
e as materialized (
  select g.qid, d.did from g, nw, w, lateral (
    select did from {s}.lapse d
    where d.worker = w.wid and d.qid = g.qid and d.made > nw.t - $7::bigint / 30 and d.made <= nw.t
    order by did desc limit 1 for no key update skip locked) d),
x as (
  update {s}.lapse d set check_at = least(d.check_at, nw.t + $7::bigint), stamped = greatest(d.stamped, nw.t), top = greatest(d.top, $3::bigint),
    lo_due = least(d.lo_due, g.lo_due), lo_seq = least(d.lo_seq, g.lo_seq), hi_due = greatest(d.hi_due, g.hi_due), hi_seq = greatest(d.hi_seq, g.hi_seq)
  from e join g using (qid), nw where d.did = e.did returning d.qid),
i as (
  insert into {s}.lapse (check_at, made, stamped, top, worker, qid, lo_due, lo_seq, hi_due, hi_seq)
  select nw.t + $7::bigint, nw.t, nw.t, $3::bigint, w.wid, g.qid, g.lo_due, g.lo_seq, g.hi_due, g.hi_seq
  from g, nw, w where g.qid not in (select qid from x)),
z as materialized (
  select set_config('backwave.filled', (coalesce(sum(n), 0) >= $6::int)::text, true),
    case when $1::bigint is null then ({s}.clock(null) - date_part('epoch', statement_timestamp()) * 1000000)::bigint else 0 end as took from g)
select nw.t, exists (select from w), exists (select from again), u.round, u.ord, u.due, u.seq, u.id, u.attempt, u.name, u.base, u.hist, u.payload,
  (select took from z)
from nw left join u on true`

// nextSQL is the instant, and when a waiting job of the queues is due. It asks
// nobody after a claim that was filled: more may be due right now.
const nextSQL = `
select {s}.clock($1), case when current_setting('backwave.filled', true) = 'true' then -9223372036854775808 else (
  select min(n.due) from unnest($2::text[]) as a(name) join {s}.queue q on q.name = a.name, lateral (
    select j.due from {s}.job j where j.qid = q.qid and j.lease_until is null order by j.due, j.seq limit 1) n
  where not q.paused) end`

// repeatSQL lists the living leases of a worker under this or a higher number.
const repeatSQL = `
with nw as materialized (select {s}.clock($1) as t),
f as materialized (
  select distinct l.id from nw, {s}.worker w join {s}.lapse d on d.worker = w.wid, lateral (
    select j.id from {s}.job j
    where j.qid = d.qid and (j.due, j.seq) >= (d.lo_due, d.lo_seq) and (j.due, j.seq) <= (d.hi_due, d.hi_seq)
      and j.worker = w.wid and j.claim >= $3::bigint and j.lease_until > nw.t offset 0) l
  where w.name = $2 and d.top >= $3::bigint)
select ` + jobColumns + ` from f join {s}.job j on j.id = f.id` + named
