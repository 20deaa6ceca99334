package pump_test

import (
	"backwave/engine/pump"
	"backwave/store"
)

// jump is a WallJumped: views that the moved clock would end are in doubt, and
// a renewal in flight is no longer waited for.
func (g *ghost) jump() {
	any := false
	for _, h := range g.live() {
		if !h.lost && g.viewEnd(h) <= g.now {
			h.doubt = g.now.Add(g.cfg.OperationTimeout)
			if g.renewable(h) {
				h.urgent, any = true, true
			}
		}
	}
	if any {
		g.mayRenewEarly = true
		l := &g.lanes[pump.Renewing]
		if l.flight != nil {
			l.flight.done = true
		}
		l.flight, l.hold = nil, 0
	}
}

// passTime deals with everything that has come due before the event is heard.
func (g *ghost) passTime() {
	for _, h := range g.live() {
		if !h.lost && g.viewEnd(h) <= g.now {
			g.lose(h)
		}
		if h.gone {
			continue
		}
		if h.running && h.timeoutAt <= g.now {
			h.timeoutAt = pump.Never
			g.tell(h, pump.TimedOut)
			h.abandonAt = min(h.abandonAt, g.now.Add(g.cfg.AbandonAfter))
		}
		if !h.abandoned && h.abandonAt <= g.now {
			h.abandoned = true
			if !h.lost && !h.committed {
				g.expect(pump.Abandoned{Key: h.key})
			}
		}
	}
	for k := range g.lanes {
		if c := g.lanes[k].flight; c != nil && c.sent.Add(g.cfg.OperationTimeout) <= g.now {
			g.fault(c)
		}
	}
	if g.limit <= g.now {
		if g.phase == ghostFinishing {
			g.release()
		} else {
			g.stop()
		}
	}
}

func (g *ghost) tell(h *ghostAttempt, why pump.Reason) {
	if h.running && !h.told {
		h.told = true
		g.expect(pump.Cancel{Key: h.key, Why: why})
	}
}

func (g *ghost) lose(h *ghostAttempt) {
	h.lost = true
	switch {
	case h.running:
		g.tell(h, pump.LeaseLost)
	case !h.inReport && h.outcome.Kind() != store.EndSuccess:
		g.drop(h)
	}
}

func (g *ghost) drop(h *ghostAttempt) {
	if !h.committed {
		g.expect(pump.Dropped{Key: h.key, Kind: h.outcome.Kind()})
	}
	h.gone = true
}

// fault ends a call in flight without an answer.
func (g *ghost) fault(c *ghostCall) {
	l := &g.lanes[c.kind]
	l.flight = nil
	l.hold = g.now.Add(g.cfg.PollInterval)
	if !l.marked {
		l.marked = true
		g.expect(pump.Degraded{Kind: c.kind, Text: "why"})
	}
	switch c.kind {
	case pump.Renewing:
		c.done = true
		l.hold = g.now + g.renewRetry()
	case pump.Reporting:
		c.done = true
		for _, h := range c.rows {
			g.unreported(h)
		}
	case pump.Claiming: // its answer may still come
		g.nextPoll, g.more = g.now, false
	case pump.Sweeping:
		c.done = true
		g.sweepDue = g.now
		if c.any {
			g.anyDue = g.now
		}
	}
}

// success ends a call in flight with an answer, and reports whether c was it.
func (g *ghost) success(c *ghostCall) bool {
	l := &g.lanes[c.kind]
	if l.flight != c {
		return false
	}
	c.done = true
	l.flight, l.hold = nil, 0
	if l.marked {
		l.marked = false
		g.expect(pump.Recovered{Kind: c.kind})
	}
	return true
}

// unreported keeps an outcome whose report came to nothing.
func (g *ghost) unreported(h *ghostAttempt) {
	h.inReport = false
	if h.lost && (h.lateSends > 0 || h.outcome.Kind() != store.EndSuccess) {
		g.drop(h)
		return
	}
	h.again = g.now.Add(g.cfg.PollInterval)
}

func (g *ghost) release() {
	g.phase = ghostDraining
	g.limit = g.now.Add(g.cfg.ShutdownTimeout)
	for _, h := range g.live() {
		g.tell(h, pump.Draining)
	}
}

func (g *ghost) stop() {
	g.phase = ghostOver
	g.expect(pump.Stopped{})
}

func (g *ghost) halt(c pump.Cause) {
	g.phase = ghostOver
	g.expect(pump.Halted{Cause: c})
	for _, h := range g.live() {
		g.tell(h, pump.GroupHalted)
	}
}

// settle ends a drain that has nothing left to do.
func (g *ghost) settle() {
	if g.phase == ghostServing || g.lanes[pump.Claiming].flight != nil {
		return
	}
	for _, h := range g.live() {
		switch {
		case g.phase == ghostFinishing, h.outcome != nil, g.cfg.ReleaseOnDrain && h.running && !h.lost && !h.committed:
			return
		}
	}
	g.stop()
}
