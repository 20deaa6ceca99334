package checker

import "backwave/store"

// Started tells that a pump starts the handler of an attempt, on the lease
// that taught it the key.
func (w *Watch) Started(id PumpID, key store.LeaseKey, name string, lease Ghost, node int64) {
	p := w.alive(id, node)
	if p == nil {
		return
	}
	w.startSilent(p, key, node)
	w.startedOnce(p, key, lease, node)
	p.running++
	w.pooled(p, key, node)
	h := p.find(key)
	if h == nil {
		return
	}
	h.running, h.fresh, h.engine, h.optional = true, false, false, false
	if after, ok := p.info.Timeouts[name]; ok {
		h.timeoutAt = node + int64(after)
	}
}

// Told tells that a pump ends the context of a running handler.
func (w *Watch) Told(id PumpID, key store.LeaseKey, why Why, node int64) {
	p := w.alive(id, node)
	if p == nil {
		return
	}
	h := p.find(key)
	if h == nil || !h.running {
		return // nobody hears it
	}
	if h.told == 0 {
		w.rightCause(p, h, why, node)
		h.told = why
	}
}

// Returned tells that a handler has returned, before the step of its pump.
func (w *Watch) Returned(id PumpID, key store.LeaseKey, outcome store.Outcome, node int64) {
	p := w.alive(id, node)
	if p == nil {
		return
	}
	p.running--
	h := p.find(key)
	if h == nil || !h.running || outcome == nil {
		return
	}
	h.running = false
	p.soon = min(p.soon, node) // a slot is free
	h.owed = p.conclude(h, outcome.Kind(), node)
	h.abandoned, h.abandonAt, h.timeoutAt = false, forever, forever
	if p.phase == phaseDraining { // nothing is told of a handler that the drain has interrupted
		h.owed, h.engine = store.EndRelease, true
		if !p.info.ReleaseOnDrain || h.completion.done {
			p.remove(key)
			return
		}
	}
	if p.fatal || h.drop() {
		p.remove(key)
		return
	}
	p.soon = min(p.soon, node)
}

// WallJumped tells a pump that node time was moved since the wall clock ran
// ahead. Views that this ends are in doubt for one operation timeout.
func (w *Watch) WallJumped(id PumpID, node int64) {
	p := w.pump(id)
	if p == nil || p.dead || p.fatal || p.over(node) {
		return
	}
	doubted := false
	for i := range p.holds {
		h := &p.holds[i]
		if !h.lost && p.viewEnd(h) <= node {
			h.doubt = node + int64(p.info.OpTimeout)
			doubted = doubted || p.keeps(h)
		}
	}
	if doubted { // the renewal in flight was sent before and says nothing of now
		p.lanes[CallRenew].call, p.lanes[CallRenew].hold = nil, 0
		p.urgent = true
	}
	p.soon = min(p.soon, node)
	p.advance(node)
}

// DrainAsked tells a pump to stop.
func (w *Watch) DrainAsked(id PumpID, node int64) {
	p := w.alive(id, node)
	if p == nil || p.fatal || p.phase != phaseServing {
		return
	}
	p.phase, p.limit = phaseDraining, node+int64(p.info.Shutdown)
	if p.info.Finish > 0 {
		p.phase, p.limit = phaseFinishing, node+int64(p.info.Finish)
	}
	p.soon = min(p.soon, node)
}

// Broke tells that the world made a pump meet what must fail-stop it.
func (w *Watch) Broke(id PumpID, node int64) {
	if p := w.alive(id, node); p != nil {
		p.fatal = true
	}
}

// Stepped tells that the actions of a step were carried out.
func (w *Watch) Stepped(s Step) {
	w.time(s.True)
	p := w.alive(s.Pump, s.Node)
	if p == nil {
		return
	}
	p.marks = s.Degraded
	if s.Halted || p.fatal {
		w.haltedRight(p, s)
		return
	}
	if s.Degraded != p.degraded {
		w.degradedRight(p, s)
	}
	if s.Node < p.soon {
		return
	}
	if p.over(s.Node) {
		p.soon = forever
		return
	}
	w.toldInTime(p, s.Node)
	for i := range p.holds { // what was not started is given back
		p.holds[i].fresh = false
	}
	w.renewSoon(p, s.Node)
	w.reportSoon(p, s.Node)
	w.sweepSent(p, s.Node)
	w.polled(p, s.Node)
	p.soon = p.await(s.Node)
}
