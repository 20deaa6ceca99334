package sqlite

import (
	"context"
	"slices"
	"strings"

	"backwave/store"
	"backwave/store/rules"
)

// Claim implements store.Leaser.
func (s *Store) Claim(ctx context.Context, r *store.Claim) (out *store.Claimed, err error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	err = s.write(ctx, "claim", false, func(c *call) (err error) {
		out, err = c.claim(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *call) claim(r *store.Claim) (*store.Claimed, error) {
	out := &store.Claimed{At: c.now}
	open, err := c.open(r.Queues)
	if err != nil {
		return nil, err
	}
	repeat, err := c.repeat(r, out)
	if err != nil {
		return nil, err
	}
	if !repeat {
		if err := c.takeAll(r, open, out); err != nil {
			return nil, err
		}
	}
	for _, q := range open {
		due, found, err := c.number(`SELECT due FROM backwave_job WHERE state = 1 AND queue = ?1 ORDER BY due LIMIT 1`, q.Queue)
		if err != nil {
			return nil, err
		}
		if next := max(0, store.Instant(due).Sub(c.now)); found && (!out.HasNext || next < out.Next) {
			out.HasNext, out.Next = true, next
		}
	}
	return out, nil
}

// open lists the queues that are not paused.
func (c *call) open(queues []store.Quota) ([]store.Quota, error) {
	var paused []string
	err := c.each(func(row []any) error {
		paused = append(paused, asText(row[0]))
		return nil
	}, `SELECT queue FROM backwave_paused`)
	if err != nil || len(paused) == 0 {
		return queues, err
	}
	return slices.DeleteFunc(slices.Clone(queues), func(q store.Quota) bool { return slices.Contains(paused, q.Queue) }), nil
}

// repeat reports whether the claim must take nothing: its number, or a higher
// one, has a lease that lives. The leases of its own number are answered again.
// Only a number that is not above all those of its worker needs a look at all
// leases.
func (c *call) repeat(r *store.Claim, out *store.Claimed) (stop bool, err error) {
	top, found, err := c.number(`SELECT top FROM backwave_worker WHERE worker = ?`, r.Worker)
	if err != nil || !found || uint64(top) < r.Number {
		return false, err
	}
	jobs, err := c.withPayload(`WHERE j.state = 3 AND j.worker = ?1 AND j.claim >= ?2 AND j.lease_until > ?3 ORDER BY j.seq`, r.Worker, int64(r.Number), int64(c.now))
	if err != nil {
		return false, err
	}
	stop = len(jobs) > 0
	jobs = slices.DeleteFunc(jobs, func(j store.Job) bool { return j.Claim != r.Number })
	slices.SortStableFunc(jobs, func(a, b store.Job) int { return rules.Rank(r.Queues, a.Queue) - rules.Rank(r.Queues, b.Queue) })
	for i := range jobs {
		out.Leases = append(out.Leases, rules.Lease(&jobs[i]))
	}
	return stop, nil
}

// takeAll takes what the quotas allow, queue by queue, and then what is still
// wanted in the same order; and notes the number if it took anything.
func (c *call) takeAll(r *store.Claim, open []store.Quota, out *store.Claimed) error {
	left := make([]bool, len(open)) // whether a queue may have more
	for i := range open {
		most := min(open[i].Most, r.Max-len(out.Leases))
		n, err := c.take(r, open[i].Queue, most, out)
		if err != nil {
			return err
		}
		left[i] = n == most
	}
	for i := range open {
		if left[i] {
			if _, err := c.take(r, open[i].Queue, r.Max-len(out.Leases), out); err != nil {
				return err
			}
		}
	}
	if len(out.Leases) == 0 {
		return nil
	}
	_, err := c.exec(`INSERT INTO backwave_worker (worker, top) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET top = max(top, ?2)`, r.Worker, int64(r.Number))
	return err
}

// take leases at most most jobs of a queue, in order of due and sequence.
func (c *call) take(r *store.Claim, queue string, most int, out *store.Claimed) (n int, err error) {
	if most <= 0 {
		return 0, nil
	}
	var rd rowReader
	var jobs []store.Job
	err = c.each(func(row []any) error {
		jobs = append(jobs, rd.waiting(row))
		return nil
	}, `SELECT j.seq, j.id, j.name, j.max_attempts, j.attempt, j.base, j.ends, j.damage, p.payload
		FROM backwave_job j LEFT JOIN backwave_payload p ON p.seq = j.seq
		WHERE j.state = 1 AND j.queue = ?1 AND j.due <= ?2 ORDER BY j.due, j.seq LIMIT ?3`, queue, int64(c.now), int64(most))
	if err != nil {
		return 0, err
	}
	for i := range jobs {
		j := &jobs[i]
		j.Queue = queue
		rules.Grant(j, r, c.now)
		out.Leases = append(out.Leases, rules.Lease(j))
	}
	return len(jobs), c.stamp(jobs)
}

// stampRows is how many rows one statement stamps.
const stampRows = 50

var stampText = map[int]string{1: stampOf(1), stampRows: stampOf(stampRows)}

// stampOf leases n jobs to one claim.
func stampOf(n int) string {
	return `WITH v (seq, attempt, ceiling, delay) AS (VALUES ` + strings.Repeat(`(?, ?, ?, ?), `, n-1) + `(?, ?, ?, ?))
		UPDATE backwave_job SET state = 3, attempt = v.attempt, ceiling = v.ceiling, retry_delay = v.delay,
			worker = ?, claim = ?, lease_until = ?, lease_for = ? FROM v WHERE backwave_job.seq = v.seq`
}

// stamp writes what a claim granted.
func (c *call) stamp(jobs []store.Job) error {
	for len(jobs) > 0 {
		n := 1
		if len(jobs) >= stampRows {
			n = stampRows
		}
		args := make([]any, 0, 4*n+4)
		for i := range jobs[:n] {
			j := &jobs[i]
			args = append(args, int64(j.Seq), int64(j.Attempt), int64(j.Ceiling), j.RetryDelay.Microseconds())
		}
		j := &jobs[0]
		args = append(args, j.Worker, int64(j.Claim), int64(j.LeaseUntil), j.LeaseFor.Microseconds())
		if _, err := c.exec(stampText[n], args...); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}
