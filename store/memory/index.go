package memory

import (
	"slices"
	"strings"

	"backwave/store"
)

// change begins a change of a row; settle ends it, or drop if it was none.
func (s *Store) change(slot int32) *store.Job {
	s.changes = append(s.changes, Change{Before: s.rows[slot]})
	return &s.rows[slot]
}

// drop forgets the change begun last: the row is as it was.
func (s *Store) drop() { s.changes = s.changes[:len(s.changes)-1] }

// add begins a change that puts a new row into the store; settle ends it.
func (s *Store) add(j store.Job) (slot int32) {
	slot = int32(len(s.rows))
	j.Seq = uint64(slot) + 1
	s.rows = append(s.rows, j)
	s.places = append(s.places, place{pos: -1, queue: s.openQueue(j.Queue), worker: -1})
	s.ids[j.ID] = slot
	s.changes = append(s.changes, Change{})
	return slot
}

// settle completes the image of the change begun last and moves the row to
// where the indexes want it now.
func (s *Store) settle(slot int32) {
	c := &s.changes[len(s.changes)-1]
	c.After = s.rows[slot]
	before, after := &c.Before, &c.After
	q := &s.queues[s.places[slot].queue]
	switch after.State {
	case store.Scheduled:
		s.leave(slot)
		s.rehouse(slot, &q.leased, &q.waiting, after.Due)
	case store.Executing:
		if before.State != store.Executing {
			s.join(slot, after.Worker, after.Claim)
		}
		s.rehouse(slot, &q.waiting, &q.leased, after.LeaseUntil)
	case store.Awaiting, store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined: // in no heap
		s.leave(slot)
		if before.State == store.Executing {
			s.remove(&q.leased, slot)
		} else {
			s.remove(&q.waiting, slot)
		}
	}
	if after.UniqueKey == "" || after.State.Terminal() == before.State.Terminal() && before.State != 0 {
		return
	}
	if after.State.Terminal() {
		delete(s.unique, after.UniqueKey)
	} else {
		s.unique[after.UniqueKey] = slot
	}
}

// rehouse puts a row under key into the heap to. It may be there already, or
// still in from, or in no heap.
func (s *Store) rehouse(slot int32, from, to *[]int32, key store.Instant) {
	p := &s.places[slot]
	if p.pos >= 0 && int(p.pos) < len(*to) && (*to)[p.pos] == slot {
		p.key = key
		s.fix(*to, p.pos)
		return
	}
	s.remove(from, slot)
	p.key = key
	s.push(to, slot)
}

// join adds a row to the leases of a worker, leave takes it away.
func (s *Store) join(slot int32, name string, claim uint64) {
	w, ok := s.workerOf[name]
	if !ok {
		w = int32(len(s.workers))
		s.workers = append(s.workers, worker{})
		s.workerOf[name] = w
	}
	k := &s.workers[w]
	k.top = max(k.top, claim)
	s.places[slot].worker, s.places[slot].lease = w, int32(len(k.leases))
	k.leases = append(k.leases, slot)
}

func (s *Store) leave(slot int32) {
	p := &s.places[slot]
	if p.worker < 0 {
		return
	}
	k := &s.workers[p.worker]
	last := k.leases[len(k.leases)-1]
	k.leases[p.lease] = last
	s.places[last].lease = p.lease
	k.leases = k.leases[:len(k.leases)-1]
	p.worker = -1
}

// openQueue returns the number of the queue, which may be new.
func (s *Store) openQueue(name string) int32 {
	if q, ok := s.queueOf[name]; ok {
		return q
	}
	q := int32(len(s.queues))
	s.queues = append(s.queues, queue{name: name})
	s.queueOf[name] = q
	at, _ := slices.BinarySearchFunc(s.byName, name, func(q int32, name string) int {
		return strings.Compare(s.queues[q].name, name)
	})
	s.byName = slices.Insert(s.byName, at, q)
	return q
}
