-- Instants are microseconds since 1970-01-01 UTC and lengths microseconds, both
-- bigint: they survive every round trip unchanged, and no date is out of range.
-- Null stands for 0, false or empty in the columns that rarely hold more.

create table {s}.queue (
  qid    int generated always as identity primary key,
  name   text collate "C" not null unique,
  paused boolean not null default false
);

create table {s}.worker (
  wid     int generated always as identity primary key,
  name    text not null unique,
  stamped bigint not null default -9223372036854775808 -- latest instant of a renewal
) with (fillfactor = 50);

create sequence {s}.job_seq as bigint;

-- Jobs that are not terminal. No index may mention a column that a claim or a
-- renewal writes: both must stay heap-only updates.
create table {s}.job (
  id           uuid primary key,
  seq          bigint not null default nextval('{s}.job_seq'), -- order of enqueue
  due          bigint not null,
  enq_at       bigint,           -- null: due
  qid          int not null,
  base         int,
  unknown      int,
  max_attempts int,
  lease_until  bigint,           -- null: waits
  lease_for    bigint,
  claim        bigint,
  worker       int,
  attempt      int,              -- null: 0
  terms        bytea,
  cancel       boolean,
  name         text not null,
  ukey         text,
  hist         bytea,            -- earlier ends
  progress     bytea,
  payload      bytea
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

create index job_queue_due on {s}.job (qid, due, seq);
create unique index job_unique_key on {s}.job (ukey) where ukey is not null;

-- Where leases may lapse: every living lease lies in the range of a row of its
-- worker whose check_at is not after its end.
create table {s}.lapse (
  did      bigint generated always as identity primary key,
  check_at bigint not null,
  made     bigint not null,
  stamped  bigint not null,      -- latest claim
  top      bigint not null,      -- highest claim number
  worker   int not null,
  qid      int not null,
  lo_due   bigint not null,
  lo_seq   bigint not null,
  hi_due   bigint not null,
  hi_seq   bigint not null
) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create index lapse_check_at on {s}.lapse (check_at);
create index lapse_worker on {s}.lapse (worker, qid, did);

-- Finished jobs. kind is null for one that ended without an attempt running. Of
-- a success nobody decides anything any more: its place in the order, its lease
-- and its terms are not kept.
create table {s}.done (
  fin_at       bigint not null,
  id           uuid not null,
  seq          bigint,
  due          bigint,
  enq_at       bigint not null,
  lease_until  bigint,
  lease_for    bigint,
  claim        bigint,
  qid          int not null,
  worker       int,
  attempt      int not null,
  base         int,
  unknown      int,
  max_attempts int,
  state        smallint not null,
  kind         smallint,
  cancel       boolean,
  terms        bytea,
  name         text not null,
  ukey         text,
  err          text,
  hist         bytea,
  progress     bytea,
  output       bytea,
  payload      bytea
) partition by range (fin_at);

create table {s}.done_rest partition of {s}.done default;
create index done_id on {s}.done (id);
create index done_failed on {s}.done (state, fin_at) where state <> 4;

-- Commands of operators by request id; result 1 changed something and is the audit.
create table {s}.request (
  id      text primary key,
  n       bigint generated always as identity,
  at      bigint not null,
  actor   text not null,
  result  smallint not null,
  command smallint not null,
  target  text not null,
  force   boolean not null
);

create function {s}.clock(injected bigint) returns bigint language sql volatile as
$$ select coalesce(injected, (date_part('epoch', clock_timestamp()) * 1000000)::bigint) $$;

-- Undoes a statement that had to wait for a row whose lease ended meanwhile.
create function {s}.late() returns bigint language plpgsql as
$$ begin raise exception 'a lease ended while its row was held' using errcode = 'BW003'; end $$;

-- The instant of an enqueue of one job, or an error that undoes it, since the job
-- is finished already. It sees what committed while the insert waited.
create function {s}.born(the_id uuid, at bigint) returns bigint language plpgsql volatile as $$
begin
  if exists (select from {s}.done where id = the_id) then
    raise exception 'the job is finished' using errcode = 'BW004';
  end if;
  return at;
end $$;

-- What an id that exists answers to an enqueue: 2 same, 3 other, 5 held; null if
-- there is no such job.
create function {s}.enqueue_again(the_id uuid, the_name text, the_queue int, the_payload bytea) returns int language plpgsql volatile as $$
declare
  r record;
begin
  select name, qid, payload into r from {s}.job where id = the_id for key share skip locked;
  if not found then
    select name, qid, payload into r from {s}.done where id = the_id for key share skip locked;
  end if;
  if found then
    return case when r.name = the_name and r.qid = the_queue 
      and (r.payload is not distinct from the_payload or substr(r.payload, 1, 1) = '\x00') then 2 else 3 end; -- of a lost payload nothing is known
  end if;
  if exists (select from {s}.job where id = the_id) or exists (select from {s}.done where id = the_id) then
    return 5;
  end if;
  return null;
end $$;

-- One row of an enqueue, judged after all that came before it. Whoever calls it
-- has set lock_timeout: a wait for somebody's open transaction ends as 5, busy.
create function {s}.enqueue_one(now bigint, the_id uuid, the_name text, the_queue int, the_payload bytea, the_due bigint, the_max int, the_key text,
  out status int, out holder uuid) language plpgsql volatile as $$
begin
  for i in 1..20 loop
    begin
      insert into {s}.job (id, due, enq_at, qid, max_attempts, name, ukey, payload)
        values (the_id, the_due, nullif(now, the_due), the_queue, the_max, the_name, the_key, the_payload) on conflict do nothing;
      if found then
        if not exists (select from {s}.done where id = the_id) then
          status := 1;
          return;
        end if;
        delete from {s}.job where id = the_id;
      end if;
      status := {s}.enqueue_again(the_id, the_name, the_queue, the_payload);
      if status is not null then
        return;
      end if;
      select id into holder from {s}.job where ukey = the_key for key share skip locked;
      if found then
        status := 4;
        return;
      end if;
      if exists (select from {s}.job where ukey = the_key) then
        status := 5;
        return;
      end if;
    exception when lock_not_available or deadlock_detected then
      status := 5;
      return;
    end;
  end loop;
  status := 5;
end $$;

-- Rows of an enqueue inside somebody's transaction, as JSON, so that any driver
-- can send them. Its waits are bounded without touching that transaction's own
-- settings.
create function {s}.enqueue_tx(now bigint, jobs jsonb) returns table (ord bigint, at bigint, status int, holder text) language plpgsql volatile
set lock_timeout = '40ms' as $$
declare
  t bigint := {s}.clock(now);
  r record;
  e record;
begin
  for r in select j.value as j, j.ordinality as n from jsonb_array_elements(jobs) with ordinality j order by n loop
    select * into e from {s}.enqueue_one(t, (r.j->>'id')::uuid, r.j->>'name', (r.j->>'qid')::int, decode(r.j->>'payload', 'base64'),
      coalesce((r.j->>'at')::bigint, t + (r.j->>'delay')::bigint), (r.j->>'most')::int, r.j->>'key');
    ord := r.n;
    at := t;
    status := e.status;
    holder := e.holder::text;
    return next;
  end loop;
end $$;

-- The fenced success inside a handler's transaction. It returns the instant, or
-- raises: nothing of that transaction can be committed then. The lease is judged
-- on the locked row. A transaction that stands still, or a statement that takes
-- longer than the lease, is cut off by the server.
create function {s}.complete(now bigint, the_id uuid, the_worker text, the_attempt int, the_claim bigint, the_output bytea, timeout text) returns bigint
language plpgsql volatile as $$
declare
  top boolean;
  alive boolean;
  t bigint;
begin
  perform set_config('idle_in_transaction_session_timeout', timeout, true), set_config('statement_timeout', timeout, true);
  update {s}.job set attempt = attempt where id = the_id and attempt = the_attempt and claim = the_claim
    and worker = (select wid from {s}.worker where name = the_worker) and lease_until is not null
    returning {s}.clock(now), lease_until > {s}.clock(now) into t, alive; -- what is returned is computed once the lock is had
  if not found or not alive then
    raise exception 'the lease is lost' using errcode = 'BW001';
  end if;
  -- Inside a savepoint the row would be of the subtransaction, not of the
  -- transaction, and could be undone without it.
  select xmin = pg_current_xact_id()::xid into top from {s}.job where id = the_id;
  if not top then
    raise exception 'a completion must be outside of savepoints' using errcode = 'BW002';
  end if;
  with d as (delete from {s}.job where id = the_id returning *)
  insert into {s}.done (fin_at, id, enq_at, claim, qid, worker, attempt, base, unknown, max_attempts, state, kind, cancel,
    name, ukey, hist, progress, output, payload)
  select t, id, coalesce(enq_at, due), claim, qid, worker, attempt, base, unknown, max_attempts, 4, 1, cancel,
    name, ukey, hist, progress, the_output, payload from d;
  return t;
end $$;
