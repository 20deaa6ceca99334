package sqlite

import (
	"context"

	"backwave/store"
	"backwave/store/rules"
)

// Sweep implements store.Leaser.
func (s *Store) Sweep(ctx context.Context, r *store.Sweep) (*store.Swept, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	out := &store.Swept{}
	err := s.write(ctx, "sweep", false, func(c *call) error {
		out.At = c.now
		return c.sweep(r, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *call) sweep(r *store.Sweep, out *store.Swept) error {
	for _, q := range r.Queues {
		if err := c.dispose(q, false, r.Max, out); err != nil {
			return err
		}
	}
	cut := r.Queues
	if r.Any {
		leased, err := c.leased()
		if err != nil {
			return err
		}
		for _, q := range leased {
			if err := c.dispose(q, true, r.Max, out); err != nil {
				return err
			}
		}
		cut = leased
		// A worker without leases will not claim under an old number in earnest.
		if _, err := c.exec(`DELETE FROM backwave_worker WHERE worker NOT IN (SELECT worker FROM backwave_job WHERE state = 3)`); err != nil {
			return err
		}
	}
	for _, q := range cut {
		if err := c.cut(q); err != nil {
			return err
		}
	}
	return nil
}

// dispose ends the lapsed leases of a queue, by lease end and sequence, until
// most are disposed of. With long, only those that lapsed at least their
// stamped length ago.
func (c *call) dispose(queue string, long bool, most int, out *store.Swept) error {
	if most -= len(out.Disposed); most <= 0 {
		return nil
	}
	where := `WHERE j.state = 3 AND j.queue = ?1 AND j.lease_until <= ?2 ORDER BY j.lease_until, j.seq LIMIT ?3`
	if long {
		where = `WHERE j.state = 3 AND j.queue = ?1 AND j.lease_until <= ?2 AND j.lease_until + j.lease_for <= ?2 ORDER BY j.lease_until, j.seq LIMIT ?3`
	}
	jobs, err := c.jobs(where, queue, int64(c.now), int64(most))
	if err != nil {
		return err
	}
	for i := range jobs {
		out.Disposed = append(out.Disposed, rules.Lapse(&jobs[i], c.now))
		if err := c.settle(&jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

// leased lists the queues that have leases, in order of name, by one look into
// the index for each.
func (c *call) leased() (queues []string, err error) {
	err = c.each(func(row []any) error {
		queues = append(queues, asText(row[0]))
		return nil
	}, `WITH RECURSIVE q (name) AS (
			SELECT min(queue) FROM backwave_job WHERE state = 3
			UNION ALL SELECT (SELECT min(queue) FROM backwave_job WHERE state = 3 AND queue > q.name) FROM q WHERE q.name IS NOT NULL
		) SELECT name FROM q WHERE name IS NOT NULL`)
	return queues, err
}

// cut shortens leases that run longer than now + their stamped length: the
// clock stood further ahead when they were stamped. The index alone answers
// that there are none.
func (c *call) cut(queue string) error {
	var late []store.Job
	err := c.each(func(row []any) error {
		r := rowReader{values: row}
		late = append(late, store.Job{Seq: uint64(r.int("seq")), LeaseUntil: store.Instant(r.int("lease_until")), LeaseFor: r.span("lease_for")})
		return nil
	}, `SELECT seq, lease_until, lease_for FROM backwave_job WHERE state = 3 AND queue = ?1 AND lease_until > ?2 AND lease_until - lease_for > ?3`,
		queue, int64(c.now.Add(store.MinLease)), int64(c.now))
	if err != nil {
		return err
	}
	for i := range late {
		end, ok := rules.Cut(&late[i], c.now)
		if !ok {
			continue
		}
		if _, err := c.exec(`UPDATE backwave_job SET lease_until = ?2 WHERE seq = ?1`, int64(late[i].Seq), int64(end)); err != nil {
			return err
		}
	}
	return nil
}
