package memory

import (
	"backwave/store"
	"backwave/store/rules"
)

func (s *Store) do(now store.Instant, r *store.Do) *store.Done {
	out := &store.Done{At: now}
	if out.Result, out.Repeat = s.results[r.RequestID]; out.Repeat {
		return out
	}
	switch c := r.Command.(type) {
	case store.Cancel:
		out.Result = s.cancel(now, c)
	case store.Requeue:
		out.Result = s.requeue(now, c)
	case store.Pause:
		out.Result = s.pause(c.Queue, true)
	case store.Resume:
		out.Result = s.pause(c.Queue, false)
	}
	if out.Result == store.DoBusy {
		return out // nothing was decided: the action may be sent again
	}
	s.results[r.RequestID] = out.Result
	if out.Result == store.DoChanged {
		s.audits = append(s.audits, store.Audit{At: now, Actor: r.Actor, RequestID: r.RequestID, Command: r.Command})
	}
	return out
}

func (s *Store) cancel(now store.Instant, c store.Cancel) store.DoResult {
	slot, ok := s.ids[c.Job]
	if !ok {
		return store.DoNotFound
	}
	if s.busy(c.Job) {
		return store.DoBusy
	}
	result := rules.Cancel(s.change(slot), c, now)
	if result != store.DoChanged {
		s.drop()
		return result
	}
	s.settle(slot)
	return result
}

func (s *Store) requeue(now store.Instant, c store.Requeue) store.DoResult {
	slot, ok := s.ids[c.Job]
	if !ok {
		return store.DoNotFound
	}
	if s.busy(c.Job) {
		return store.DoBusy
	}
	j := &s.rows[slot]
	if !rules.MayRequeue(j) {
		return store.DoRefused
	}
	if other, ok := s.unique[j.UniqueKey]; ok && j.UniqueKey != "" {
		if s.busy(s.rows[other].ID) {
			return store.DoBusy
		}
		return store.DoRefused
	}
	rules.Requeue(s.change(slot), now)
	s.settle(slot)
	return store.DoChanged
}

func (s *Store) pause(name string, paused bool) store.DoResult {
	q := s.openQueue(name)
	if s.queues[q].paused == paused {
		return store.DoUnchanged
	}
	s.queues[q].paused = paused
	return store.DoChanged
}
