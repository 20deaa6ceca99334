package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"backwave/engine"
)

// statements are the limit of our design: on the tables as they are shipped,
// the fewest statements that keep what they are for, a lease for each job and
// its end kept. There is no directory of lapses, no lookup of queue, worker or
// policy, no wake-up, no handler, and the payload is received but not decoded.
type statements struct {
	*backWave
	pool  *pgxpool.Pool
	loops int
	batch int
	qid   int
}

// openStatements returns an opener of so many loops with batches of that size.
func openStatements(loops, batch int) opener {
	return func(ctx context.Context, url string, _ tuning) (contender, error) {
		b, err := newBackWave(ctx, url, engine.Group{})
		if err != nil {
			return nil, err
		}
		s := &statements{backWave: b, loops: loops, batch: batch}
		if err := s.connect(ctx, url); err != nil {
			b.close()
			return nil, err
		}
		return s, nil
	}
}

func (s *statements) connect(ctx context.Context, url string) error {
	cfg, err := pgxpool.ParseConfig(pooled(url))
	if err != nil {
		return err
	}
	for _, set := range []string{"enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin", "enable_mergejoin", "jit"} {
		cfg.ConnConfig.RuntimeParams[set] = "off"
	}
	cfg.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	s.pool, err = pgxpool.NewWithConfig(ctx, cfg)
	return err
}

func (s *statements) close() {
	s.pool.Close()
	s.backWave.close()
}

const (
	microseconds = "(extract(epoch from clock_timestamp()) * 1000000)::bigint"

	// Parameters: queue, the place in its order after which to look, how many,
	// claim number, worker.
	takeSQL = `
with n as materialized (select ` + microseconds + ` as t),
p as materialized (
  select ctid as tid from {s}.job
  where qid = $1 and due <= (select t from n) and (due, seq) > ($2, $3) and lease_until is null
  order by due, seq limit $4 for no key update skip locked)
update {s}.job j set lease_until = n.t + 60000000, lease_for = 60000000, claim = $5, worker = $6, attempt = coalesce(j.attempt, 0) + 1
from p, n where j.ctid = p.tid
returning j.due, j.seq, j.id, j.attempt, j.payload`

	// Parameters: worker, claim number, jobs, attempts. What the shipped report
	// writes of a success, this writes too.
	endSQL = `
with n as materialized (select ` + microseconds + ` as t),
d as (
  delete from {s}.job j using unnest($3::uuid[], $4::int[]) as r(id, attempt)
  where j.id = r.id and j.worker = $1 and j.claim = $2 and j.attempt = r.attempt and j.lease_until > (select t from n)
  returning j.*)
insert into {s}.done (fin_at, state, kind, enq_at, id, claim, qid, worker, attempt, name, payload)
select n.t, 4, 1, coalesce(enq_at, due), id, claim, qid, worker, attempt, name, payload from d, n`
)

func onSchema(sql string) string { return strings.ReplaceAll(sql, "{s}", backWaveSchema) }

func (s *statements) work(ctx context.Context, h hooks) (func() error, error) {
	if err := s.pool.QueryRow(ctx, onSchema("select qid from {s}.queue where name = $1"), queue).Scan(&s.qid); err != nil {
		return nil, fmt.Errorf("find the queue: %w", err)
	}
	errs := make([]error, s.loops)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = s.loop(ctx, i+1, h) })
	}
	return func() error {
		all.Wait() // each ends by itself when nothing is left
		return errors.Join(errs...)
	}, nil
}

// held is what a claim took.
type held struct {
	claim    int64
	ids      []pgtype.UUID
	attempts []int32
}

// loop reports and claims in one round trip, until a claim from the front of
// the queue finds nothing.
func (s *statements) loop(ctx context.Context, worker int, h hooks) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var (
		last     held
		due, seq int64 // the cursor
		front    = true
	)
	for claim := int64(1); ; claim++ {
		var b pgx.Batch
		if n := len(last.ids); n > 0 {
			b.Queue(onSchema(endSQL), worker, last.claim, last.ids, last.attempts).Exec(func(tag pgconn.CommandTag) error {
				if int(tag.RowsAffected()) != n {
					return fmt.Errorf("%d of %d ends were recorded", tag.RowsAffected(), n)
				}
				return nil
			})
		}
		next := held{claim: claim}
		b.Queue(onSchema(takeSQL), s.qid, due, seq, s.batch, claim, worker).Query(func(rows pgx.Rows) error {
			return next.scan(rows, &due, &seq)
		})
		if err := conn.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
		h.finished(len(last.ids))
		if len(next.ids) == 0 && len(last.ids) == 0 && front {
			return nil
		}
		if front = len(next.ids) < s.batch; front {
			due, seq = 0, 0
		}
		last = next
	}
}

// scan reads a claim's rows and moves the cursor to the last of their places.
func (l *held) scan(rows pgx.Rows, due, seq *int64) error {
	defer rows.Close()
	var (
		d, s    int64
		id      pgtype.UUID
		attempt int32
		payload []byte
	)
	for rows.Next() {
		if err := rows.Scan(&d, &s, &id, &attempt, &payload); err != nil {
			return err
		}
		if d > *due || d == *due && s > *seq {
			*due, *seq = d, s
		}
		l.ids, l.attempts = append(l.ids, id), append(l.attempts, attempt)
	}
	return rows.Err()
}
