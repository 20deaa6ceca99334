package memory

import (
	"backwave/store"
	"backwave/store/rules"
)

func (s *Store) enqueue(now store.Instant, r *store.Enqueue) *store.Enqueued {
	out := &store.Enqueued{At: now}
	if len(r.Jobs) > 0 {
		out.Rows = make([]store.EnqueueAnswer, len(r.Jobs))
	}
	for i := range r.Jobs {
		out.Rows[i] = s.enqueueRow(now, &r.Jobs[i])
	}
	return out
}

func (s *Store) enqueueRow(now store.Instant, n *store.NewJob) store.EnqueueAnswer {
	if s.busy(n.ID) {
		return store.EnqueueAnswer{Status: store.EnqueueBusy}
	}
	if slot, ok := s.ids[n.ID]; ok {
		return store.EnqueueAnswer{Status: rules.Again(&s.rows[slot], n)}
	}
	if slot, ok := s.unique[n.UniqueKey]; ok && n.UniqueKey != "" {
		holder := s.rows[slot].ID
		if s.busy(holder) {
			return store.EnqueueAnswer{Status: store.EnqueueBusy}
		}
		return store.EnqueueAnswer{Status: store.EnqueueHeld, Holder: holder}
	}
	s.settle(s.add(rules.New(n, now)))
	return store.EnqueueAnswer{Status: store.EnqueueAdded}
}
