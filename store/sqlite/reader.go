package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"backwave/store"
)

// Readers look at a snapshot and wait for no writer.

const whole = `SELECT ` + columns + `, p.payload, j.output, j.progress FROM backwave_job j LEFT JOIN backwave_payload p ON p.seq = j.seq `

func (s *Store) view(ctx context.Context, op, query string, scan func(row []any) error, args ...any) error {
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return wrap(op, err)
	}
	return wrap(op, scanRows(rows, scan))
}

func (s *Store) wholeJobs(ctx context.Context, op, where string, args ...any) (out []*store.Job, err error) {
	var r rowReader
	err = s.view(ctx, op, whole+where, func(row []any) error {
		j := r.job(row)
		j.Payload, j.Output, j.Progress = r.bytes("payload"), r.bytes("output"), r.bytes("progress")
		out = append(out, &j)
		return nil
	}, args...)
	return out, err
}

// Job implements store.Reader.
func (s *Store) Job(ctx context.Context, id store.JobID) (*store.Job, error) {
	out, err := s.wholeJobs(ctx, "job", `WHERE j.id = ?1`, id[:])
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, store.ErrNotFound
	}
	return out[0], nil
}

// Jobs implements store.Reader. It may look at every job of the store.
func (s *Store) Jobs(ctx context.Context, queue string, states []store.State, limit int) ([]*store.Job, error) {
	if limit <= 0 {
		return nil, nil
	}
	where := `WHERE j.queue = ?1`
	if len(states) > 0 {
		var in []string
		for _, st := range states {
			in = append(in, fmt.Sprint(int(st)))
		}
		where += ` AND j.state IN (` + strings.Join(in, ", ") + `)`
	}
	return s.wholeJobs(ctx, "jobs", where+` ORDER BY j.seq LIMIT ?2`, queue, int64(limit))
}

// Unfinished implements store.Reader. It counts entries of an index, those of
// the queue that wait or run.
func (s *Store) Unfinished(ctx context.Context, queues []string) (int, error) {
	sum := 0
	for i, q := range queues {
		if slices.Contains(queues[:i], q) {
			continue
		}
		err := s.view(ctx, "unfinished", `SELECT (SELECT count(*) FROM backwave_job WHERE state = 1 AND queue = ?1) +
			(SELECT count(*) FROM backwave_job WHERE state = 3 AND queue = ?1)`, func(row []any) error {
			r := rowReader{values: row}
			sum += int(r.int("count"))
			return nil
		}, q)
		if err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// Queues implements store.Reader. It looks at every job of the store.
func (s *Store) Queues(ctx context.Context) (out []store.QueueView, err error) {
	err = s.view(ctx, "queues", `SELECT queue, state, count(*), 0 FROM backwave_job GROUP BY queue, state
		UNION ALL SELECT queue, 0, 0, 1 FROM backwave_paused ORDER BY queue`, func(row []any) error {
		r := rowReader{values: row}
		name, state, n, paused := r.text("queue"), store.State(r.int("state")), int(r.int("count")), r.int("paused") != 0
		if len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, store.QueueView{Name: name, Jobs: map[store.State]int{}})
		}
		q := &out[len(out)-1]
		q.Paused = q.Paused || paused
		if n > 0 {
			q.Jobs[state] += n
		}
		return nil
	})
	return out, err
}

// Audits returns the recorded actions of operators, oldest first.
func (s *Store) Audits(ctx context.Context) (out []store.Audit, err error) {
	err = s.view(ctx, "audits", `SELECT at, actor, request, command, job, queue FROM backwave_audit ORDER BY seq`, func(row []any) error {
		r := rowReader{values: row}
		a := audit{at: store.Instant(r.int("at")), actor: r.text("actor"), request: r.text("request"), command: r.text("command"), job: r.bytes("job"), queue: r.text("queue")}
		e, err := a.entry()
		out = append(out, e)
		return err
	})
	return out, err
}
