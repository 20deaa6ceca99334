package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"backwave/store"
	"backwave/store/rules"
)

// succeedSQL records successes: fence, move and end in one statement.
// Parameters: instant, worker, jobs, attempts, claim numbers, outputs, in order
// of the jobs' ids, and the bound of its waits. It passes over what does not fit. A row that somebody holds
// is waited for, for the few milliseconds of lock_timeout. If he lets it go
// unchanged, the server does not look at the fence again: so the clock is read
// once more when all rows are had, and a lease that has ended by then fails the
// statement. Nothing that an index mentions is in the fence.
const succeedSQL = `
with w as materialized (select wid from {s}.worker where name = $2),
nw as materialized (select {s}.clock($1) as t, set_config('lock_timeout', $7, true)),
d as (
  delete from {s}.job j using unnest($3::uuid[], $4::int[], $5::bigint[], $6::bytea[]) as r(id, attempt, claim, output)
  where j.id = r.id and j.worker = (select wid from w) and j.attempt = r.attempt and j.claim = r.claim and j.lease_until > (select t from nw)
  returning j.id, j.due, j.enq_at, j.lease_until, j.claim, j.qid, j.worker, j.attempt, j.base, j.unknown, j.max_attempts, j.cancel,
    j.name, j.ukey, j.hist, j.progress, r.output, j.payload),
e as materialized (select {s}.clock($1) as t, ends from (select min(lease_until) as ends from d) m),
` + toDoneSQL

// succeedFreeSQL is the same for when somebody does hold one of the rows: it
// locks what it can first, which costs a record of the log more for each.
const succeedFreeSQL = `
with w as materialized (select wid from {s}.worker where name = $2),
l as materialized (
  select j.ctid as tid, j.lease_until, r.output
  from unnest($3::uuid[], $4::int[], $5::bigint[], $6::bytea[]) as r(id, attempt, claim, output) join {s}.job j on j.id = r.id
  where j.worker = (select wid from w) and j.attempt = r.attempt and j.claim = r.claim for update of j skip locked),
e as materialized (select {s}.clock($1) as t, null::bigint as ends, set_config('lock_timeout', $7, true) from (select count(*) from l) n),
d as (delete from {s}.job j using l where j.ctid = l.tid and l.lease_until > (select t from e) returning j.*, l.output),
` + toDoneSQL

// toDoneSQL answers with the instant, and, unless all were recorded, which were.
const toDoneSQL = `
i as (
  insert into {s}.done (fin_at, id, enq_at, claim, qid, worker, attempt, base, unknown, max_attempts, state, kind, cancel,
    name, ukey, hist, progress, output, payload)
  select case when (select ends <= t from e) then {s}.late() else (select t from e) end, id, coalesce(enq_at, due), claim, qid, worker, attempt, base,
    unknown, max_attempts, 4, 1, cancel, name, ukey, hist, progress, output, payload from d
  returning id)
select (select t from e), case when (select count(*) from i) < cardinality($3::uuid[]) then array(select id from i) end`

// lateLease is the SQLSTATE by which succeedSQL undoes itself.
const lateLease = "BW003"

// Report implements store.Leaser. Successes that meet nothing unusual are one
// statement; all else is locked, judged here and written back.
func (s *Store) Report(ctx context.Context, r *store.Report) (*store.Reported, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	out := &store.Reported{}
	if len(r.Rows) > 0 {
		out.Rows = make([]store.ReportAnswer, len(r.Rows))
	}
	rest, err := s.succeed(ctx, r, out)
	if err == nil && len(rest) > 0 {
		var since *store.Instant
		if len(rest) < len(r.Rows) {
			since = new(out.At)
		}
		err = s.judge(ctx, r, rest, since, out)
	}
	if err != nil {
		return nil, wrap("report", err)
	}
	return out, nil
}

// succeed records the plain successes and returns the rows it has not answered.
func (s *Store) succeed(ctx context.Context, r *store.Report, out *store.Reported) (rest []int, err error) {
	plain, rest := plainSuccesses(r)
	if len(plain) == 0 && len(rest) > 0 {
		return rest, nil
	}
	n, others := len(plain), len(rest)
	ids, attempts, claims, outputs := make([]pgtype.UUID, n), make([]int32, n), make([]int64, n), make([][]byte, n)
	for k, i := range plain {
		key := r.Rows[i].Key
		o, _ := r.Rows[i].Outcome.(store.Success)
		ids[k] = pgtype.UUID{Bytes: key.Job, Valid: true}
		attempts[k], claims[k], outputs[k] = int32(key.Attempt), int64(key.Claim), o.Output
	}
	var recorded []pgtype.UUID // nil: all
	send := func(sql string) error {
		return s.pool.QueryRow(ctx, sql, s.now(), r.Worker, ids, attempts, claims, outputs, millis(lockWait)).Scan(&out.At, &recorded)
	}
	if err = send(s.stmts.succeed); code(err, lockNotAvailable) || code(err, lateLease) {
		err = send(s.stmts.succeedFree)
	}
	if err != nil {
		return nil, err
	}
	all := recorded == nil
	slices.SortFunc(recorded, func(a, b pgtype.UUID) int { return store.JobID(a.Bytes).Compare(b.Bytes) })
	for k, i := range plain {
		if !all && (len(recorded) == 0 || recorded[0] != ids[k]) {
			rest = append(rest, i)
			continue
		}
		out.Rows[i] = store.ReportAnswer{Status: store.ReportApplied, To: store.Succeeded}
		if !all {
			recorded = recorded[1:]
		}
	}
	slices.Sort(rest)
	s.cleaner.count(n - (len(rest) - others))
	return rest, nil
}

// plainSuccesses returns the rows that are successes within bounds, in order of
// their jobs, no job twice; and the rest.
func plainSuccesses(r *store.Report) (plain, rest []int) {
	plain = make([]int, 0, len(r.Rows))
	for i := range r.Rows {
		if o, ok := r.Rows[i].Outcome.(store.Success); ok && len(o.Output) <= store.MaxOutput {
			plain = append(plain, i)
		} else {
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(plain, func(a, b int) int { return r.Rows[a].Key.Job.Compare(r.Rows[b].Key.Job) })
	first := plain[:0]
	for _, i := range plain {
		if n := len(first); n > 0 && r.Rows[first[n-1]].Key.Job == r.Rows[i].Key.Job {
			rest = append(rest, i)
		} else {
			first = append(first, i)
		}
	}
	return first, rest
}

// judge answers rows one after the other on what is locked. since is the instant
// at which other rows of the call were recorded, nil if none were: an answer has
// one instant. A lease that has ended since then is not stale as of then, and
// answers as if it were held.
func (s *Store) judge(ctx context.Context, r *store.Report, rest []int, since *store.Instant, out *store.Reported) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.rollback(ctx, tx)
	h, err := s.lock(ctx, tx, uuids(rest, func(i *int) store.JobID { return r.Rows[*i].Key.Job }))
	if err != nil {
		return err
	}
	if since == nil {
		out.At = h.now
	}
	var changed []*row
	var due []string
	for _, i := range rest {
		row := &r.Rows[i]
		j := h.rows[row.Key.Job]
		switch {
		case h.held[row.Key.Job]:
			out.Rows[i].Status = store.ReportBusy
		case j == nil:
			out.Rows[i].Status = store.ReportStale
		case since != nil && rules.Holds(&j.Job, r.Worker, row.Key, *since) && !rules.Holds(&j.Job, r.Worker, row.Key, h.now):
			out.Rows[i].Status = store.ReportBusy
		default:
			out.Rows[i] = rules.Report(&j.Job, r.Worker, row, h.now)
			if out.Rows[i].Status != store.ReportApplied {
				continue
			}
			changed = append(changed, j)
			if j.State == store.Scheduled && j.Due <= h.now {
				due = append(due, j.Queue)
			}
		}
	}
	var b pgx.Batch
	s.write(&b, changed)
	if err := commit(ctx, tx, &b); err != nil {
		return err
	}
	s.hints.tell(due)
	return nil
}
