package explore

import (
	"backwave/engine/pump"
	"backwave/store"
)

// hasty returns a move that alone needs to be taken in this state, if there is
// one: whatever else can happen in this tick may as well happen after it, with
// the same states once time moves on. That is so only while no fault can befall
// the call, so only once the budget is spent. Nothing that changes a row, starts
// or ends a handler or ends an attempt is hasty; TestHasty compares.
func (m *machine) hasty() (move, bool) {
	if m.left > 0 || m.thorough {
		return move{}, false
	}
	for i, p := range m.procs {
		if !p.alive || p.paused {
			continue
		}
		if len(p.runs)+len(p.calls) == 0 && p.pump.Deadline() <= m.now {
			return move{do: wake, proc: uint8(i)}, true // it touches nobody else, and nothing can reach it before
		}
		settled := p.pump.Deadline() > m.now // whatever it hears, it has been told what is due
		for k := range p.calls {
			c := &p.calls[k]
			switch {
			case c.late:
			case !c.answered && m.idle(c):
				return move{apply, uint8(i), uint8(k)}, true
			case c.answered && settled && m.empty(p, c):
				return move{deliver, uint8(i), uint8(k)}, true
			}
		}
	}
	return move{}, false
}

// idle reports whether c finds nothing now, nor later in this tick: a sweep
// while no lease has lapsed, since none lapses before time moves on.
func (m *machine) idle(c *call) bool {
	if c.kind != pump.Sweeping {
		return false
	}
	for i := range m.opt.Jobs {
		if row := m.row(i); row.State == store.Executing && row.LeaseUntil <= m.Now() {
			return false
		}
	}
	return true
}

// empty reports whether the answer to c does nothing but end the call: that to
// a sweep that was not full, and that of no leases to the only claim.
func (m *machine) empty(p *process, c *call) bool {
	switch r := c.reply.(type) {
	case *store.Swept:
		return len(r.Disposed) < m.cfg.SweepBatch
	case *store.Claimed:
		claims := 0
		for k := range p.calls {
			if p.calls[k].kind == pump.Claiming {
				claims++
			}
		}
		return len(r.Leases) == 0 && claims == 1 && p.waits(c)
	case *store.Renewed, *store.Reported, *store.Enqueued, *store.Done, nil:
	}
	return false
}
