package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"backwave/store"
)

const (
	jobSQL  = `select ` + jobColumns + ` from {s}.job j` + named + ` where j.id = $1 union all select ` + doneColumns + ` from {s}.done j` + named + ` where j.id = $1`
	jobsSQL = `
select * from (
  (select ` + jobColumns + ` from {s}.job j` + named + ` where q.name = $1 and (case when j.lease_until is null then 1 else 3 end) = any($2::int[]) order by coalesce(j.enq_at, j.due), j.id limit $3)
  union all
  (select ` + doneColumns + ` from {s}.done j` + named + ` where q.name = $1 and j.state = any($2::int[]) order by j.enq_at, j.id limit $3)) as j
order by j.enq_at, j.id limit $3`
	unfinishedSQL = `select count(*) from {s}.job j join {s}.queue q on q.qid = j.qid where q.name = any($1::text[])`
	viewsSQL      = `
select q.name, q.paused, c.state, c.n from {s}.queue q left join (
  select qid, case when lease_until is null then 1 else 3 end as state, count(*) as n from {s}.job group by 1, 2
  union all
  select qid, state::int, count(*) from {s}.done group by 1, 2) c on c.qid = q.qid
where q.paused or c.n is not null order by q.name, c.state`
)

// Job implements store.Reader.
func (s *Store) Job(ctx context.Context, id store.JobID) (*store.Job, error) {
	found, err := s.read(ctx, s.stmts.job, pgtype.UUID{Bytes: id, Valid: true})
	if err != nil {
		return nil, wrap("read job", err)
	}
	if len(found) == 0 {
		return nil, store.ErrNotFound
	}
	return found[0], nil
}

// Jobs implements store.Reader. It may look at every finished job.
func (s *Store) Jobs(ctx context.Context, queue string, states []store.State, limit int) ([]*store.Job, error) {
	wanted := make([]int32, 0, 8)
	for st := store.Scheduled; st <= store.Quarantined; st++ {
		if len(states) == 0 || slices.Contains(states, st) {
			wanted = append(wanted, int32(st))
		}
	}
	found, err := s.read(ctx, s.stmts.jobs, queue, wanted, max(0, limit))
	return found, wrap("list jobs", err)
}

func (s *Store) read(ctx context.Context, sql string, args ...any) ([]*store.Job, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	found, err := collect(rows)
	if err != nil {
		return nil, err
	}
	var jobs []*store.Job
	for _, r := range found {
		jobs = append(jobs, &r.Job)
	}
	return jobs, nil
}

// Unfinished implements store.Reader.
func (s *Store) Unfinished(ctx context.Context, queues []string) (n int, err error) {
	err = s.pool.QueryRow(ctx, s.stmts.unfinished, queues).Scan(&n)
	return n, wrap("count jobs", err)
}

// Queues implements store.Reader. It looks at every job.
func (s *Store) Queues(ctx context.Context) ([]store.QueueView, error) {
	rows, err := s.pool.Query(ctx, s.stmts.views)
	if err != nil {
		return nil, wrap("list queues", err)
	}
	var views []store.QueueView
	var name string
	var paused bool
	var state *int
	var n *int
	_, err = pgx.ForEachRow(rows, []any{&name, &paused, &state, &n}, func() error {
		if len(views) == 0 || views[len(views)-1].Name != name {
			views = append(views, store.QueueView{Name: name, Paused: paused, Jobs: map[store.State]int{}})
		}
		if state != nil {
			views[len(views)-1].Jobs[store.State(*state)] = *n
		}
		return nil
	})
	return views, wrap("list queues", err)
}
