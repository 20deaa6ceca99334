package pump

import "backwave/store"

// renewable reports whether the lease of h is to be kept alive.
func (p *Pump) renewable(h *held) bool {
	if h.lost || h.abandoned || h.apart() {
		return false
	}
	return p.phase < draining || h.outcome != nil
}

// renewal returns a request for every lease that is to be kept, or nil if the
// oldest of them does not need it yet.
func (p *Pump) renewal() store.Request {
	due, n := p.oldest()
	if n == 0 || (due > p.now && !p.urgent) {
		p.beat = due
		p.urgent = p.urgent && n > 0
		return nil
	}
	p.beat, p.urgent = due, false
	rows := make([]store.RenewRow, 0, min(n, store.MaxBatch))
	for i := 0; i < p.held.len() && len(rows) < store.MaxBatch; i++ {
		h := p.held.at(i)
		if !p.renewable(h) || (n > store.MaxBatch && h.sent.Add(p.cfg.HeartbeatInterval) > p.now) {
			continue // too many for one request: those that are not due yet must wait
		}
		h.carried = h.progress != nil
		rows = append(rows, store.RenewRow{Key: h.key, Progress: h.progress})
	}
	if len(rows) == 0 {
		return nil
	}
	l := &p.lanes[Renewing]
	l.renew = rows
	return &store.Renew{Worker: p.worker, Lease: p.cfg.LeaseDuration, Rows: l.renew}
}

// oldest returns when a renewal is due on account of the oldest send that a
// lease rests on, and how many leases are to be kept.
func (p *Pump) oldest() (due Time, n int) {
	due = Never
	for i := range p.held.len() {
		if h := p.held.at(i); p.renewable(h) {
			due = min(due, h.sent.Add(p.cfg.HeartbeatInterval))
			n++
		}
	}
	return due, n
}

func (p *Pump) renewed(ev Renewed, out []Action) []Action {
	sent := p.lanes[Renewing].sent
	if !p.answered(Renewing, ev.Op, &out) {
		return out
	}
	l := &p.lanes[Renewing]
	rows := l.renew
	l.renew = nil
	if len(rows) != len(ev.Rows) {
		panic("pump: the answer to a renewal has another number of rows than the request")
	}
	for k, a := range ev.Rows {
		i, ok := p.held.find(rows[k].Key)
		if !ok || p.held.at(i).lost {
			continue
		}
		switch a.Status {
		case store.RenewOK:
			out = p.kept(p.held.at(i), a, sent, out)
		case store.RenewLost:
			if !p.held.at(i).apart() { // else its own success may be what ended it
				out, _ = p.lose(i, out)
			}
		case store.RenewBusy:
			l.hold = p.now.Add(p.cfg.renewRetry())
		}
	}
	p.beat, _ = p.oldest()
	return out
}

// kept books a lease that was renewed by a call sent at sent.
func (p *Pump) kept(h *held, a store.RenewAnswer, sent Time, out []Action) []Action {
	h.sent = max(h.sent, sent)
	if h.sent.Add(p.cfg.view()) > p.now {
		h.doubtUntil = 0
	}
	if h.carried { // a newer one would stay for the next renewal
		h.progress, h.carried = nil, false
	}
	if a.Cancel && h.running {
		out = p.tell(h, CancelRequested, out)
		h.abandonAt = min(h.abandonAt, p.now.Add(p.cfg.AbandonAfter))
		p.soon = min(p.soon, h.abandonAt)
	}
	return out
}

// renewalFailed lets the rows of a failed renewal go out again.
func (p *Pump) renewalFailed() {
	p.lanes[Renewing].renew = nil
	p.beat, _ = p.oldest()
}

// doubt keeps views alive that the move of node time would end: it may be the
// wall clock that is wrong. A renewal finds out, at once; its answer, or one
// operation timeout, ends the doubt.
func (p *Pump) doubt() {
	any := false
	for i := range p.held.len() {
		h := p.held.at(i)
		if !h.lost && p.viewEnd(h) <= p.now {
			h.doubtUntil = p.now.Add(p.cfg.OperationTimeout)
			any = any || p.renewable(h)
		}
	}
	if !any {
		return
	}
	// A renewal in flight was sent before the jump and says nothing of now.
	l := &p.lanes[Renewing]
	l.op, l.renew, l.hold = 0, nil, 0
	p.urgent = true
}
