package memory

import "backwave/store"

// Rewind puts s back to an earlier moment, or to that of another store that was
// made by the same enqueues: rows are all its rows as they were then, in the
// order of Each. Queues stay paused and rows held as they are, and the results
// and records of operators' commands are forgotten. now is an instant at or
// after every grant and renewal in rows. The rows are copied; their histories
// are shared, and appended to in place where they have spare room.
//
// It allocates nothing once s has seen as many rows, leases and workers: it is
// for explorers, which rewind millions of times.
func (s *Store) Rewind(rows []store.Job, now store.Instant) {
	if len(rows) != len(s.rows) {
		panic("memory: Rewind to another number of rows")
	}
	s.changes, s.audits, s.stamped = s.changes[:0], s.audits[:0], now
	clear(s.results)
	clear(s.unique)
	for i := range s.queues {
		s.queues[i].waiting, s.queues[i].leased = s.queues[i].waiting[:0], s.queues[i].leased[:0]
	}
	for i := range s.workers {
		s.workers[i].leases, s.workers[i].top = s.workers[i].leases[:0], 0
	}
	for i := range rows {
		s.rows[i] = rows[i]
		s.places[i] = place{pos: -1, queue: s.places[i].queue, worker: -1}
	}
	for i := range rows {
		s.reindex(int32(i))
	}
}

// reindex puts a row that is in no index into those where it belongs.
func (s *Store) reindex(slot int32) {
	j := &s.rows[slot]
	p := &s.places[slot]
	q := &s.queues[p.queue]
	switch j.State {
	case store.Scheduled:
		p.key = j.Due
		s.push(&q.waiting, slot)
	case store.Executing:
		p.key = j.LeaseUntil
		s.push(&q.leased, slot)
		s.join(slot, j.Worker, j.Claim)
	case store.Awaiting, store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined: // in no heap
	}
	if j.UniqueKey != "" && !j.State.Terminal() {
		s.unique[j.UniqueKey] = slot
	}
}
