package sqlite

import (
	"context"
	"strings"

	"backwave/store"
	"backwave/store/rules"
)

// Report implements store.Leaser.
func (s *Store) Report(ctx context.Context, r *store.Report) (*store.Reported, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	out := &store.Reported{}
	err := s.write(ctx, "report", false, func(c *call) error {
		out.At = c.now
		jobs, err := c.find(len(r.Rows), func(i int) store.JobID { return r.Rows[i].Key.Job })
		if err != nil {
			return err
		}
		var ended []*store.Job
		for i := range r.Rows {
			j, a := jobs[r.Rows[i].Key.Job], store.ReportAnswer{Status: store.ReportStale}
			if j != nil {
				a = rules.Report(j, r.Worker, &r.Rows[i], c.now)
			}
			if a.Status == store.ReportApplied {
				ended = append(ended, j)
			}
			out.Rows = append(out.Rows, a)
		}
		return c.settleAll(ended)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// settledRows is how many successes one statement writes.
const settledRows = 50

var settledText = `WITH v (seq, ends, cut, output) AS (VALUES ` + strings.Repeat(`(?, ?, ?, ?), `, settledRows-1) + `(?, ?, ?, ?))
	UPDATE backwave_job SET state = 4, finished = ?, ends = v.ends, ends_cut = v.cut, output = v.output FROM v WHERE backwave_job.seq = v.seq`

// settleAll writes back jobs whose attempts have ended, none of them twice.
// Most are successes, which change little, and go together.
func (c *call) settleAll(jobs []*store.Job) error {
	args := make([]any, 0, 4*settledRows+1)
	var together []*store.Job
	for _, j := range jobs {
		if j.State != store.Succeeded || j.Damage != "" {
			if err := c.settle(j); err != nil {
				return err
			}
			continue
		}
		if together = append(together, j); len(together) < settledRows {
			continue
		}
		args = args[:0]
		for _, j := range together {
			ends, err := encodeEnds(j.Ends)
			if err != nil {
				return err
			}
			args = append(args, int64(j.Seq), ends, int64(j.EndsCut), orNull(j.Output))
		}
		if _, err := c.exec(settledText, append(args, int64(c.now))...); err != nil {
			return err
		}
		together = together[:0]
	}
	for _, j := range together {
		if err := c.settle(j); err != nil {
			return err
		}
	}
	return nil
}
