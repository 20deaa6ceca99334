// Package memory is the executable reading of the storage contract: the rules
// of docs/semantics.md in the fewest words that run fast. It is deterministic:
// what it answers depends on the requests and on its clock, on nothing else.
//
// A Store is for one goroutine at a time, as a simulator needs it; NewLocked
// makes it a store.Store for many. It keeps the byte slices of requests and
// hands them out again without copying: whoever sends a request must not
// change its bytes afterwards, and whoever reads a row must not change them.
// Rows and their histories are never shared with a caller that may write.
package memory

import (
	"maps"
	"slices"

	"backwave/store"
)

// Clock is the one clock by which a store decides.
type Clock interface{ Now() store.Instant }

// Change is one row as it was and as it became. Before is the zero Job for a
// row that is new.
type Change struct{ Before, After store.Job }

// Store keeps jobs in memory. It is plain data: rows in one slice, in the order
// of their enqueue, so that a slot also orders rows by sequence; and indexes
// over the slots. The maps are for lookup only and never walked.
type Store struct {
	clock Clock

	rows   []store.Job
	places []place // of the row of the same slot
	ids    map[store.JobID]int32
	unique map[string]int32 // key -> slot of the job that holds it

	queues  []queue
	byName  []int32 // queues in order of name
	queueOf map[string]int32

	workers  []worker
	workerOf map[string]int32

	held    map[store.JobID]struct{}
	results map[string]store.DoResult // by request id
	audits  []store.Audit
	stamped store.Instant // latest instant at which any lease was stamped

	changes []Change
	listed  []int32 // scratch: the queues of the call
	aside   []int32 // scratch: slots taken off a heap and not used
}

// place says where the indexes keep a row.
type place struct {
	key    store.Instant // by which its heap orders it: due, or end of the lease
	pos    int32         // in its heap; -1 = in none
	queue  int32
	worker int32 // whose lease it is; -1 = nobody's
	lease  int32 // position in that worker's leases
}

// queue holds two heaps of slots: jobs that wait, by due instant, and leases,
// by their end.
type queue struct {
	name    string
	paused  bool
	waiting []int32
	leased  []int32
}

// worker lists the slots that one worker holds leases on, in no order.
type worker struct {
	leases []int32
	top    uint64 // highest claim number that ever took a lease
}

// New returns an empty store that decides by clock.
func New(clock Clock) *Store {
	return &Store{
		clock:    clock,
		ids:      map[store.JobID]int32{},
		unique:   map[string]int32{},
		queueOf:  map[string]int32{},
		workerOf: map[string]int32{},
		held:     map[store.JobID]struct{}{},
		results:  map[string]store.DoResult{},
	}
}

// Clone returns a copy that shares nothing with s that either can change, and
// that decides by clock. What Changes reports is not copied.
func (s *Store) Clone(clock Clock) *Store {
	c := &Store{
		clock:    clock,
		rows:     slices.Clone(s.rows),
		places:   slices.Clone(s.places),
		ids:      maps.Clone(s.ids),
		unique:   maps.Clone(s.unique),
		queues:   slices.Clone(s.queues),
		byName:   slices.Clone(s.byName),
		queueOf:  maps.Clone(s.queueOf),
		workers:  slices.Clone(s.workers),
		workerOf: maps.Clone(s.workerOf),
		held:     maps.Clone(s.held),
		results:  maps.Clone(s.results),
		audits:   slices.Clone(s.audits),
		stamped:  s.stamped,
	}
	for i := range c.rows { // both may append: without spare room the copy moves first
		c.rows[i].Ends = slices.Clip(c.rows[i].Ends)
	}
	for i := range c.queues {
		c.queues[i].waiting = slices.Clone(c.queues[i].waiting)
		c.queues[i].leased = slices.Clone(c.queues[i].leased)
	}
	for i := range c.workers {
		c.workers[i].leases = slices.Clone(c.workers[i].leases)
	}
	return c
}

// Apply carries out one request at one reading of the clock. The error is a
// *store.BoundError or a *store.InvalidError, and then nothing has happened.
func (s *Store) Apply(req store.Request) (store.Reply, error) {
	s.changes = s.changes[:0]
	if err := store.Validate(req); err != nil {
		return nil, err
	}
	now := s.clock.Now()
	switch r := req.(type) {
	case *store.Claim:
		return s.claim(now, r), nil
	case *store.Renew:
		return s.renew(now, r), nil
	case *store.Report:
		return s.report(now, r), nil
	case *store.Sweep:
		return s.sweep(now, r), nil
	case *store.Enqueue:
		return s.enqueue(now, r), nil
	case *store.Do:
		return s.do(now, r), nil
	}
	panic("memory: Validate let an unknown request pass")
}

// Changes lists the rows that the last Apply changed, in the order in which it
// changed them; a renewal also where it happened to change no value. The slice
// is used again by the next Apply.
func (s *Store) Changes() []Change { return s.changes }

// Lookup returns the row of id. It points into the store: read it only, and
// only until the next Apply.
func (s *Store) Lookup(id store.JobID) (*store.Job, bool) {
	slot, ok := s.ids[id]
	if !ok {
		return nil, false
	}
	return &s.rows[slot], true
}

// Each visits the rows in the order of their enqueue until visit returns
// false. What Lookup says of its result holds for them too.
func (s *Store) Each(visit func(*store.Job) bool) {
	for i := range s.rows {
		if !visit(&s.rows[i]) {
			return
		}
	}
}

// Hold makes the store answer as if somebody's open transaction held the row
// of id, or, where there is none yet, were about to add it.
func (s *Store) Hold(id store.JobID) { s.held[id] = struct{}{} }

// Unhold ends Hold, whether or not it was called.
func (s *Store) Unhold(id store.JobID) { delete(s.held, id) }

// Damage makes the row unreadable from now on; why is what its next lease says
// of it. Nothing happens if there is no such row.
func (s *Store) Damage(id store.JobID, why string) {
	if slot, ok := s.ids[id]; ok {
		s.rows[slot].Damage = why
	}
}

// Paused reports whether claims pass the queue over.
func (s *Store) Paused(queue string) bool {
	q, ok := s.queueOf[queue]
	return ok && s.queues[q].paused
}

// Audits returns the recorded actions of operators, oldest first.
func (s *Store) Audits() []store.Audit { return slices.Clone(s.audits) }

// busy reports whether somebody holds the row of id.
func (s *Store) busy(id store.JobID) bool {
	if len(s.held) == 0 {
		return false
	}
	_, ok := s.held[id]
	return ok
}
