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
// of the jobs' ids. It passes over what does not fit. A row that somebody holds
// is waited for, for the few milliseconds of lock_timeout. If he lets it go
// unchanged, the server does not look at the fence again: so the clock is read
// once more for what is returned, after the wait, and a lease that has ended by
// then fails the statement. Nothing that an index mentions is in the fence.
const succeedSQL = `
with w as materialized (select wid from {s}.worker where name = $2),
d as (
  delete from {s}.job j using unnest($3::uuid[], $4::int[], $5::bigint[], $6::bytea[]) as r(id, attempt, claim, output)
  where j.id = r.id and j.worker = (select wid from w) and j.attempt = r.attempt and j.claim = r.claim and j.lease_until > {s}.clock($1)
  returning j.*, r.output, case when j.lease_until > {s}.clock($1) then {s}.clock($1) else {s}.late() end as t),
` + toDoneSQL

// succeedFreeSQL is the same for when somebody does hold one of the rows: it
// locks what it can first, which costs a record of the log more for each.
const succeedFreeSQL = `
with w as materialized (select wid from {s}.worker where name = $2),
l as materialized (
  select j.ctid as tid, j.lease_until, r.output
  from unnest($3::uuid[], $4::int[], $5::bigint[], $6::bytea[]) as r(id, attempt, claim, output) join {s}.job j on j.id = r.id
  where j.worker = (select wid from w) and j.attempt = r.attempt and j.claim = r.claim for update of j skip locked),
nw as materialized (select {s}.clock($1) as t from (select count(*) from l) n),
d as (delete from {s}.job j using l, nw where j.ctid = l.tid and l.lease_until > nw.t returning j.*, l.output, nw.t),
` + toDoneSQL

const toDoneSQL = `
i as (
  insert into {s}.done (fin_at, id, seq, due, enq_at, lease_until, lease_for, claim, qid, worker, attempt, base, unknown, max_attempts, state, kind, cancel,
    terms, name, ukey, hist, progress, output, payload)
  select t, id, seq, due, enq_at, lease_until, lease_for, claim, qid, worker, attempt, base, unknown, max_attempts, 4, 1, cancel,
    terms, name, ukey, hist, progress, output, payload from d
  returning id)
select {s}.clock($1), array(select id from i)`

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
		err = s.judge(ctx, r, rest, out)
	}
	if err != nil {
		return nil, wrap("report", err)
	}
	return out, nil
}

// succeed records the plain successes and returns the rows it has not answered.
func (s *Store) succeed(ctx context.Context, r *store.Report, out *store.Reported) (rest []int, err error) {
	var (
		plain    []int
		attempts []int32
		claims   []int64
		outputs  [][]byte
		at       = make(map[store.JobID]int, len(r.Rows))
	)
	for i := range r.Rows {
		o, ok := r.Rows[i].Outcome.(store.Success)
		key := r.Rows[i].Key
		if _, twice := at[key.Job]; !ok || twice || len(o.Output) > store.MaxOutput {
			rest = append(rest, i)
			continue
		}
		at[key.Job] = i
		plain = append(plain, i)
	}
	slices.SortFunc(plain, func(a, b int) int { return r.Rows[a].Key.Job.Compare(r.Rows[b].Key.Job) })
	if len(plain) == 0 && len(rest) > 0 {
		return rest, nil
	}
	ids := make([]pgtype.UUID, len(plain))
	for k, i := range plain {
		ids[k] = pgtype.UUID{Bytes: r.Rows[i].Key.Job, Valid: true}
		o, _ := r.Rows[i].Outcome.(store.Success)
		attempts, claims, outputs = append(attempts, int32(r.Rows[i].Key.Attempt)), append(claims, int64(r.Rows[i].Key.Claim)), append(outputs, o.Output)
	}
	var recorded []pgtype.UUID
	send := func(sql string) error {
		var b pgx.Batch
		b.Queue(bounded, millis(lockWait), "0")
		b.Queue(sql, s.now(), r.Worker, ids, attempts, claims, outputs).QueryRow(func(row pgx.Row) error { return row.Scan(&out.At, &recorded) })
		return s.pool.SendBatch(ctx, &b).Close()
	}
	if err = send(s.stmts.succeed); code(err, lockNotAvailable) || code(err, lateLease) {
		err = send(s.stmts.succeedFree)
	}
	if err != nil {
		return nil, err
	}
	for _, id := range recorded {
		out.Rows[at[id.Bytes]] = store.ReportAnswer{Status: store.ReportApplied, To: store.Succeeded}
	}
	for _, i := range plain {
		if out.Rows[i].Status == 0 {
			rest = append(rest, i)
		}
	}
	slices.Sort(rest)
	return rest, nil
}

// judge answers rows one after the other on what is locked.
func (s *Store) judge(ctx context.Context, r *store.Report, rest []int, out *store.Reported) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.rollback(ctx, tx)
	h, err := s.lock(ctx, tx, uuids(rest, func(i *int) store.JobID { return r.Rows[*i].Key.Job }))
	if err != nil {
		return err
	}
	out.At = h.now
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
