package pump_test

import (
	"reflect"

	"backwave/engine/pump"
	"backwave/store"
)

// judgeCalls checks what was sent against what had to be and what might be.
func (g *ghost) judgeCalls(acts []pump.Action) {
	due := [4]bool{}
	for k := range due {
		due[k] = g.lanes[k].flight == nil && g.laneDue(pump.Kind(k)) <= g.now
	}
	sent := [4]bool{}
	last := -1
	for _, a := range acts {
		c, ok := a.(pump.Call)
		if !ok {
			continue
		}
		g.check(int(c.Kind) > last, "%v is sent out of order", c.Kind)
		last = int(c.Kind)
		sent[c.Kind] = true
		g.check(g.lanes[c.Kind].flight == nil, "a second %v while one is in flight", c.Kind)
		g.check(due[c.Kind] || g.mayBeEarly(c.Kind), "%v is sent before it is due at %v", c.Kind, g.laneDue(c.Kind))
		g.lastOp++
		g.check(c.Op == g.lastOp, "op %d follows op %d", c.Op, g.lastOp-1)
		g.lastOp = c.Op
		g.book(c)
	}
	for k := range due {
		g.check(sent[k] || !due[k], "%v is due and not sent", pump.Kind(k))
	}
}

// laneDue returns when an idle lane has to send, Never if it must not.
func (g *ghost) laneDue(k pump.Kind) pump.Time {
	t := pump.Never
	switch k {
	case pump.Renewing:
		for _, h := range g.live() {
			if g.renewable(h) {
				t = min(t, h.base.Add(g.cfg.HeartbeatInterval))
				if h.urgent {
					t = min(t, g.now)
				}
			}
		}
	case pump.Reporting:
		for _, h := range g.live() {
			if h.outcome != nil && !h.inReport {
				t = min(t, max(h.again, g.now))
			}
		}
	case pump.Claiming:
		if g.phase == ghostServing && g.free() > 0 && g.waiting() < g.cfg.PoolSize+g.cfg.ReportBatch {
			t = g.nextPoll
			if g.more || g.hinted {
				t = g.now
			}
		}
	case pump.Sweeping:
		switch {
		case g.phase != ghostServing:
		case g.swept:
			t = g.sweepDue
		default:
			t = g.start.Add(g.cfg.MaintenanceInterval)
		}
	}
	if t == pump.Never {
		return t
	}
	return max(t, g.lanes[k].hold)
}

// mayBeEarly says when a call before its due time is still allowed: the phase
// of the sweeps is a hash that only the pump knows, and a renewal that was
// called for may find other rows when it goes out.
func (g *ghost) mayBeEarly(k pump.Kind) bool {
	if g.now < g.lanes[k].hold {
		return false
	}
	return k == pump.Sweeping && !g.swept && g.phase == ghostServing || k == pump.Renewing && g.mayRenewEarly
}

// book checks the content of a call and takes it into the books.
func (g *ghost) book(a pump.Call) {
	c := &ghostCall{op: a.Op, kind: a.Kind, sent: g.now}
	switch r := a.Req.(type) {
	case *store.Renew:
		g.check(a.Kind == pump.Renewing, "a %T is sent as %v", r, a.Kind)
		g.bookRenew(c, r)
	case *store.Report:
		g.check(a.Kind == pump.Reporting, "a %T is sent as %v", r, a.Kind)
		g.bookReport(c, r)
	case *store.Claim:
		g.check(a.Kind == pump.Claiming, "a %T is sent as %v", r, a.Kind)
		g.bookClaim(c, r)
	case *store.Sweep:
		g.check(a.Kind == pump.Sweeping, "a %T is sent as %v", r, a.Kind)
		g.bookSweep(c, r)
	case *store.Enqueue, *store.Do, nil:
		g.check(false, "a pump sends a %T", r)
	}
	if err := store.Validate(a.Req); err != nil {
		g.check(false, "a request that no store accepts: %v", err)
	}
	g.calls[a.Op] = c
	g.lanes[a.Kind].flight = c
}

func (g *ghost) bookRenew(c *ghostCall, r *store.Renew) {
	g.mayRenewEarly = false
	g.check(r.Lease == g.cfg.LeaseDuration, "a renewal asks for %v", r.Lease)
	rows := map[store.LeaseKey]bool{}
	for _, row := range r.Rows {
		h := g.byKey[row.Key]
		if h == nil || !g.renewable(h) {
			g.check(false, "%v is renewed and must not be", row.Key)
			continue
		}
		rows[row.Key] = true
		var progress []byte
		if h.pending != 0 {
			progress = h.progress
		}
		g.check(sameProgress(row.Progress, progress), "%v carries progress %q, want %q", row.Key, row.Progress, progress)
		h.urgent = false
		c.rows, c.news = append(c.rows, h), append(c.news, h.pending)
	}
	for _, h := range g.live() {
		g.check(!g.renewable(h) || rows[h.key] || len(r.Rows) == store.MaxBatch, "%v is left out of a renewal", h.key)
	}
	g.check(len(r.Rows) > 0, "an empty renewal")
}

func (g *ghost) bookReport(c *ghostCall, r *store.Report) {
	ready := 0
	for _, h := range g.live() {
		if h.outcome != nil && !h.inReport && h.again <= g.now {
			ready++
		}
	}
	g.check(len(r.Rows) == min(ready, g.cfg.ReportBatch), "a report has %d rows, want %d of %d", len(r.Rows), g.cfg.ReportBatch, ready)
	for _, row := range r.Rows {
		h := g.byKey[row.Key]
		if h == nil || h.gone || h.outcome == nil || h.inReport || h.again > g.now {
			g.check(false, "%v is reported and must not be", row.Key)
			continue
		}
		g.check(reflect.DeepEqual(row.Outcome, h.outcome), "%v is reported as %v, want %v", row.Key, row.Outcome, h.outcome)
		h.inReport = true
		if h.lost {
			h.lateSends++
			g.check(row.Outcome.Kind() == store.EndSuccess && h.lateSends == 1, "%v is reported after its lease was lost", row.Key)
		}
		c.rows = append(c.rows, h)
	}
}

func (g *ghost) bookClaim(c *ghostCall, r *store.Claim) {
	if g.open && g.first+g.view() <= g.now {
		g.open = false
		g.number++
	}
	if !g.open {
		g.open, g.first = true, g.now
	}
	g.hinted = false
	c.number, c.first = g.number, g.first
	g.check(r.Number == g.number, "claim number is %d, want %d", r.Number, g.number)
	g.number = r.Number
	g.check(r.Max == min(g.free(), g.cfg.ClaimBatch), "a claim asks for %d, %d slots are free", r.Max, g.free())
	g.check(r.Lease == g.cfg.LeaseDuration, "a claim asks for a lease of %v", r.Lease)
	g.check(len(r.Queues) == len(g.cfg.Queues), "a claim names %d queues of %d", len(r.Queues), len(g.cfg.Queues))
	if g.cfg.Weighted {
		sum := 0
		for _, q := range r.Queues {
			sum += q.Most
		}
		g.check(sum == r.Max, "weighted quotas add up to %d of %d", sum, r.Max)
		return
	}
	for i, q := range r.Queues {
		g.check(q.Queue == g.cfg.Queues[i].Name && q.Most >= r.Max, "queue %d of a strict claim is %v", i, q)
	}
}

func (g *ghost) bookSweep(c *ghostCall, r *store.Sweep) {
	g.swept, g.sweepDue = true, g.now.Add(g.cfg.MaintenanceInterval)
	switch {
	case g.sweptAny:
		g.check(r.Any == (g.anyDue <= g.now), "a sweep of any queue: %v, due at %v", r.Any, g.anyDue)
	case g.now >= g.start.Add(g.cfg.LeaseDuration):
		g.check(r.Any, "no sweep of any queue in the first lease duration")
	}
	if r.Any {
		g.sweptAny, g.anyDue = true, g.now.Add(g.cfg.LeaseDuration)
	}
	c.any = r.Any
	g.check(r.Max == g.cfg.SweepBatch && len(r.Queues) == len(g.cfg.Queues), "a sweep of %v, at most %d", r.Queues, r.Max)
}

// judgeDeadline checks that the pump asks to be woken no later than it is
// needed.
func (g *ghost) judgeDeadline(deadline pump.Time) {
	need := g.limit
	if g.phase == ghostOver {
		g.check(deadline == pump.Never, "an ended pump wants to be woken at %v", deadline)
		return
	}
	for _, h := range g.live() {
		if !h.lost {
			need = min(need, g.viewEnd(h))
		}
		if h.running {
			need = min(need, h.timeoutAt)
		}
		if !h.abandoned && !h.lost {
			need = min(need, h.abandonAt)
		}
	}
	for k := range g.lanes {
		if c := g.lanes[k].flight; c != nil {
			need = min(need, c.sent.Add(g.cfg.OperationTimeout))
		} else {
			need = min(need, g.laneDue(pump.Kind(k)))
		}
	}
	g.check(deadline <= need, "the pump wants to be woken at %v, it is needed at %v", deadline, need)
}
