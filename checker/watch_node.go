package checker

import "backwave/store"

// Sent tells that a pump, a client or an operator sends c, or that somebody
// forged it.
func (w *Watch) Sent(c *Call) {
	w.time(c.SentTrue)
	w.sends++
	c.seq, c.answered = w.sends, false
	if c.Kind > CallSweep {
		return
	}
	p := w.alive(c.Pump, c.SentNode)
	if p == nil {
		return
	}
	w.silent(p, c)
	l := &p.lanes[c.Kind]
	l.call, l.giveUp = c, c.SentNode+int64(p.info.OpTimeout)
	p.soon = min(p.soon, l.giveUp)
	switch req := c.Req.(type) {
	case *store.Claim:
		w.numbered(p, c, req)
		w.sameNumber(p, c, req)
		if req.Number != p.number || !p.open {
			p.number, p.first, p.open = req.Number, c.SentNode, true
		}
		c.first = p.first
		p.pollDue = c.SentNode + int64(max(p.info.Poll, p.info.MaxPoll))
		p.soon = min(p.soon, p.pollDue)
	case *store.Renew:
		w.renewSent(p, c, req)
		p.urgent = false
	case *store.Report:
		w.reportSent(p, c, req)
	case *store.Sweep:
		w.anySwept(p, c, req)
		p.sweepDue = c.SentNode + int64(p.info.Maintenance)
		p.soon = min(p.soon, p.sweepDue)
	case *store.Enqueue, *store.Do:
	}
}

// Answered tells that the answer to c was delivered to its sender, before the
// step of a pump that it causes. leases are the ghosts of a Claimed's leases.
func (w *Watch) Answered(c *Call, reply store.Reply, leases []Ghost, fault store.Fault, failed bool, node int64) {
	if c.Pump < 0 {
		w.peopleAnswered(c, reply, failed)
		return
	}
	p := w.alive(c.Pump, node)
	if p == nil || c.answered || p.fatal || c.Kind > CallSweep {
		return
	}
	c.answered = true
	l := &p.lanes[c.Kind]
	inTime := l.call == c
	if failed {
		switch {
		case inTime && fault.Transient():
			p.failed(c.Kind, node)
		case inTime:
			p.fatal = true
		}
		return
	}
	if inTime {
		l.call, l.hold = nil, 0
		p.degraded &^= 1 << c.Kind
	}
	switch r := reply.(type) {
	case *store.Claimed:
		p.claimAnswered(w, c, r, leases, inTime, node)
	case *store.Renewed:
		if inTime {
			p.renewAnswered(c.Req.(*store.Renew), r, c.SentNode, node)
		}
	case *store.Reported:
		if inTime {
			p.reportAnswered(c.Req.(*store.Report), r, node)
		}
	case *store.Swept:
		if inTime && len(r.Disposed) >= p.info.SweepBatch {
			p.sweepDue = node
			p.soon = min(p.soon, node)
		}
	case *store.Enqueued, *store.Done:
	}
}

// claimAnswered books the leases that an answer brings.
func (p *pumpBook) claimAnswered(w *Watch, c *Call, r *store.Claimed, leases []Ghost, inTime bool, node int64) {
	number := c.Req.(*store.Claim).Number
	if inTime {
		p.closed = max(p.closed, number)
	}
	if number == p.number && (inTime || p.lanes[CallClaim].call == nil) {
		p.open = false
	}
	if c.first+p.view <= node || p.over(node) {
		return // over by the own view: they lapse
	}
	for i := range r.Leases {
		l := &r.Leases[i]
		if i >= len(leases) || leases[i] == 0 || l.Key.Claim != number || w.lease(leases[i]).taught || p.find(l.Key) != nil {
			continue
		}
		w.lease(leases[i]).taught = true
		p.add(hold{
			key: l.Key, ghost: leases[i], sent: c.first, timeoutAt: forever, abandonAt: forever,
			fresh: true, engine: true, damaged: l.Damage != "",
			optional: !inTime && p.phase != phaseServing,
		})
		p.soon = min(p.soon, node)
		p.urgent = p.urgent || !inTime
	}
}

// renewAnswered books what the answer to the renewal in flight says.
func (p *pumpBook) renewAnswered(req *store.Renew, r *store.Renewed, sent, node int64) {
	p.soon = min(p.soon, node)
	for i := range min(len(req.Rows), len(r.Rows)) {
		h := p.find(req.Rows[i].Key)
		if h == nil || h.lost {
			continue
		}
		switch a := r.Rows[i]; a.Status {
		case store.RenewOK:
			h.sent = max(h.sent, sent)
			if h.sent+p.view > node {
				h.doubt = 0
			}
			if a.Cancel && h.running {
				h.cancel = true
				h.abandonAt = min(h.abandonAt, node+int64(p.info.AbandonAfter))
			}
		case store.RenewLost:
			if !h.completion.apart { // else its own success may be what ended it
				h.lost, h.doubt = true, 0
			}
		case store.RenewBusy:
			p.lanes[CallRenew].hold = node + p.retry
		}
	}
	p.dropLost()
}

// reportAnswered books what the answer to the report in flight says.
func (p *pumpBook) reportAnswered(req *store.Report, r *store.Reported, node int64) {
	p.soon = min(p.soon, node)
	for i := range min(len(req.Rows), len(r.Rows)) {
		h := p.find(req.Rows[i].Key)
		if h == nil || h.running {
			continue
		}
		h.inReport = false
		switch r.Rows[i].Status {
		case store.ReportApplied, store.ReportAlready, store.ReportStale:
			p.remove(h.key)
		case store.ReportBusy:
			h.again = node + int64(p.info.Poll)
		case store.ReportRejected:
			h.owed, h.engine, h.again = store.EndFailure, false, 0
		}
	}
	p.dropLost()
}

// peopleAnswered books what clients and operators get to know.
func (w *Watch) peopleAnswered(c *Call, reply store.Reply, failed bool) {
	if failed {
		return
	}
	switch req := c.Req.(type) {
	case *store.Enqueue:
		if r, ok := reply.(*store.Enqueued); ok {
			w.acknowledged(c, req, r)
		}
	case *store.Do:
		if r, ok := reply.(*store.Done); ok && r.Result != store.DoBusy {
			w.pauseAnswered(req)
		}
	case *store.Claim, *store.Renew, *store.Report, *store.Sweep:
	}
}
