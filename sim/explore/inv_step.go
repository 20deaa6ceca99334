package explore

import (
	"backwave/engine/pump"
	"backwave/store"
)

// started judges the start of a handler.
func (m *machine) started(p *process, key store.LeaseKey) {
	b := &p.book
	if b.fatal || b.stood || b.phase != serving {
		m.breach("silence", "%s starts %s at %s although it drains or has fail-stopped", m.who(p), m.key(key), m.at())
	}
	if len(p.runs) > m.cfg.PoolSize {
		m.breach("pool", "%s starts %s at %s, and %d handlers run in a pool of %d", m.who(p), m.key(key), m.at(), len(p.runs), m.cfg.PoolSize)
	}
	h := b.find(key)
	if h == nil || h.lease == 0 {
		m.breach("one-start", "%s starts %s at %s on a lease that no answer had brought in time, or a second time", m.who(p), m.key(key), m.at())
		return
	}
	j := &m.jobs[m.jobOf(key.Job)]
	switch {
	case j.begun&(1<<h.lease) != 0:
		m.breach("one-start", "%s starts %s a second time on the same lease, at %s", m.who(p), m.key(key), m.at())
	case h.lost || m.viewEnd(h) <= m.now:
		m.breach("one-start", "%s starts %s at %s after its own view had ended", m.who(p), m.key(key), m.at())
	}
	j.begun |= 1 << h.lease
	h.running, h.engine, h.optional = true, false, false
	for _, t := range m.cfg.Timeouts {
		if t.Name == jobName {
			h.timeoutAt = m.now.Add(t.After)
		}
	}
}

// told judges that a running handler is told to stop.
func (m *machine) told(p *process, key store.LeaseKey, why pump.Reason) {
	b := &p.book
	h := b.find(key)
	if h == nil || !h.running || h.told != 0 {
		return
	}
	h.told = why
	ok := false
	switch why {
	case pump.GroupHalted:
		ok = b.fatal
	case pump.LeaseLost:
		ok = h.lost
	case pump.CancelRequested:
		ok = h.cancel && !h.lost
	case pump.Draining:
		ok = b.phase == draining && !h.lost
	case pump.TimedOut:
		ok = h.timedOut && !h.lost
	}
	if !ok {
		m.breach("told", "%s tells %s %q at %s, which is not so: lease lost %t, cancel asked %t, timed out %t", m.who(p), m.key(key), why, m.at(), h.lost, h.cancel, h.timedOut)
	}
}

// stepped judges a pump once a step of it was carried out.
func (m *machine) stepped(p *process) {
	b := &p.book
	if p.pump.Running() != len(p.runs) && !p.pump.Ended() {
		m.breach("pool", "%s counts %d handlers at %s, and %d run", m.who(p), p.pump.Running(), m.at(), len(p.runs))
	}
	if b.stood || b.fatal {
		m.steppedHalted(p)
		return
	}
	if b.shown != b.marks && b.phase == serving {
		m.breach("health", "%s shows the degraded marks %04b at %s; by how its last calls ended they are %04b (renew, report, claim, sweep from the right)", m.who(p), b.shown, m.at(), b.marks)
	}
	if b.over(m.now) {
		return
	}
	m.toldInTime(p)
	m.renewSoon(p)
	m.reportSoon(p)
	if b.phase != serving {
		return
	}
	if l := &b.lanes[pump.Sweeping]; l.op == 0 && m.now >= max(b.sweepDue, l.hold) {
		m.breach("detection", "no sweep was sent by %s at %s, and one was due", m.who(p), m.at())
	}
	free := len(p.runs) < m.cfg.PoolSize && len(b.holds)-len(p.runs) < m.cfg.PoolSize
	if l := &b.lanes[pump.Claiming]; l.op == 0 && free && m.now >= max(b.pollDue, l.hold) {
		m.breach("polling", "no claim was sent by %s at %s, and one was due", m.who(p), m.at())
	}
}

func (m *machine) steppedHalted(p *process) {
	b := &p.book
	switch {
	case b.stood && !b.fatal:
		m.breach("health", "%s fail-stopped at %s, and no fatal fault had been told to it", m.who(p), m.at())
	case !b.stood && b.phase == serving:
		m.breach("health", "%s did not fail-stop at %s on a fatal fault", m.who(p), m.at())
	case b.stood:
		m.seen |= sawHalt
		for i := range b.holds {
			if h := &b.holds[i]; h.running && h.told == 0 {
				m.breach("told", "%s was not told that %s fail-stopped at %s", m.key(h.key), m.who(p), m.at())
			}
		}
	}
}

func (m *machine) toldInTime(p *process) {
	b := &p.book
	for i := range b.holds {
		h := &b.holds[i]
		if !h.running || h.told != 0 {
			continue
		}
		why := pump.Reason(0)
		switch {
		case h.lost:
			why = pump.LeaseLost
		case h.timedOut:
			why = pump.TimedOut
		case h.cancel:
			why = pump.CancelRequested
		case b.phase == draining:
			why = pump.Draining
		default:
			continue
		}
		m.breach("told", "%s did not tell %s %q by %s", m.who(p), m.key(h.key), why, m.at())
	}
}

// renewSoon checks that a renewal that is due has gone out.
func (m *machine) renewSoon(p *process) {
	b := &p.book
	l := &b.lanes[pump.Renewing]
	if l.op != 0 || m.now < l.hold {
		return
	}
	for i := range b.holds {
		h := &b.holds[i]
		if b.keeps(h) && !h.optional && (b.urgent || h.sent.Add(m.cfg.HeartbeatInterval) <= m.now) {
			m.breach("margin", "no renewal of %s by %s is under way at %s; the lease rests on a send %v ago", m.key(h.key), m.who(p), m.at(), m.now.Sub(h.sent))
			return
		}
	}
	b.urgent = false
}

// reportSoon checks that no outcome waits that could be sent.
func (m *machine) reportSoon(p *process) {
	b := &p.book
	l := &b.lanes[pump.Reporting]
	if l.op != 0 || m.now < l.hold {
		return
	}
	for i := range b.holds {
		if h := &b.holds[i]; !h.running && !h.optional && h.again <= m.now {
			m.breach("obligations", "the outcome of %s is in no report of %s at %s, and none is in flight", m.key(h.key), m.who(p), m.at())
			return
		}
	}
}
