package pump

import "backwave/store"

// sweep returns a request for the queues served; once in a LeaseDuration it
// covers leases of any queue, so that a queue nobody serves is not stuck.
func (p *Pump) sweep() store.Request {
	l := &p.lanes[Sweeping]
	l.any = p.anyDue <= p.now
	if l.any {
		p.anyDue = p.now.Add(p.cfg.LeaseDuration)
	}
	l.due = p.now.Add(p.cfg.MaintenanceInterval)
	return &store.Sweep{Queues: p.sweeps, Any: l.any, Max: p.cfg.SweepBatch}
}

func (p *Pump) swept(ev Swept, out []Action) []Action {
	l := &p.lanes[Sweeping]
	if !p.answered(Sweeping, ev.Op, &out) {
		return out
	}
	if ev.Disposed >= p.cfg.SweepBatch { // there may be more: the next one does not wait
		l.due = p.now
		if l.any {
			p.anyDue = p.now
		}
	}
	return out
}
