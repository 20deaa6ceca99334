package memory

import (
	"backwave/store"
	"backwave/store/rules"
)

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
	}
	answer := rules.Renew(s.change(slot), r, row, now)
	if answer.Status != store.RenewOK {
		s.drop()
		return answer
	}
	s.stamped = max(s.stamped, now)
	s.settle(slot)
	return answer
}
