package memory

import (
	"backwave/store"
	"backwave/store/rules"
)

func (s *Store) sweep(now store.Instant, r *store.Sweep) *store.Swept {
	out := &store.Swept{At: now}
	s.listed = s.listed[:0]
	for _, name := range r.Queues {
		if q, ok := s.queueOf[name]; ok {
			s.listed = append(s.listed, q)
		}
	}
	for _, q := range s.listed {
		s.dispose(now, q, false, r.Max, out)
	}
	if r.Any {
		for _, q := range s.byName {
			s.dispose(now, q, true, r.Max, out)
		}
	}
	if now >= s.stamped {
		return out // no lease can run longer than now + its length
	}
	if r.Any {
		s.listed = append(s.listed[:0], s.byName...)
	}
	for _, q := range s.listed {
		s.cut(now, q)
	}
	return out
}

// dispose ends the lapsed leases of queue q, by lease end and sequence, until
// max are disposed of. With long, only those that lapsed at least their
// stamped length ago.
func (s *Store) dispose(now store.Instant, q int32, long bool, most int, out *store.Swept) {
	s.aside = s.aside[:0]
	leased := &s.queues[q].leased
	for len(out.Disposed) < most && len(*leased) > 0 && s.places[(*leased)[0]].key <= now {
		slot := (*leased)[0]
		j := &s.rows[slot]
		if s.busy(j.ID) || long && !rules.LongLapsed(j, now) {
			s.remove(leased, slot)
			s.aside = append(s.aside, slot)
			continue
		}
		lapse := rules.Lapse(s.change(slot), now)
		s.settle(slot)
		out.Disposed = append(out.Disposed, lapse)
	}
	for _, slot := range s.aside {
		s.push(leased, slot)
	}
}

// cut shortens leases that run longer than now + their stamped length: the
// clock stood further ahead when they were stamped.
func (s *Store) cut(now store.Instant, q int32) {
	s.aside = append(s.aside[:0], s.queues[q].leased...) // cutting moves them within the heap
	for _, slot := range s.aside {
		j := &s.rows[slot]
		if end, ok := rules.Cut(j, now); ok && !s.busy(j.ID) {
			s.change(slot).LeaseUntil = end
			s.settle(slot)
		}
	}
}
