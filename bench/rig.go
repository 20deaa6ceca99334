package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"backwave/store"
	"backwave/store/postgres"
)

// rig is a store whose rows are made by copying: many of them, in little time.
// What is measured goes through the store.
type rig struct {
	m        *meter
	st       *postgres.Store
	numbers  map[string]uint64 // of the last claim of each worker
	filled   int               // rows made so far
	snapshot *pgx.Conn         // holds vacuum back; nil: nobody does
}

// template makes a job, and has it finished, for the other rows to be copies of.
func (r *rig) template(ctx context.Context) error {
	if err := r.enqueue(ctx, 1, 100); err != nil {
		return err
	}
	if err := r.exec(ctx, "drop table if exists pg_temp.waiting, pg_temp.finished; create temp table waiting as select * from {s}.job"); err != nil {
		return err
	}
	if err := r.finishAll(ctx, 1); err != nil {
		return err
	}
	return r.exec(ctx, "create temp table finished as select * from {s}.done")
}

func (r *rig) exec(ctx context.Context, sql string) error {
	_, err := r.m.conn.Exec(ctx, onSchema(sql))
	return err
}

// fillWaiting adds jobs that are due, each a microsecond after the one before.
func (r *rig) fillWaiting(ctx context.Context, n int) error {
	return r.fill(ctx, "job", "waiting", "due", n, "seq")
}

// fillFinished adds finished jobs.
func (r *rig) fillFinished(ctx context.Context, n int) error {
	return r.fill(ctx, "done", "finished", "fin_at", n)
}

// mostRows is how many rows can be filled in: each is a microsecond after the
// one before, and all are in the minute before the row that they are copies of.
const mostRows = 50_000_000

// fill adds n copies of the row of a temporary table; of the columns named last
// each has its default.
func (r *rig) fill(ctx context.Context, table, from, at string, n int, omit ...string) error {
	if n <= 0 {
		return nil
	}
	var names []string
	err := r.m.conn.QueryRow(ctx, `select array_agg(quote_ident(column_name) order by ordinal_position) from information_schema.columns
		where table_schema = $1 and table_name = $2 and column_name <> all($3)`, backWaveSchema, table, append(omit, "id", at)).Scan(&names)
	if err != nil {
		return fmt.Errorf("columns of %s: %w", table, err)
	}
	rest := strings.Join(names, ", ")
	err = r.exec(ctx, fmt.Sprintf(`insert into {s}.%s (id, %s, %s)
		select ('01930000-0000-7000-8000-' || lpad(to_hex(g), 12, '0'))::uuid, t.%[2]s - 60000000 + g, %[4]s
		from pg_temp.%[5]s t, generate_series(%[6]d, %[7]d) g`, table, at, rest, prefixed("t.", names), from, r.filled+1, r.filled+n))
	if err != nil {
		return fmt.Errorf("fill %s: %w", table, err)
	}
	r.filled += n
	if err := r.exec(ctx, "vacuum (analyze) {s}."+table); err != nil {
		return fmt.Errorf("vacuum %s: %w", table, err)
	}
	return r.m.checkpoint(ctx)
}

func prefixed(prefix string, names []string) string {
	return prefix + strings.Join(names, ", "+prefix)
}

// enqueue adds n jobs with payloads of that size.
func (r *rig) enqueue(ctx context.Context, n, size int) error {
	body := []byte(strings.Repeat("x", size))
	for left := n; left > 0; left -= 1000 {
		e := &store.Enqueue{Jobs: make([]store.NewJob, min(left, 1000))}
		for i := range e.Jobs {
			e.Jobs[i] = store.NewJob{ID: store.NewJobID(time.Now().UnixMilli(), rand.Uint64(), rand.Uint64()), Name: jobName, Queue: queue, Payload: body}
		}
		if _, err := r.st.Enqueue(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// claim claims at most n jobs.
func (r *rig) claim(ctx context.Context, worker string, n int, lease time.Duration) ([]store.Lease, error) {
	r.numbers[worker]++
	got, err := r.st.Claim(ctx, &store.Claim{
		Worker: worker, Number: r.numbers[worker], Queues: []store.Quota{{Queue: queue, Most: n}}, Max: n, Lease: lease,
	})
	if err != nil {
		return nil, err
	}
	return got.Leases, nil
}

// claimAll claims exactly n jobs, in parts.
func (r *rig) claimAll(ctx context.Context, worker string, n int, lease time.Duration) (all []store.Lease, err error) {
	for len(all) < n {
		leases, err := r.claim(ctx, worker, min(n-len(all), 2000), lease)
		if err != nil {
			return nil, err
		}
		if len(leases) == 0 {
			return nil, fmt.Errorf("only %d of %d jobs could be claimed", len(all), n)
		}
		all = append(all, leases...)
	}
	return all, nil
}

// succeed reports that all of them succeeded.
func (r *rig) succeed(ctx context.Context, worker string, leases []store.Lease) error {
	ask := &store.Report{Worker: worker, Rows: make([]store.ReportRow, len(leases))}
	for i, l := range leases {
		ask.Rows[i] = store.ReportRow{Key: l.Key, Outcome: store.Success{}}
	}
	got, err := r.st.Report(ctx, ask)
	if err == nil && succeeded(got) != len(leases) {
		err = fmt.Errorf("%d of %d successes were recorded", succeeded(got), len(leases))
	}
	return err
}

// finishAll claims n jobs and reports their success, many at a time.
func (r *rig) finishAll(ctx context.Context, n int) error {
	for left := n; left > 0; {
		leases, err := r.claim(ctx, "measured", min(left, 2000), time.Minute)
		if err == nil && len(leases) == 0 {
			err = fmt.Errorf("nothing left to claim, %d short", left)
		}
		if err == nil {
			err = r.succeed(ctx, "measured", leases)
		}
		if err != nil {
			return err
		}
		left -= len(leases)
	}
	return nil
}

// holdSnapshot has a transaction that could still see all rows there are now.
func (r *rig) holdSnapshot(ctx context.Context) (err error) {
	if r.snapshot, err = pgx.Connect(ctx, r.m.url); err != nil {
		return err
	}
	_, err = r.snapshot.Exec(ctx, "begin isolation level repeatable read; select pg_current_xact_id()")
	return err
}

func (r *rig) release() {
	if r.snapshot != nil {
		_ = r.snapshot.Close(context.Background())
		r.snapshot = nil
	}
}

// spent is what the server spent on the statements of a call: execution alone,
// without planning, which is done once for each connection, and without the
// commit. trip is the whole call, through TCP on this machine.
type spent struct {
	ms, buffers, wal float64
	trip             time.Duration
}

// needStatistics sees to it that the server counts what its statements cost.
func (m *meter) needStatistics(ctx context.Context) error {
	_, err := m.conn.Exec(ctx, "create extension if not exists pg_stat_statements")
	if err == nil {
		_, err = m.statistics(ctx)
	}
	if err != nil {
		return fmt.Errorf("pg_stat_statements is needed: put it into shared_preload_libraries of the server: %w", err)
	}
	return nil
}

func (m *meter) statistics(ctx context.Context) (s spent, err error) {
	err = m.conn.QueryRow(ctx, `
		select coalesce(sum(total_exec_time), 0), coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8, coalesce(sum(wal_bytes), 0)::float8
		from pg_stat_statements where query not like '%pg_stat_statements%'`).Scan(&s.ms, &s.buffers, &s.wal)
	return s, err
}

// call measures one call. Nobody else may use the server meanwhile.
func (m *meter) call(ctx context.Context, do func() error) (spent, error) {
	a, err := m.statistics(ctx)
	if err != nil {
		return spent{}, err
	}
	start := time.Now()
	if err := do(); err != nil {
		return spent{}, err
	}
	trip := time.Since(start)
	b, err := m.statistics(ctx)
	return spent{ms: b.ms - a.ms, buffers: b.buffers - a.buffers, wal: b.wal - a.wal, trip: trip}, err
}
