package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"backwave/store"
)

// lockJobsSQL locks jobs of the hot table in order of their ids, as far as
// nobody else has, and reads the clock when all are had. The lock is the one that
// a delete needs: a weaker one would let in those who look at a duplicate, and
// then the delete would wait for them.
const lockJobsSQL = `
with l as materialized (select j.* from {s}.job j where j.id = any($2::uuid[]) order by j.id for update skip locked),
nw as materialized (select {s}.clock($1) as t from (select count(*) from l) n)
select ` + jobColumns + `, nw.t from nw cross join l j` + named

// lockDoneSQL locks finished jobs: so that they stay as they are, or, for a
// requeue, to take them out.
const (
	lockDoneSQL = `select ` + doneColumns + ` from {s}.done j` + named + ` where j.id = any($1::uuid[]) order by j.id for key share of j skip locked`
	existSQL    = `select {s}.clock($1), array(select id from {s}.job where id = any($2::uuid[]) union all select id from {s}.done where id = any($2::uuid[]))`
)

// hand holds the rows that a transaction has locked.
type hand struct {
	now  store.Instant // read when all were locked
	rows map[store.JobID]*row
	held map[store.JobID]bool // exist, and somebody else has them
}

// lock takes the rows of ids in hand. Each of the three statements has a
// snapshot of its own: a job that moves between the tables meanwhile is in none
// of the first two, and the third says that it exists: then it is held.
func (s *Store) lock(ctx context.Context, tx pgx.Tx, ids []pgtype.UUID) (*hand, error) {
	h := &hand{rows: map[store.JobID]*row{}, held: map[store.JobID]bool{}}
	var b pgx.Batch
	var locked *store.Instant
	b.Queue(s.stmts.lockJobs, s.now(), ids).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			r, err := scanRow(rows, &locked)
			if err != nil {
				return err
			}
			h.rows[r.ID] = r
		}
		return rows.Err()
	})
	b.Queue(s.stmts.lockDone, ids).Query(func(rows pgx.Rows) error {
		done, err := collect(rows)
		for _, r := range done {
			h.rows[r.ID] = r
		}
		return err
	})
	b.Queue(s.stmts.exist, s.now(), ids).QueryRow(func(r pgx.Row) error {
		var exist []pgtype.UUID
		if err := r.Scan(&h.now, &exist); err != nil {
			return err
		}
		for _, id := range exist {
			if h.rows[id.Bytes] == nil {
				h.held[id.Bytes] = true
			}
		}
		return nil
	})
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return nil, err
	}
	if locked != nil {
		h.now = *locked
	}
	return h, nil
}

// retrySQL writes back what waits again, finishSQL moves what is finished. Both
// are for rows that this transaction has locked.
const retrySQL = `
update {s}.job j set due = r.due, enq_at = coalesce(j.enq_at, j.due), base = nullif(r.base, 0), unknown = nullif(r.unknown, 0), terms = r.terms, hist = r.hist, lease_until = null
from unnest($1::uuid[], $2::bigint[], $3::int[], $4::int[], $5::bytea[], $6::bytea[]) as r(id, due, base, unknown, terms, hist)
where j.id = r.id`

const finishSQL = `
with d as (
  delete from {s}.job j
  using unnest($1::uuid[], $2::int[], $3::bytea[], $4::bytea[], $5::smallint[], $6::smallint[], $7::bigint[], $8::text[], $9::bytea[])
    as r(id, unknown, terms, hist, state, kind, fin_at, err, output)
  where j.id = r.id
  returning j.id, j.seq, j.due, coalesce(j.enq_at, j.due) as enq_at, j.lease_until, j.lease_for, j.claim, j.qid, j.worker, coalesce(j.attempt, 0) as attempt, j.base, r.unknown, j.max_attempts, r.state, r.kind,
    j.cancel, r.terms, j.name, j.ukey, r.err, r.hist, j.progress, r.output, j.payload, r.fin_at)
insert into {s}.done (fin_at, id, seq, due, enq_at, lease_until, lease_for, claim, qid, worker, attempt, base, unknown, max_attempts, state, kind, cancel,
  terms, name, ukey, err, hist, progress, output, payload)
select fin_at, id, seq, due, enq_at, lease_until, lease_for, claim, qid, worker, attempt, base, nullif(unknown, 0), max_attempts, state, kind, cancel,
  terms, name, ukey, err, hist, progress, output, payload
from d`

const flagSQL = `update {s}.job set cancel = true where id = any($1::uuid[])`

// back collects what is to be written, by column.
type back struct {
	ids           []pgtype.UUID
	due           []int64
	base, unknown []int32
	terms, hist   [][]byte
	state         []int16
	kind          []*int16
	fin           []int64
	err           []*string
	output        [][]byte
}

func (b *back) add(r *row) {
	ends := r.Ends
	var until store.Instant
	if r.State.Terminal() {
		var kind *int16
		var text *string
		if !r.waits { // an attempt ran: its end goes into the columns
			last := ends[len(ends)-1]
			ends = ends[:len(ends)-1]
			k := int16(last.Kind)
			kind, text = &k, orNull(last.Error)
		} else {
			until = r.LeaseUntil
		}
		b.state, b.kind, b.fin = append(b.state, int16(r.State)), append(b.kind, kind), append(b.fin, int64(r.Finished))
		b.err, b.output = append(b.err, text), append(b.output, r.Output)
	} else {
		until = r.LeaseUntil
	}
	b.ids = append(b.ids, pgtype.UUID{Bytes: r.ID, Valid: true})
	b.due = append(b.due, int64(r.Due))
	b.base, b.unknown = append(b.base, int32(r.Base)), append(b.unknown, int32(r.UnknownNames))
	b.terms, b.hist = append(b.terms, r.packedTerms()), append(b.hist, r.packHistory(ends, until))
}

func (r *row) packedTerms() []byte {
	if r.Attempt == 0 {
		return nil
	}
	return packTerms(&r.Job)
}

// write queues the statements for all rows in hand that were changed.
func (s *Store) write(b *pgx.Batch, rows []*row) {
	var again, finished back
	var flagged []pgtype.UUID
	for _, r := range rows {
		switch {
		case r.State.Terminal():
			finished.add(r)
		case r.State == store.Scheduled:
			again.add(r)
		default:
			flagged = append(flagged, pgtype.UUID{Bytes: r.ID, Valid: true})
		}
	}
	if len(again.ids) > 0 {
		b.Queue(s.stmts.retry, again.ids, again.due, again.base, again.unknown, again.terms, again.hist)
	}
	if f := &finished; len(f.ids) > 0 {
		b.Queue(s.stmts.finish, f.ids, f.unknown, f.terms, f.hist, f.state, f.kind, f.fin, f.err, f.output)
	}
	if len(flagged) > 0 {
		b.Queue(s.stmts.flag, flagged)
	}
}

// commit sends what is queued and then commits.
func commit(ctx context.Context, tx pgx.Tx, b *pgx.Batch) error {
	if b.Len() > 0 {
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}
