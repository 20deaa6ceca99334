package checker

import (
	"cmp"
	"slices"

	"backwave/store"
)

// noGoal asks silent for every state, not for those on the way to an attempt.
const noGoal = int32(-1)

// maxStates bounds the states one call may leave open. Past it the verdict is
// undecided; legal histories stay far below.
const maxStates = 256

// silent returns s and every state to which calls without an answer, sent
// before o was answered, or a completion in a transaction may have brought the
// job. With a goal it draws in unanswered claims one attempt at a time and no
// further than that attempt; without one it draws in "some claims" at once and
// leaves the number open.
//
// A call that is drawn in may be drawn in again later where the state allows
// it. That errs on the side of the store, and the state hardly ever allows it:
// an attempt ends once, a cancelled job stays cancelled.
func (m *model) silent(s jobState, o *op, goal int32) []jobState {
	m.reach = append(m.reach[:0], s)
	for i := 0; i < len(m.reach); i++ {
		if !m.count() || len(m.reach) > maxStates {
			m.over = true
			return m.reach[:0]
		}
		m.moves(m.reach[i], o, goal)
	}
	return m.reach
}

func (m *model) reached(s jobState) { m.reach = addState(m.reach, s) }

// moves adds to m.reach what one call without an answer may make of s.
func (m *model) moves(s jobState, o *op, goal int32) {
	switch s.state {
	case store.Scheduled:
		if goal == noGoal || s.attempt < goal {
			m.hiddenClaim(s, o, goal)
		}
	case store.Executing:
		if m.sweeps(&s, o) {
			m.hiddenEnd(s, store.EndLapse, nil)
		}
		if m.completes(&s) {
			m.hiddenEnd(s, store.EndSuccess, nil)
		}
	case 0, store.Awaiting, store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined:
	}
	for i := range m.view.open {
		p := &m.view.open[i]
		if p.sent >= o.ret {
			continue
		}
		m.pendingMove(s, p, o)
	}
}

func (m *model) pendingMove(s jobState, p *pending, o *op) {
	switch p.kind {
	case opEnqueue:
		if s.state == 0 {
			m.reached(m.added(s, p.row, noInstant))
		}
	case opReport:
		if t, ok := m.held(s, p.worker, p.number, p.attempt, o.ret); ok {
			m.hiddenEnd(t, p.outcome.Kind(), p.outcome)
		}
	case opCancel:
		switch s.state {
		case store.Scheduled, store.Awaiting:
			s.state, s.cancel = store.Cancelled, true
			m.reached(s)
		case store.Executing: // asked of a live lease; or it had lapsed, or was forced
			m.hiddenEnd(s, store.EndCancel, nil)
			s.cancel = true
			m.reached(s)
		case 0, store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined:
		}
	case opRequeue:
		if requeueable(s.state) && s.requeues&p.bit == 0 {
			s.requeues |= p.bit
			m.reached(requeued(s))
		}
	case opRenew, opClaim, opLapse, opMalformed: // a renewal is not in this list: it blurs the expiry, see latest
	}
}

// hiddenClaim draws in a claim without an answer.
func (m *model) hiddenClaim(s jobState, o *op, goal int32) {
	if int(s.drawn) >= m.claims(&s, o) {
		return
	}
	if goal != noGoal || !s.loose { // else "some more" is already said
		s.drawn++
		s.attempt++
	}
	s.state = store.Executing
	s.loose = s.loose || goal == noGoal
	s.looseBase = s.looseBase || s.loose
	s.worker, s.policy, s.number = hidden, noPolicy, 0
	s.until, s.sure, s.length, s.set = noInstant, noInstant, 0, 0
	m.reached(s)
}

// hiddenEnd draws in the end of an attempt at an instant that is not known.
func (m *model) hiddenEnd(s jobState, kind store.EndKind, o store.Outcome) {
	a, b := m.next(&s, kind)
	m.reached(m.ended(s, kind, a, noInstant, o))
	if b != 0 {
		m.reached(m.ended(s, kind, b, noInstant, o))
	}
}

// completes reports whether the handler of the lease of s may have recorded its
// success in a transaction. A handler starts on an answered claim only; and once
// it has begun to complete, its engine reports no success of its own.
func (m *model) completes(s *jobState) bool {
	if !m.opts.Completions || s.worker == hidden {
		return false
	}
	for i := range m.view.ops {
		if o := &m.view.ops[i]; o.kind == opReport && o.outcomeKind() == store.EndSuccess && o.worker == s.worker && o.number == s.number && o.attempt == s.attempt {
			return false
		}
	}
	for i := range m.view.open {
		if p := &m.view.open[i]; p.kind == opReport && p.outcome.Kind() == store.EndSuccess && p.worker == s.worker && p.number == s.number && p.attempt == s.attempt {
			return false
		}
	}
	return true
}

// claims counts the unanswered claims that may have taken s before o was
// answered.
func (m *model) claims(s *jobState, o *op) int {
	list := m.queue(s).claims
	n, _ := slices.BinarySearchFunc(list, o.ret, func(c openClaim, ret int64) int { return cmp.Compare(c.sent, ret) })
	return n
}

// sweeps reports whether an unanswered sweep may have disposed of the lease of
// s before o was answered.
func (m *model) sweeps(s *jobState, o *op) bool { return m.queue(s).sweep < o.ret }

// held returns s if it is leased under the key, or may be: a hidden lease is
// bound to the key if a claim of that worker and number is without an answer.
func (m *model) held(s jobState, worker int32, number uint64, attempt int32, ret int64) (jobState, bool) {
	if s.state != store.Executing {
		return s, false
	}
	if s.worker != hidden {
		return s, s.worker == worker && s.number == number && s.attempt == attempt
	}
	if attempt < s.attempt || !s.loose && attempt != s.attempt {
		return s, false
	}
	for i := range m.queue(&s).claims {
		c := &m.queue(&s).claims[i]
		if c.sent >= ret {
			return s, false
		}
		if c.worker == worker && c.claim.Number == number {
			s.drawn += attempt - s.attempt
			s.worker, s.number, s.attempt, s.loose = worker, number, attempt, false
			s.policy, s.length = m.policy(c.claim.Terms, m.job.rows[s.row].Name), c.claim.Lease
			return s, true
		}
	}
	return s, false
}

// latest returns the instant at which the lease of s is dead for certain: its
// end, moved by every renewal without an answer that may have come in time. ok
// is false if no such instant is known.
func (m *model) latest(s *jobState, o *op) (t store.Instant, blurred, ok bool) {
	if s.until == noInstant {
		return 0, true, false
	}
	t = s.until
	for _, i := range m.view.of[leaseName{s.worker, s.attempt, s.number}] {
		p := &m.view.lost[i]
		if p.sent >= o.ret {
			break // they are in the order of sending
		}
		t, blurred = t.Add(p.lease), true
	}
	return t, blurred, true
}

// mayLive reports whether the lease of s may be alive at the instant of o.
func (m *model) mayLive(s *jobState, o *op) bool {
	t, _, ok := m.latest(s, o)
	return !ok || o.at < t
}

// mayBeDead reports whether the lease of s may be dead at the instant of o.
func (m *model) mayBeDead(s *jobState, o *op) bool {
	if s.worker == hidden || o.at >= s.sure {
		return true
	}
	_, blurred, _ := m.latest(s, o)
	return blurred || m.cut(s, o, o.at)
}

// cut reports whether a sweep may have shortened the lease of s to by or to
// before it. A sweep does so when it sees a lease that runs longer than the
// stamped length from now, which takes a clock that stepped back.
func (m *model) cut(s *jobState, o *op, by store.Instant) bool {
	if m.side.sweep < o.ret {
		return true
	}
	for _, w := range m.side.swept {
		if w.sent < o.ret && w.ret > s.set && w.at.Add(s.length) <= by {
			return true
		}
	}
	return false
}
