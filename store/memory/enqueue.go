package memory

import (
	"bytes"

	"backwave/store"
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
		j := &s.rows[slot]
		if j.Name != n.Name || j.Queue != n.Queue || !bytes.Equal(j.Payload, n.Payload) {
			return store.EnqueueAnswer{Status: store.EnqueueDiffers}
		}
		return store.EnqueueAnswer{Status: store.EnqueueDuplicate}
	}
	if slot, ok := s.unique[n.UniqueKey]; ok && n.UniqueKey != "" {
		holder := s.rows[slot].ID
		if s.busy(holder) {
			return store.EnqueueAnswer{Status: store.EnqueueBusy}
		}
		return store.EnqueueAnswer{Status: store.EnqueueHeld, Holder: holder}
	}
	due := now.Add(store.ClampDuration(n.Delay))
	if n.HasAt {
		due = n.At
	}
	slot := s.add(store.Job{
		ID: n.ID, Name: n.Name, Queue: n.Queue, Payload: n.Payload,
		MaxAttempts: n.MaxAttempts, UniqueKey: n.UniqueKey,
		State: store.Scheduled, Due: due, Enqueued: now,
	})
	s.settle(slot)
	return store.EnqueueAnswer{Status: store.EnqueueAdded}
}
