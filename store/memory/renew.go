package memory

import "backwave/store"

func (s *Store) renew(now store.Instant, r *store.Renew) *store.Renewed {
	out := &store.Renewed{At: now}
	if len(r.Rows) > 0 {
		out.Rows = make([]store.RenewAnswer, len(r.Rows))
	}
	for i := range r.Rows {
		out.Rows[i] = s.renewRow(now, r, &r.Rows[i])
	}
	return out
}

func (s *Store) renewRow(now store.Instant, r *store.Renew, row *store.RenewRow) store.RenewAnswer {
	slot, ok := s.ids[row.Key.Job]
	switch {
	case !ok:
		return store.RenewAnswer{Status: store.RenewLost}
	case s.busy(row.Key.Job):
		return store.RenewAnswer{Status: store.RenewBusy}
	case !holds(&s.rows[slot], r.Worker, row.Key, now):
		return store.RenewAnswer{Status: store.RenewLost}
	}
	j := s.change(slot)
	j.LeaseFor, j.LeaseUntil = r.Lease, now.Add(r.Lease)
	if row.Progress != nil {
		j.Progress = row.Progress
	}
	s.stamped = max(s.stamped, now)
	s.settle(slot)
	return store.RenewAnswer{Status: store.RenewOK, Cancel: j.CancelRequested, ExpiresAt: j.LeaseUntil}
}
