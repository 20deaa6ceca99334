package checker

import "backwave/store"

// renewSoon checks margin after a step: a renewal that is due has gone out.
func (w *Watch) renewSoon(p *pumpBook, node int64) {
	l := &p.lanes[CallRenew]
	if l.call != nil || node < l.hold {
		return
	}
	for i := range p.holds {
		h := &p.holds[i]
		if !p.keeps(h) || h.optional {
			continue
		}
		if p.urgent || p.beat(h) <= node {
			w.pumpBreach(ruleMargin, p, h.key, "no renewal is under way at %s; the lease rests on a send at %s, and its own view ends at %s", said(node), said(h.sent), said(p.viewEnd(h)))
			return
		}
	}
	p.urgent = false
}

// renewSent checks that a renewal carries the leases that are to be kept, and
// no other: whoever is over is left to lapse.
func (w *Watch) renewSent(p *pumpBook, c *Call, req *store.Renew) {
	kept := 0
	for i := range req.Rows {
		key := req.Rows[i].Key
		switch h := p.find(key); {
		case h == nil:
			w.pumpBreach(ruleMargin, p, key, "renewed at %s without being held", said(c.SentNode))
		case p.phase == phaseDraining && !h.owes():
			w.pumpBreach(ruleSilence, p, key, "renewed at %s although its pump drains and its handler has not returned", said(c.SentNode))
		case !p.keeps(h):
			w.pumpBreach(ruleMargin, p, key, "renewed at %s although its lease is lost or given up", said(c.SentNode))
		case !h.optional:
			kept++
		}
	}
	want := 0
	for i := range p.holds {
		if h := &p.holds[i]; p.keeps(h) && !h.optional {
			want++
		}
	}
	if kept < want {
		w.pumpBreach(ruleMargin, p, store.LeaseKey{}, "a renewal sent at %s carries %d of the %d leases that are to be kept", said(c.SentNode), kept, want)
	}
}
