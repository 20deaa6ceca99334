package sqlite

import (
	"context"

	"backwave/store"
	"backwave/store/rules"
)

// Renew implements store.Leaser. It goes before all other calls of its process
// that wait for the write lock.
func (s *Store) Renew(ctx context.Context, r *store.Renew) (*store.Renewed, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	out := &store.Renewed{}
	err := s.write(ctx, "renew", true, func(c *call) error {
		out.At = c.now
		jobs, err := c.find(len(r.Rows), func(i int) store.JobID { return r.Rows[i].Key.Job })
		if err != nil {
			return err
		}
		for i := range r.Rows {
			a, err := c.renew(jobs[r.Rows[i].Key.Job], r, &r.Rows[i])
			if err != nil {
				return err
			}
			out.Rows = append(out.Rows, a)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *call) renew(j *store.Job, r *store.Renew, row *store.RenewRow) (store.RenewAnswer, error) {
	if j == nil {
		return store.RenewAnswer{Status: store.RenewLost}, nil
	}
	a := rules.Renew(j, r, row, c.now)
	if a.Status != store.RenewOK {
		return a, nil
	}
	_, err := c.exec(`UPDATE backwave_job SET lease_until = ?, lease_for = ?, progress = coalesce(?, progress) WHERE seq = ?`,
		int64(j.LeaseUntil), j.LeaseFor.Microseconds(), orNull(row.Progress), int64(j.Seq))
	return a, err
}
