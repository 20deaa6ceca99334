package explore

import (
	"backwave/engine/pump"
	"backwave/store"
)

// sent judges a call as it leaves.
func (m *machine) sent(p *process, c *call) {
	b := &p.book
	m.silent(p, c.kind)
	l := &b.lanes[c.kind]
	if l.op != 0 {
		m.breach("polling", "%s sent a second %s at %s while one was in flight", m.who(p), c.kind, m.at())
	}
	l.op, l.giveUp = c.op, m.now.Add(m.cfg.OperationTimeout)
	switch req := c.req.(type) {
	case *store.Claim:
		m.claimSent(p, c, req)
	case *store.Renew:
		b.urgent = false
		m.renewSent(p, c, req)
	case *store.Report:
		m.reportSent(p, c, req)
	case *store.Sweep:
		b.sweepDue = m.now.Add(m.cfg.MaintenanceInterval)
	case *store.Enqueue, *store.Do:
	}
}

func (m *machine) silent(p *process, k pump.Kind) {
	b := &p.book
	switch {
	case b.fatal || b.stood:
		m.breach("silence", "%s sent a %s at %s although it had to fail-stop", m.who(p), k, m.at())
	case b.phase != serving && (k == pump.Claiming || k == pump.Sweeping):
		m.breach("silence", "%s sent a %s at %s although it drains", m.who(p), k, m.at())
	case b.over(m.now):
		m.breach("silence", "%s sent a %s at %s although its drain was over", m.who(p), k, m.at())
	}
}

func (m *machine) claimSent(p *process, c *call, req *store.Claim) {
	b := &p.book
	if req.Number < b.number || req.Number == b.number && b.closed {
		m.breach("exclusive", "%s used a claim number again at %s, after it had been answered", m.who(p), m.at())
	}
	if b.open && req.Number > b.number && m.now < m.viewEnd(&hold{sent: b.first}) {
		m.breach("pool", "%s sent a new claim number at %s while the last was not answered", m.who(p), m.at())
	}
	if req.Number != b.number || !b.open {
		b.number, b.first, b.open, b.closed = req.Number, m.now, true, false
	}
	c.since = b.first
	b.pollDue = m.now.Add(m.cfg.PollInterval)
}

func (m *machine) renewSent(p *process, c *call, req *store.Renew) {
	b := &p.book
	kept := 0
	for i := range req.Rows {
		key := req.Rows[i].Key
		h := b.find(key)
		serial := uint8(0)
		switch {
		case h == nil:
			m.breach("margin", "%s renews %s at %s without holding it", m.who(p), m.key(key), m.at())
		case b.phase == draining && h.running:
			m.breach("silence", "%s renews %s at %s although it drains and the handler has not returned", m.who(p), m.key(key), m.at())
		case !b.keeps(h):
			m.breach("margin", "%s renews %s at %s although the lease is lost or given up", m.who(p), m.key(key), m.at())
		}
		if h != nil {
			serial = h.lease
			if !h.optional {
				kept++
			}
		}
		c.leases = append(c.leases, serial)
	}
	want := 0
	for i := range b.holds {
		if h := &b.holds[i]; b.keeps(h) && !h.optional {
			want++
		}
	}
	if kept < want {
		m.breach("margin", "a renewal of %s at %s carries %d of the %d leases that are to be kept", m.who(p), m.at(), kept, want)
	}
}

func (m *machine) reportSent(p *process, c *call, req *store.Report) {
	b := &p.book
	for i := range req.Rows {
		key, kind := req.Rows[i].Key, req.Rows[i].Outcome.Kind()
		h := b.find(key)
		serial := uint8(0)
		if h == nil || h.running {
			rule := "obligations"
			if b.phase != serving {
				rule = "silence"
			}
			m.breach(rule, "%s reports %s as %v at %s, which nobody had returned", m.who(p), m.key(key), kind, m.at())
			c.leases = append(c.leases, serial)
			continue
		}
		owed := h.owed
		if h.engine {
			owed = store.EndRelease
		}
		switch {
		case h.lost && (h.sentLost > 0 || kind != store.EndSuccess):
			m.breach("obligations", "%s reports %s as %v at %s after its lease was lost", m.who(p), m.key(key), kind, m.at())
		case kind != owed:
			m.breach("obligations", "%s reports %s as %v at %s; the outcome is %v", m.who(p), m.key(key), kind, m.at(), owed)
		}
		if h.lost && h.sentLost < 2 {
			h.sentLost++
		}
		h.inReport = true
		c.leases = append(c.leases, h.lease)
	}
}

// answered books an answer before its pump hears it.
func (m *machine) answered(p *process, c *call) {
	b := &p.book
	if b.fatal || c.heard {
		return
	}
	l := &b.lanes[c.kind]
	inTime := l.op == c.op
	if c.refused {
		switch {
		case inTime && c.failed.Transient():
			b.failed(m, c.kind)
		case inTime:
			b.fatal = true
		}
		return
	}
	if inTime {
		l.op, l.hold = 0, 0
		b.marks &^= 1 << c.kind
	}
	switch r := c.reply.(type) {
	case *store.Claimed:
		m.claimAnswered(p, c, r, inTime)
	case *store.Renewed:
		if inTime {
			b.renewAnswered(m, c, r)
		}
	case *store.Reported:
		if inTime {
			b.reportAnswered(m, c.req.(*store.Report), r)
		}
	case *store.Swept:
		if inTime && len(r.Disposed) >= m.cfg.SweepBatch {
			b.sweepDue = m.now
		}
	case *store.Enqueued, *store.Done:
	}
}

// claimAnswered books the leases that an answer brings, each once.
func (m *machine) claimAnswered(p *process, c *call, r *store.Claimed, inTime bool) {
	b := &p.book
	number := c.req.(*store.Claim).Number
	if number == b.number && (inTime || b.lanes[pump.Claiming].op == 0) {
		b.open = false
	}
	b.closed = b.closed || inTime && number == b.number
	if m.viewEnd(&hold{sent: c.since}) <= m.now || b.over(m.now) {
		return // over by the own view: they lapse
	}
	for i := range r.Leases {
		key := r.Leases[i].Key
		j, serial := &m.jobs[m.jobOf(key.Job)], c.leases[i]
		if serial == 0 || key.Claim != number || j.taught&(1<<serial) != 0 || b.find(key) != nil {
			continue
		}
		j.taught |= 1 << serial
		b.holds = append(b.holds, hold{
			key: key, lease: serial, sent: c.since, timeoutAt: pump.Never, abandonAt: pump.Never,
			engine: true, optional: !inTime && b.phase != serving,
		})
		b.urgent = b.urgent || !inTime
	}
}

func (b *book) renewAnswered(m *machine, c *call, r *store.Renewed) {
	req := c.req.(*store.Renew)
	for i := range min(len(req.Rows), len(r.Rows)) {
		h := b.find(req.Rows[i].Key)
		if h == nil || h.lost {
			continue
		}
		switch a := r.Rows[i]; a.Status {
		case store.RenewOK:
			h.sent = max(h.sent, c.since)
			if a.Cancel && h.running {
				h.cancel = true
				h.abandonAt = min(h.abandonAt, m.now.Add(m.cfg.AbandonAfter))
			}
		case store.RenewLost:
			h.lost = true
		case store.RenewBusy:
			b.lanes[pump.Renewing].hold = m.now.Add(m.cfg.LeaseDuration / 20)
		}
	}
	b.dropLost()
}

func (b *book) reportAnswered(m *machine, req *store.Report, r *store.Reported) {
	for i := range min(len(req.Rows), len(r.Rows)) {
		h := b.find(req.Rows[i].Key)
		if h == nil || h.running {
			continue
		}
		h.inReport = false
		switch r.Rows[i].Status {
		case store.ReportApplied, store.ReportAlready, store.ReportStale:
			b.remove(h.key)
		case store.ReportBusy, store.ReportRejected:
			h.again = m.now.Add(m.cfg.PollInterval)
		}
	}
	b.dropLost()
}
