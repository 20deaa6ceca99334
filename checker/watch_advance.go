package checker

import "slices"

// advance books what comes due by itself until node: ends of own views,
// timeouts, calls to be given up, limits of a drain. A pump must see it so
// before anything else of its next step.
func (p *pumpBook) advance(node int64) {
	if node < p.soon || node <= p.advanced {
		return
	}
	p.advanced = node
	gone := false
	for i := range p.holds {
		h := &p.holds[i]
		p.age(h, node)
		gone = gone || h.owes() && !h.inReport && h.drop()
	}
	if gone {
		p.dropLost()
	}
	for k := range p.lanes {
		if l := &p.lanes[k]; l.call != nil && l.giveUp <= node {
			p.failed(CallKind(k), node)
		}
	}
	if p.phase == phaseFinishing && node >= p.limit {
		p.phase = phaseDraining
		p.limit = node + int64(p.info.Shutdown)
	}
}

// age books what the passing of time does to one attempt.
func (p *pumpBook) age(h *hold, node int64) {
	if !h.lost && p.viewEnd(h) <= node {
		h.lost, h.doubt = true, 0
	}
	if h.running && h.timeoutAt <= node {
		h.timedOut, h.timeoutAt = true, forever
		h.abandonAt = min(h.abandonAt, node+int64(p.info.AbandonAfter))
	}
	if h.abandonAt <= node {
		h.abandoned = true
	}
}

// dropLost forgets the outcomes that come to nothing.
func (p *pumpBook) dropLost() {
	p.holds = slices.DeleteFunc(p.holds, func(h hold) bool { return h.owes() && !h.inReport && h.drop() })
}

// failed books that the call in flight of kind k failed transiently, or was
// given up, at node.
func (p *pumpBook) failed(k CallKind, node int64) {
	l := &p.lanes[k]
	l.call = nil
	l.hold = node + int64(p.info.Poll)
	p.degraded |= 1 << k
	p.soon = node
	switch k {
	case CallRenew:
		l.hold = node + p.retry
	case CallReport:
		for i := range p.holds {
			if h := &p.holds[i]; h.inReport {
				h.inReport = false
				h.again = node + int64(p.info.Poll)
			}
		}
		p.dropLost()
	case CallSweep:
		p.sweepDue = node
	case CallClaim, CallEnqueue, CallDo, CallForged, CallComplete:
	}
}

// await returns when something next comes due by itself after node.
func (p *pumpBook) await(node int64) int64 {
	soon := p.limit
	for k := range p.lanes {
		if l := &p.lanes[k]; l.call != nil {
			soon = min(soon, l.giveUp)
		}
	}
	if sweep := &p.lanes[CallSweep]; sweep.call == nil && p.phase == phaseServing {
		soon = min(soon, max(p.sweepDue, sweep.hold))
	}
	if claim := &p.lanes[CallClaim]; claim.call == nil && p.polls() {
		soon = min(soon, max(p.pollDue, claim.hold))
	}
	renew, report := &p.lanes[CallRenew], &p.lanes[CallReport]
	for i := range p.holds {
		h := &p.holds[i]
		if !h.lost {
			soon = min(soon, p.viewEnd(h))
		}
		if h.running {
			soon = min(soon, h.timeoutAt)
		}
		if !h.abandoned {
			soon = min(soon, h.abandonAt)
		}
		if renew.call == nil && p.keeps(h) {
			soon = min(soon, max(renew.hold, p.beat(h)))
		}
		if report.call == nil && h.owes() {
			soon = min(soon, max(report.hold, h.again))
		}
	}
	if p.urgent {
		soon = min(soon, max(renew.hold, node))
	}
	return soon
}

// polls reports whether the pump is to look for work: it serves, and has a free
// slot. One on which outcomes pile up may wait.
func (p *pumpBook) polls() bool {
	return p.phase == phaseServing && p.running < p.info.PoolSize && len(p.holds)-p.running < p.info.PoolSize
}

// beat is when a renewal is due on account of h.
func (p *pumpBook) beat(h *hold) int64 { return h.sent + int64(p.info.Heartbeat) }
