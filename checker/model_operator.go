package checker

import "backwave/store"

func (m *model) cancel(s jobState, o *op) {
	if o.repeat { // the effect of then must be there, unless success has hidden it
		if s.cancel || s.state == store.Succeeded && m.leftOpen(opCancel, o) {
			m.may(s)
		}
		return
	}
	switch store.DoResult(o.status) {
	case store.DoChanged:
		m.cancelled(s, o)
	case store.DoUnchanged:
		if s.state.Terminal() || s.state == store.Executing && s.cancel && !o.force && m.mayLive(&s, o) {
			m.may(s)
		}
	case store.DoRefused:
		if s.state.Terminal() {
			m.may(s)
		}
	case store.DoNotFound:
		if s.state == 0 {
			m.may(s)
		}
	case store.DoBusy:
		m.may(s)
	}
}

// leftOpen reports whether a call of that kind without an answer may have taken
// effect before o.
func (m *model) leftOpen(k opKind, o *op) bool {
	for i := range m.view.open {
		if p := &m.view.open[i]; p.kind == k && p.sent < o.ret {
			return true
		}
	}
	return false
}

// cancelled is a cancel that changed something.
func (m *model) cancelled(s jobState, o *op) {
	switch s.state {
	case store.Scheduled, store.Awaiting:
		s.state, s.cancel = store.Cancelled, true
		m.may(s)
	case store.Executing:
		if o.force || m.mayBeDead(&s, o) {
			m.may(m.ended(s, store.EndCancel, store.Cancelled, o.at, nil))
		}
		if !o.force && !s.cancel && m.mayLive(&s, o) {
			s.cancel = true
			m.may(s)
		}
	case 0, store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined:
	}
}

func requeueable(s store.State) bool { return s == store.DeadLettered || s == store.Quarantined }

func requeued(s jobState) jobState {
	s.state, s.base, s.unknown, s.due = store.Scheduled, s.attempt, 0, noInstant
	s.looseBase = s.looseBase || s.loose
	return s
}

func (m *model) requeue(s jobState, o *op) {
	switch store.DoResult(o.status) {
	case store.DoChanged:
		if requeueable(s.state) {
			m.may(requeued(s))
		}
	case store.DoUnchanged:
		if s.state != 0 && !requeueable(s.state) {
			m.may(s)
		}
	case store.DoRefused:
		if s.state != 0 && (!requeueable(s.state) || m.job.rows[s.row].UniqueKey != "") {
			m.may(s)
		}
	case store.DoNotFound:
		if s.state == 0 {
			m.may(s)
		}
	case store.DoBusy:
		m.may(s)
	}
}
