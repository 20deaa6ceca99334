package pump_test

import (
	"backwave/engine/pump"
	"backwave/store"
)

// event books what an event tells.
func (g *ghost) event(ev pump.Event) {
	if g.phase == ghostOver {
		if r, ok := ev.(pump.Returned); ok && g.byKey[r.Key] != nil {
			g.byKey[r.Key].running = false
		}
		return
	}
	switch ev := ev.(type) {
	case pump.Woken, pump.WallJumped:
	case pump.Claimed:
		g.claimed(ev)
	case pump.Renewed:
		g.renewed(ev)
	case pump.Reported:
		g.reported(ev)
	case pump.Swept:
		c := g.calls[ev.Op]
		if c != nil && c.kind == pump.Sweeping && g.success(c) && ev.Disposed >= g.cfg.SweepBatch {
			g.sweepDue = g.now
			if c.any {
				g.anyDue = g.now
			}
		}
	case pump.Failed:
		g.failed(ev)
	case pump.Returned:
		g.returned(ev)
	case pump.Progressed:
		if h := g.byKey[ev.Key]; h != nil && h.running {
			h.news++
			h.progress, h.pending = ev.Data, h.news
		}
	case pump.Completing:
		if h := g.byKey[ev.Key]; h != nil && h.running && !h.committed {
			h.completes, h.open = true, true
		}
	case pump.Completed:
		g.completed(ev)
	case pump.Hinted:
		g.hinted = true
	case pump.Drained:
		switch {
		case g.phase != ghostServing:
		case g.cfg.FinishTimeout > 0:
			g.phase, g.limit = ghostFinishing, g.now.Add(g.cfg.FinishTimeout)
		default:
			g.release()
		}
	case pump.Broke:
		g.halt(ev.Cause)
	}
}

// claimed books an answer to a claim: each call is answered once, also after
// it was given up, and a key becomes known once.
func (g *ghost) claimed(ev pump.Claimed) {
	c := g.calls[ev.Op]
	if c == nil || c.kind != pump.Claiming || c.done {
		return
	}
	inFlight := g.success(c)
	c.done = true
	if g.open && g.number == c.number && g.lanes[pump.Claiming].flight == nil {
		g.open = false
		g.number++
	}
	if c.first+g.view() > g.now {
		for _, l := range ev.Leases {
			if l.Key.Claim == c.number && g.byKey[l.Key] == nil {
				g.admit(l, c.first, !inFlight)
			}
		}
	}
	if !inFlight {
		return
	}
	g.more = len(ev.Leases) > 0 && ev.HasNext && ev.Next == 0
	if len(ev.Leases) > 0 {
		g.interval = pump.Time(g.cfg.PollInterval)
	}
	g.nextPoll = c.sent + g.interval
	if len(ev.Leases) == 0 {
		g.interval = min(2*g.interval, pump.Time(g.cfg.MaxPollInterval))
	}
	if ev.HasNext && ev.Next > 0 {
		g.nextPoll = min(g.nextPoll, g.now.Add(max(ev.Next, g.cfg.PollInterval/64)))
	}
}

// admit makes a lease known: it starts, or waits to be given back or to be
// quarantined.
func (g *ghost) admit(l store.Lease, first pump.Time, late bool) {
	h := &ghostAttempt{key: l.Key, base: first, timeoutAt: pump.Never, abandonAt: pump.Never, urgent: late}
	switch {
	case l.Damage != "":
		h.outcome = store.Undecodable{Error: l.Damage}
	case g.phase != ghostServing || g.free() <= 0:
		h.outcome = store.Released{}
	default:
		h.running = true
		for _, t := range g.cfg.Timeouts {
			if t.Name == l.Name {
				h.timeoutAt = g.now.Add(t.After)
			}
		}
		g.expect(pump.Start{Lease: l})
	}
	g.mayRenewEarly = g.mayRenewEarly || late
	g.attempts = append(g.attempts, h)
	g.byKey[l.Key] = h
}

func (g *ghost) renewed(ev pump.Renewed) {
	c := g.calls[ev.Op]
	if c == nil || c.kind != pump.Renewing || !g.success(c) {
		return
	}
	for i, a := range ev.Rows {
		h := c.rows[i]
		if h.gone || h.lost {
			continue
		}
		switch a.Status {
		case store.RenewOK:
			h.base = max(h.base, c.sent)
			if h.base+g.view() > g.now {
				h.doubt = 0
			}
			if h.pending != 0 && h.pending == c.news[i] {
				h.pending = 0
			}
			if a.Cancel && h.running {
				g.tell(h, pump.CancelRequested)
				h.abandonAt = min(h.abandonAt, g.now.Add(g.cfg.AbandonAfter))
			}
		case store.RenewLost:
			if !h.open && !h.committed {
				g.lose(h)
			}
		case store.RenewBusy:
			g.lanes[pump.Renewing].hold = g.now + g.renewRetry()
		}
	}
}

func (g *ghost) reported(ev pump.Reported) {
	c := g.calls[ev.Op]
	if c == nil || c.kind != pump.Reporting || !g.success(c) {
		return
	}
	for i, a := range ev.Rows {
		h := c.rows[i]
		switch a.Status {
		case store.ReportApplied, store.ReportAlready:
			h.inReport, h.gone = false, true
		case store.ReportStale:
			h.inReport = false
			g.drop(h)
		case store.ReportBusy:
			g.unreported(h)
		case store.ReportRejected:
			plain := h.outcome.Kind() == store.EndFailure
			h.outcome = store.Failure{Error: a.Reason}
			g.unreported(h)
			if !plain {
				h.again = 0
			}
		}
	}
}

func (g *ghost) failed(ev pump.Failed) {
	c := g.calls[ev.Op]
	if c == nil || c.done {
		return
	}
	c.done = true
	switch {
	case g.lanes[c.kind].flight != c: // given up before: nothing new
	case !ev.Fault.Transient():
		g.halt(pump.Cause{Type: ev.Type, Message: ev.Text})
	default:
		g.fault(c)
	}
}

func (g *ghost) returned(ev pump.Returned) {
	h := g.byKey[ev.Key]
	if h == nil || !h.running || ev.Outcome == nil {
		return
	}
	h.running = false
	h.abandoned, h.abandonAt, h.timeoutAt = false, pump.Never, pump.Never
	h.outcome = ev.Outcome
	if h.completes && ev.Outcome.Kind() == store.EndSuccess {
		h.outcome = store.Failure{Error: "completion not committed"}
	}
	h.open = false // the own view rules again
	h.lost = h.lost || g.viewEnd(h) <= g.now
	switch {
	case g.phase == ghostDraining && (!g.cfg.ReleaseOnDrain || h.lost || h.committed):
		h.gone = true
	case g.phase == ghostDraining:
		h.outcome = store.Released{}
	case h.lost && h.outcome.Kind() != store.EndSuccess:
		g.drop(h)
	}
}

// completed books how the handler's own transaction ended.
func (g *ghost) completed(ev pump.Completed) {
	h := g.byKey[ev.Key]
	if h == nil || !h.running || !h.completes {
		return
	}
	switch {
	case ev.End == store.CompletionCommitted:
		h.open, h.committed, h.lost = false, true, false
	case ev.End == store.CompletionRolledBack && h.open:
		h.open = false
		if !h.lost && g.viewEnd(h) <= g.now {
			g.lose(h)
		}
	}
}
