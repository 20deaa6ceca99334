package explore

import (
	"slices"

	"backwave/engine/pump"
	"backwave/store"
)

// book is what the invariants know of a process: what it has sent and was
// answered, counted anew from docs/semantics.md and not taken from the pump.
// All times are of the node's clock.
type book struct {
	phase phase
	limit pump.Time // of finishing, or of draining
	fatal bool      // it met what must fail-stop it
	stood bool      // it said that it has
	shown uint8     // the marks it shows: a bit for each kind of call
	marks uint8     // those it has to

	lanes  [4]lane
	number uint64    // of the claim sent last
	closed bool      // it was answered in time
	open   bool      // it was not answered
	first  pump.Time // first send of number; meaningful if open
	urgent bool      // a renewal must go out at once

	sweepDue, pollDue pump.Time
	holds             []hold
}

type phase uint8

const (
	serving phase = iota
	finishing
	draining
)

// lane is one kind of call.
type lane struct {
	op     pump.Op // in flight; 0 = none
	giveUp pump.Time
	hold   pump.Time // no other before, after a fault
}

// hold is one attempt that a process has to do with.
type hold struct {
	key   store.LeaseKey
	lease uint8     // serial
	sent  pump.Time // its own view counts from here

	running, lost, cancel, timedOut, abandoned bool
	told                                       pump.Reason
	timeoutAt, abandonAt                       pump.Time

	engine   bool          // its outcome is not a handler's: the lease is to be given back
	optional bool          // need not be given back: learned late, in a drain
	owed     store.EndKind // what a handler returned
	inReport bool
	sentLost uint8     // sends of the outcome after the lease was lost, at most 2 counted
	again    pump.Time // not to be sent before
}

func (b *book) reset() { *b = book{holds: b.holds[:0], limit: pump.Never} }

func (b *book) begin(m *machine) {
	b.reset()
	b.sweepDue, b.pollDue = m.now.Add(m.cfg.MaintenanceInterval), m.now.Add(m.cfg.PollInterval)
}

func (b *book) find(key store.LeaseKey) *hold {
	for i := range b.holds {
		if b.holds[i].key == key {
			return &b.holds[i]
		}
	}
	return nil
}

func (b *book) remove(key store.LeaseKey) {
	b.holds = slices.DeleteFunc(b.holds, func(h hold) bool { return h.key == key })
}

// viewEnd is when a lease is over by the own view.
func (m *machine) viewEnd(h *hold) pump.Time {
	return h.sent.Add(m.cfg.LeaseDuration - m.cfg.LeaseDuration/50)
}

// keeps reports whether the lease of h is to be renewed.
func (b *book) keeps(h *hold) bool {
	return !h.lost && !h.abandoned && (b.phase != draining || !h.running)
}

// drop reports whether what was returned comes to nothing: of a lost lease only
// a success is sent, once.
func (h *hold) drop() bool {
	return !h.running && h.lost && (h.sentLost > 0 || h.owed != store.EndSuccess)
}

func (b *book) over(now pump.Time) bool { return b.phase == draining && now >= b.limit }

// advance books what comes due by itself until now.
func (b *book) advance(m *machine) {
	for i := range b.holds {
		h := &b.holds[i]
		if !h.lost && m.viewEnd(h) <= m.now {
			h.lost = true
		}
		if h.running && h.timeoutAt <= m.now {
			h.timedOut, h.timeoutAt = true, pump.Never
			h.abandonAt = min(h.abandonAt, m.now.Add(m.cfg.AbandonAfter))
		}
		if h.abandonAt <= m.now {
			h.abandoned = true
		}
	}
	b.dropLost()
	for k := range b.lanes {
		if l := &b.lanes[k]; l.op != 0 && l.giveUp <= m.now {
			b.failed(m, pump.Kind(k))
		}
	}
	if b.phase == finishing && m.now >= b.limit {
		b.phase, b.limit = draining, m.now.Add(m.cfg.ShutdownTimeout)
	}
}

func (b *book) dropLost() {
	b.holds = slices.DeleteFunc(b.holds, func(h hold) bool { return !h.inReport && h.drop() })
}

// failed books that the call in flight of kind k failed, or was given up.
func (b *book) failed(m *machine, k pump.Kind) {
	l := &b.lanes[k]
	l.op, l.hold = 0, m.now.Add(m.cfg.PollInterval)
	b.marks |= 1 << k
	switch k {
	case pump.Renewing:
		l.hold = m.now.Add(min(m.cfg.PollInterval, m.cfg.LeaseDuration/20))
	case pump.Reporting:
		for i := range b.holds {
			if h := &b.holds[i]; h.inReport {
				h.inReport, h.again = false, m.now.Add(m.cfg.PollInterval)
			}
		}
		b.dropLost()
	case pump.Sweeping:
		b.sweepDue = m.now
	case pump.Claiming:
	}
}

func (b *book) drainAsked(m *machine) {
	b.advance(m)
	if b.fatal || b.phase != serving {
		return
	}
	b.phase, b.limit = draining, m.now.Add(m.cfg.ShutdownTimeout)
	if m.cfg.FinishTimeout > 0 {
		b.phase, b.limit = finishing, m.now.Add(m.cfg.FinishTimeout)
	}
}

func (b *book) returned(m *machine, key store.LeaseKey, o store.Outcome) {
	h := b.find(key)
	if h == nil || !h.running {
		return
	}
	h.running, h.owed = false, o.Kind()
	h.abandoned, h.abandonAt, h.timeoutAt = false, pump.Never, pump.Never
	if b.phase == draining { // nothing is told of a handler that the drain has interrupted
		h.owed, h.engine = store.EndRelease, true
		if !m.cfg.ReleaseOnDrain {
			b.remove(key)
			return
		}
	}
	if b.fatal || h.drop() {
		b.remove(key)
	}
}
