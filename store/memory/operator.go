package memory

import "backwave/store"

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
	switch j := &s.rows[slot]; {
	case j.State.Terminal():
		return store.DoRefused
	case j.State == store.Scheduled:
		j = s.change(slot)
		j.State, j.Finished = store.Cancelled, now
		s.settle(slot)
	case j.LeaseUntil <= now:
		s.change(slot)
		s.end(now, slot, ending{kind: store.EndCancel, to: store.Cancelled})
	case c.Force:
		s.change(slot)
		s.end(now, slot, ending{kind: store.EndForce, to: store.Cancelled})
	case j.CancelRequested:
		return store.DoUnchanged
	default:
		s.change(slot).CancelRequested = true
		s.settle(slot)
	}
	return store.DoChanged
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
	if j.State != store.DeadLettered && j.State != store.Quarantined {
		return store.DoRefused
	}
	if other, ok := s.unique[j.UniqueKey]; ok && j.UniqueKey != "" {
		if s.busy(s.rows[other].ID) {
			return store.DoBusy
		}
		return store.DoRefused
	}
	j = s.change(slot)
	j.State, j.Due, j.Finished = store.Scheduled, now, 0
	j.Base, j.UnknownNames = j.Attempt, 0
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
