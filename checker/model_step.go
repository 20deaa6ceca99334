package checker

import (
	"time"

	"backwave/store"
)

// model is the sequential specification of one job, as one verdict sees it.
type model struct {
	*linear
	job  *jobStory
	view *view // the job, in this verdict
	side *side // what this verdict knows beside the job

	steps, budget int
	over          bool // the budget is spent, or a set grew past its bound

	reach, out []jobState // scratch
	order      []*op      // scratch
}

// count takes one step off the budget and reports whether there was one.
func (m *model) count() bool {
	if m.steps >= m.budget {
		m.over = true
	}
	m.steps++
	return !m.over
}

func (m *model) queue(s *jobState) *queueSide { return &m.side.queues[m.job.queues[s.row]] }

// step returns the states that may follow those of from if the next call to
// take effect is o, nil if o could not have had its answer in any of them.
func (m *model) step(from *stateSet, o *op) *stateSet {
	if !m.count() {
		return nil
	}
	m.out = m.out[:0]
	for i := range from.list {
		s := &from.list[i]
		before := len(m.out)
		m.direct(*s, o)
		if len(m.out) > before && !o.branches() {
			continue // drawing in less leaves every later choice open
		}
		for _, t := range m.silent(*s, o, o.goal()) {
			m.direct(t, o)
		}
	}
	if m.over || len(m.out) == 0 {
		return nil
	}
	if len(m.out) > maxStates {
		m.over = true
		return nil
	}
	return newSet(m.out)
}

// branches reports whether o pins down a state so that what may have happened
// before it cannot be drawn in afterwards.
func (o *op) branches() bool {
	return (o.kind == opCancel || o.kind == opRequeue) && store.DoResult(o.status) == store.DoChanged
}

// goal returns the attempt that o speaks of.
func (o *op) goal() int32 {
	switch o.kind {
	case opClaim, opRenew, opReport, opLapse:
		return o.attempt
	case opEnqueue, opCancel, opRequeue, opMalformed:
	}
	return noGoal
}

// direct adds to m.out what s becomes if o takes effect now and gets its
// answer; nothing if it cannot get it.
func (m *model) direct(s jobState, o *op) {
	switch o.kind {
	case opEnqueue:
		m.enqueue(s, o)
	case opClaim:
		m.claim(s, o)
	case opRenew:
		m.renew(s, o)
	case opReport:
		m.report(s, o)
	case opLapse:
		m.lapse(s, o)
	case opCancel:
		m.cancel(s, o)
	case opRequeue:
		m.requeue(s, o)
	case opMalformed:
	}
}

func (m *model) may(s jobState) { m.out = addState(m.out, s) }

func (m *model) enqueue(s jobState, o *op) {
	switch store.EnqueueStatus(o.status) {
	case store.EnqueueAdded:
		if s.state == 0 {
			m.may(m.added(s, o.row, o.at))
		}
	case store.EnqueueDuplicate:
		if s.state != 0 && m.job.same[s.row] == m.job.same[o.row] {
			m.may(s)
		}
	case store.EnqueueDiffers:
		if s.state != 0 && m.job.same[s.row] != m.job.same[o.row] {
			m.may(s)
		}
	case store.EnqueueHeld:
		if s.state == 0 && m.job.rows[o.row].UniqueKey != "" {
			m.may(s)
		}
	case store.EnqueueBusy:
		m.may(s)
	}
}

func (m *model) added(s jobState, row int16, at store.Instant) jobState {
	s.state, s.row, s.due = store.Scheduled, row, noInstant
	j := m.job.rows[row]
	switch {
	case j.HasAt:
		s.due = j.At
	case at != noInstant:
		s.due = at.Add(min(max(j.Delay, 0), store.MaxDuration))
	}
	return s
}

func (m *model) claim(s jobState, o *op) {
	if s.state == 0 || o.fits&(1<<s.row) == 0 {
		return
	}
	if s.state == store.Scheduled {
		m.newLease(s, o)
		return
	}
	s, ok := m.held(s, o.worker, o.number, o.attempt, o.ret) // the answer repeats a lease
	if !ok || o.at >= o.expires || !m.baseFits(&s, o.base) || !m.expiryFits(&s, o) {
		return
	}
	if s.until == noInstant || o.expires != s.until {
		s.until, s.sure, s.set = o.expires, o.expires, o.sent
	}
	m.may(s)
}

// newLease is a claim that takes s.
func (m *model) newLease(s jobState, o *op) {
	skipped := o.attempt - 1 - s.attempt
	if skipped != 0 && (!s.loose || skipped < 0 || int(s.drawn+skipped) > m.claims(&s, o)) {
		return
	}
	s.attempt, s.drawn, s.loose = o.attempt, s.drawn+skipped, false
	if o.at < s.due || o.expires != o.at.Add(o.lease) || !m.baseFits(&s, o.base) {
		return
	}
	s.state, s.worker, s.number = store.Executing, o.worker, o.number
	s.policy, s.length = m.policy(o.terms, m.job.rows[s.row].Name), o.lease
	s.until, s.sure, s.set = o.expires, o.expires, o.sent
	m.may(s)
}

// baseFits reports whether an answered base can be that of s, and binds an
// open one to it.
func (m *model) baseFits(s *jobState, base int32) bool {
	if s.looseBase && base >= s.base && base < s.attempt {
		s.base, s.looseBase = base, false
	}
	return s.base == base
}

// expiryFits reports whether an answered expiry can be the end of the lease.
func (m *model) expiryFits(s *jobState, o *op) bool {
	if s.until == noInstant || o.expires == s.until {
		return true
	}
	last, blurred, _ := m.latest(s, o)
	return o.expires < last && (blurred || o.expires >= s.sure || m.cut(s, o, o.expires))
}

func (m *model) renew(s jobState, o *op) {
	switch store.RenewStatus(o.status) {
	case store.RenewOK:
		s, ok := m.held(s, o.worker, o.number, o.attempt, o.ret)
		if ok && m.mayLive(&s, o) && o.expires == o.at.Add(o.lease) && o.cancel == s.cancel {
			s.until, s.set = o.expires, o.sent
			s.sure = o.at.Add(min(o.lease, max(s.length, time.Microsecond)))
			m.may(s)
		}
	case store.RenewLost:
		if m.maySayNo(&s, o) {
			m.may(s)
		}
	case store.RenewBusy:
		m.may(s)
	}
}

// maySayNo reports whether the fence may refuse o: it is not about the lease
// of s, or that lease may be dead.
func (m *model) maySayNo(s *jobState, o *op) bool {
	return s.state != store.Executing || s.worker != o.worker || s.number != o.number || s.attempt != o.attempt || m.mayBeDead(s, o)
}

func (m *model) report(s jobState, o *op) {
	switch store.ReportStatus(o.status) {
	case store.ReportApplied:
		s, ok := m.held(s, o.worker, o.number, o.attempt, o.ret)
		if ok && m.mayLive(&s, o) {
			m.endsAs(s, o.outcome.Kind(), o, o.outcome)
		}
	case store.ReportAlready:
		if e := m.outcomeOf(&s, o); e != nil && e.kind == o.already {
			m.may(s)
		}
	case store.ReportStale:
		e := m.outcomeOf(&s, o)
		known := e != nil && e.at != noInstant && o.at < e.at.Add(2*e.length) && !m.stepped
		if !known && m.maySayNo(&s, o) {
			m.may(s)
		}
	case store.ReportBusy, store.ReportRejected:
		m.may(s)
	}
}

// outcomeOf returns the recorded end that a worker reported under the very
// lease of o.
func (m *model) outcomeOf(s *jobState, o *op) *ending {
	e := s.ends.of(o.attempt)
	if e == nil || e.worker != o.worker || e.number != o.number {
		return nil
	}
	if e.kind == store.EndLapse || e.kind == store.EndCancel || e.kind == store.EndForce {
		return nil
	}
	return e
}

// endsAs is the end of an attempt whose following state was answered.
func (m *model) endsAs(s jobState, kind store.EndKind, o *op, outcome store.Outcome) {
	if a, b := m.next(&s, kind); o.to == a || b != 0 && o.to == b {
		m.may(m.ended(s, kind, o.to, o.at, outcome))
	}
}

func (m *model) lapse(s jobState, o *op) {
	s, ok := m.held(s, o.worker, o.number, o.attempt, o.ret)
	if !ok || o.at < o.expires || !m.expiryFits(&s, o) {
		return
	}
	q := m.job.rows[s.row].Queue
	if !sweepLists(o.sweep, q) && (!o.sweep.Any || s.length > 0 && o.at.Sub(o.expires) < s.length) {
		return
	}
	m.endsAs(s, store.EndLapse, o, nil)
}

func sweepLists(q *store.Sweep, queue string) bool {
	for _, name := range q.Queues {
		if name == queue {
			return true
		}
	}
	return false
}
