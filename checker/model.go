package checker

import (
	"math"
	"time"

	"backwave/store"
)

// noInstant stands for "some instant that is not known": no comparison that
// asks for at least it can fail.
const noInstant = store.Instant(math.MinInt64)

// hidden is the worker of a lease that an unanswered claim took: it is some
// worker whose claim may have come this far.
const hidden = int32(-1)

// noPolicy says that the terms of a lease are not known.
const noPolicy = int32(-1)

// jobState is what the sequential specification knows of one job. It is a
// plain value; only ends is shared, and never written.
//
// What a call without an answer may have done is not kept here as a list of
// possibilities, but drawn in when a later answer needs it: see silent.
type jobState struct {
	state     store.State // 0: the job does not exist
	row       int16       // which of the enqueues sent for this id made it
	requeues  uint8       // which unanswered requeues were drawn in
	cancel    bool        // a cancel was accepted
	loose     bool        // attempt is a lower bound: unanswered claims ran meanwhile
	looseBase bool        // so is base
	attempt   int32
	base      int32
	unknown   int32         // attempts of this life that found no handler
	drawn     int32         // unanswered claims drawn in
	due       store.Instant // earliest instant of a claim; noInstant if not known

	worker int32 // of the lease, while Executing
	policy int32 // stamped terms, an index into linear.policies
	number uint64
	until  store.Instant // end of the lease; noInstant if not known
	sure   store.Instant // before it the lease lives unless a stepped clock cut it
	length time.Duration // stamped length
	set    int64         // position of the call that set until

	ends *ending
}

// ending is a recorded end of an attempt, newest first.
type ending struct {
	prev    *ending
	attempt int32
	worker  int32
	number  uint64
	kind    store.EndKind
	at      store.Instant // noInstant if not known
	length  time.Duration // stamped length of its lease
}

func (e *ending) of(attempt int32) *ending {
	for ; e != nil && e.attempt >= attempt; e = e.prev {
		if e.attempt == attempt {
			return e
		}
	}
	return nil
}

func (s *jobState) equal(o *jobState) bool {
	a, b := *s, *o
	a.ends, b.ends = nil, nil
	if a != b {
		return false
	}
	x, y := s.ends, o.ends
	for x != y {
		if x == nil || y == nil {
			return false
		}
		p, q := *x, *y
		p.prev, q.prev = nil, nil
		if p != q {
			return false
		}
		x, y = x.prev, y.prev
	}
	return true
}

// stateSet is all the states a job may be in after some calls: more than one if a
// call without an answer has left a choice. It is never written once built.
type stateSet struct {
	list []jobState
	one  [1]jobState // backs list when there is one state, which is nearly always
}

func newSet(list []jobState) *stateSet {
	s := &stateSet{}
	s.list = append(s.one[:0], list...)
	return s
}

func (s *stateSet) equal(o *stateSet) bool {
	if len(s.list) != len(o.list) {
		return false
	}
	for i := range s.list {
		if !hasState(o.list, &s.list[i]) {
			return false
		}
	}
	return true
}

func hasState(list []jobState, s *jobState) bool {
	for i := range list {
		if list[i].equal(s) {
			return true
		}
	}
	return false
}

// addState appends s unless it is there.
func addState(list []jobState, s jobState) []jobState {
	if hasState(list, &s) {
		return list
	}
	return append(list, s)
}
