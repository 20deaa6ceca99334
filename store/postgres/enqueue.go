package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"backwave/store"
)

// queuesSQL makes sure that queues have a row. It commits on its own: nobody may
// have to wait for the name of a queue until a caller's transaction ends.
const queuesSQL = `insert into {s}.queue (name) select distinct name from unnest($1::text[]) as n(name) order by name on conflict do nothing`

// insertSQL adds jobs. Parameters: instant, then by column: id, name, queue,
// payload, instant due, delay, ceiling, key.
const insertSQL = `
with nw as materialized (select {s}.clock($1) as t),
a as (
  select * from unnest($2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::bigint[], $7::bigint[], $8::int[], $9::text[])
    as a(id, name, queue, payload, at, delay, most, ukey))
insert into {s}.job (id, due, enq_at, qid, max_attempts, name, ukey, payload)
select a.id, coalesce(a.at, nw.t + a.delay), nullif(nw.t, coalesce(a.at, nw.t + a.delay)), q.qid, a.most, a.name, a.ukey, a.payload
from nw, a, lateral (select q.qid from {s}.queue q where q.name = a.queue offset 0) q`

// What stands in the way of a job either fails the statement or is passed over,
// which costs a record of the log more for every job: whoever expects nothing in
// the way, since ids are new and there are no unique keys, tries the first.
//
// Each job added is answered with the instant from which its delay counts.
const (
	orFail   = ` returning id, coalesce(enq_at, due)`
	passOver = ` on conflict do nothing` + orFail
)

// unbornSQL takes those out again that are finished already. It has to be a
// statement after the insert: that may have waited for a job of the same id to
// move, which only a later snapshot sees.
const unbornSQL = `
with f as materialized (select d.id from {s}.done d where d.id = any($2::uuid[])),
x as (delete from {s}.job j using f where j.id = f.id and j.xmin = pg_current_xact_id()::xid returning j.id)
select {s}.clock($1), array(select id from x)`

// insertOneSQL adds one job, in one statement.
const insertOneSQL = `
insert into {s}.job (id, due, enq_at, qid, max_attempts, name, ukey, payload)
select $2, coalesce($6::bigint, nw.t + $7::bigint), nullif(nw.t, coalesce($6::bigint, nw.t + $7::bigint)), q.qid, $8, $3, $9, $5
from (select {s}.clock($1) as t, set_config('lock_timeout', $10, true) as bounded) nw, {s}.queue q where q.name = $4 and nw.bounded is not null
returning {s}.born(id, coalesce(enq_at, due))`

// finishedAlready is the SQLSTATE by which insertOneSQL undoes itself.
const finishedAlready = "BW004"

// insertEachSQL judges row by row on the server: what is in the way of each.
const insertEachSQL = `
select a.ord, nw.t, e.status, e.holder
from (select {s}.clock($1) as t) nw, lateral (
  select a.*, q.qid from unnest($2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::bigint[], $7::bigint[], $8::int[], $9::text[])
    with ordinality as a(id, name, queue, payload, at, delay, most, ukey, ord) join {s}.queue q on q.name = a.queue order by a.ord offset 0) a,
lateral {s}.enqueue_one(nw.t, a.id, a.name, a.qid, a.payload, coalesce(a.at, nw.t + a.delay), a.most, a.ukey) e`

// Enqueue implements store.Enqueuer. Jobs that nothing stands in the way of are
// added in one round trip.
func (s *Store) Enqueue(ctx context.Context, r *store.Enqueue) (*store.Enqueued, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	out := &store.Enqueued{}
	if len(r.Jobs) > 0 {
		out.Rows = make([]store.EnqueueAnswer, len(r.Jobs))
	}
	insert := s.insert
	if len(r.Jobs) == 1 && r.Jobs[0].UniqueKey == "" {
		insert = s.insertOne
	}
	rest, err := insert(ctx, r, out)
	if err == nil && len(rest) > 0 {
		first := out.At
		err = s.insertEach(ctx, r, rest, out)
		if len(rest) < len(r.Jobs) {
			out.At = first // an answer has one instant: jobs are due from it on, or later
		}
	}
	if err != nil {
		return nil, wrap("enqueue", err)
	}
	s.tellAdded(r, out)
	return out, nil
}

// tellAdded passes on that jobs were added.
func (s *Store) tellAdded(r *store.Enqueue, out *store.Enqueued) {
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.HasAt && j.At < out.At {
			s.cursors.rewind(j.Queue) // its place may be behind
		}
	}
	s.hints.tell(added(r, out))
}

// added lists the queues in which a job was added that may be due.
func added(r *store.Enqueue, out *store.Enqueued) (queues []string) {
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if out.Rows[i].Status != store.EnqueueAdded || j.HasAt && j.At > out.At || !j.HasAt && j.Delay > 0 {
			continue
		}
		if n := len(queues); n == 0 || queues[n-1] != j.Queue {
			queues = append(queues, j.Queue)
		}
	}
	return queues
}

// columns are the parameters of the inserts after the instant.
func columns(r *store.Enqueue, which []int) []any {
	n := len(which)
	var (
		ids                 = make([]pgtype.UUID, n)
		names, queues, keys = make([]string, n), make([]string, n), make([]*string, n)
		payloads            = make([][]byte, n)
		ats, delays         = make([]*int64, n), make([]int64, n)
		most                = make([]*int32, n)
	)
	for k, i := range which {
		j := &r.Jobs[i]
		ids[k] = pgtype.UUID{Bytes: j.ID, Valid: true}
		names[k], queues[k], keys[k] = j.Name, j.Queue, orNull(j.UniqueKey)
		payloads[k] = packPayload(j.Payload)
		if j.HasAt {
			at := int64(j.At)
			ats[k] = &at
		}
		delays[k] = store.ClampDuration(j.Delay).Microseconds()
		most[k] = orNull(int32(j.MaxAttempts))
	}
	return []any{ids, names, queues, payloads, ats, delays, most, keys}
}

// insert adds all that it can at once and returns the rows it has not answered.
// It leaves all of them to insertEach if two have an id or a key in common, or
// if it would have to wait.
func (s *Store) insert(ctx context.Context, r *store.Enqueue, out *store.Enqueued) (rest []int, err error) {
	at := make(map[store.JobID]int, len(r.Jobs))
	var keys map[string]struct{}
	clash := false
	all := make([]int, len(r.Jobs))
	for i := range r.Jobs {
		j := &r.Jobs[i]
		all[i] = i
		at[j.ID] = i
		if j.UniqueKey != "" {
			if keys == nil {
				keys = map[string]struct{}{}
			}
			_, seen := keys[j.UniqueKey]
			clash = clash || seen
			keys[j.UniqueKey] = struct{}{}
		}
	}
	if clash || len(at) < len(r.Jobs) {
		return all, nil
	}
	if err := s.knowQueues(ctx, r); err != nil {
		return nil, err
	}
	params := append([]any{s.now()}, columns(r, all)...)
	var fresh, unborn []pgtype.UUID
	send := func(sql string) error {
		var b pgx.Batch
		var id pgtype.UUID
		fresh, out.At = nil, 0
		b.Queue(bounded, millis(lockWait), "0")
		b.Queue(sql, params...).Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&id, &out.At}, func() error {
				fresh = append(fresh, id)
				return nil
			})
			return err
		})
		b.Queue(s.stmts.unborn, s.now(), params[1]).QueryRow(func(row pgx.Row) error {
			var now store.Instant
			err := row.Scan(&now, &unborn)
			if out.At == 0 { // nothing was added
				out.At = now
			}
			return err
		})
		return s.pool.SendBatch(ctx, &b).Close()
	}
	if len(keys) == 0 {
		err = send(s.stmts.insert)
	}
	if len(keys) > 0 || code(err, uniqueViolation) {
		err = send(s.stmts.insertPassing)
	}
	if code(err, lockNotAvailable) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for _, id := range fresh {
		out.Rows[at[id.Bytes]].Status = store.EnqueueAdded
	}
	for _, id := range unborn {
		out.Rows[at[id.Bytes]].Status = 0
	}
	for i := range out.Rows {
		if out.Rows[i].Status == 0 {
			rest = append(rest, i)
		}
	}
	return rest, nil
}

const (
	lockNotAvailable = "55P03"
	uniqueViolation  = "23505"
)

// insertOne adds the job of the request, or leaves it to insertEach.
func (s *Store) insertOne(ctx context.Context, r *store.Enqueue, out *store.Enqueued) (rest []int, err error) {
	if err := s.knowQueues(ctx, r); err != nil {
		return nil, err
	}
	j := &r.Jobs[0]
	var at *int64
	if j.HasAt {
		at = new(int64(j.At))
	}
	err = s.pool.QueryRow(ctx, s.stmts.insertOne, s.now(), pgtype.UUID{Bytes: j.ID, Valid: true}, j.Name, j.Queue, packPayload(j.Payload),
		at, store.ClampDuration(j.Delay).Microseconds(), orNull(int32(j.MaxAttempts)), orNull(j.UniqueKey), millis(lockWait)).Scan(&out.At)
	switch {
	case errors.Is(err, pgx.ErrNoRows), code(err, uniqueViolation), code(err, lockNotAvailable), code(err, finishedAlready):
		return []int{0}, nil
	case err != nil:
		return nil, err
	}
	out.Rows[0].Status = store.EnqueueAdded
	return nil, nil
}

// insertEach answers the rows one after the other, each as if the ones before
// were calls of their own (E3), in one statement.
func (s *Store) insertEach(ctx context.Context, r *store.Enqueue, rest []int, out *store.Enqueued) error {
	for range 3 {
		if err := s.knowQueues(ctx, r); err != nil {
			return err
		}
		tx, err := s.begin(ctx)
		if err != nil {
			return err
		}
		n, err := s.judgeEach(ctx, tx, r, rest, out)
		if err == nil && n == len(rest) {
			return tx.Commit(ctx)
		}
		s.rollback(ctx, tx)
		if err != nil {
			return err
		}
		s.forgetQueues() // the table was put back to an earlier state under us
	}
	return errors.New("queues vanish as fast as they are made")
}

func (s *Store) judgeEach(ctx context.Context, tx pgx.Tx, r *store.Enqueue, rest []int, out *store.Enqueued) (n int, err error) {
	rows, err := tx.Query(ctx, s.stmts.insertEach, append([]any{s.now()}, columns(r, rest)...)...)
	if err != nil {
		return 0, err
	}
	var ord, status int
	var holder pgtype.UUID
	_, err = pgx.ForEachRow(rows, []any{&ord, &out.At, &status, &holder}, func() error {
		a := &out.Rows[rest[ord-1]]
		*a = store.EnqueueAnswer{Status: store.EnqueueStatus(status)}
		if a.Status == store.EnqueueHeld {
			a.Holder = holder.Bytes
		}
		n++
		return nil
	})
	return n, err
}

// knowQueues sees to it that the queues of the request have rows.
func (s *Store) knowQueues(ctx context.Context, r *store.Enqueue) error {
	var unknown []string
	s.mu.Lock()
	for i := range r.Jobs {
		if _, ok := s.queues[r.Jobs[i].Queue]; !ok {
			unknown = append(unknown, r.Jobs[i].Queue)
		}
	}
	s.mu.Unlock()
	if len(unknown) == 0 {
		return nil
	}
	var b pgx.Batch
	b.Queue(bounded, millis(lockWait), "0")
	b.Queue(s.stmts.queues, unknown)
	if err := s.pool.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range unknown {
		s.queues[q] = struct{}{}
	}
	return nil
}

func (s *Store) forgetQueues() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.queues)
	s.cursors.rewindAll()
}
