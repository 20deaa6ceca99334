package checker

import "backwave/store"

// reportSoon checks obligations after a step: with no report in flight, no
// outcome waits that could be sent.
func (w *Watch) reportSoon(p *pumpBook, node int64) {
	l := &p.lanes[CallReport]
	if l.call != nil || node < l.hold {
		return
	}
	for i := range p.holds {
		h := &p.holds[i]
		if h.owes() && !h.optional && h.again <= node {
			w.pumpBreach(ruleObligations, p, h.key, "its outcome (%s) is in no report at %s, and none is in flight", h.outcome(), said(node))
			return
		}
	}
}

// reportSent checks that a report carries outcomes as they were returned, and
// after a lost lease only a success, once.
func (w *Watch) reportSent(p *pumpBook, c *Call, req *store.Report) {
	for i := range req.Rows {
		key, kind := req.Rows[i].Key, req.Rows[i].Outcome.Kind()
		h := p.find(key)
		switch {
		case h == nil || !h.owes():
			r := ruleObligations
			if p.phase != phaseServing {
				r = ruleSilence
			}
			w.pumpBreach(r, p, key, "reported as %v at %s, which nobody had returned", kind, said(c.SentNode))
			continue
		case h.lost && (h.lastSent > 0 || kind != store.EndSuccess):
			w.pumpBreach(ruleObligations, p, key, "reported as %v at %s after its lease was lost (%d times before)", kind, said(c.SentNode), h.lastSent)
		case !h.may(kind):
			w.pumpBreach(ruleObligations, p, key, "reported as %v at %s; the outcome is %s", kind, said(c.SentNode), h.outcome())
		}
		if h.lost {
			h.lastSent++
		}
		h.inReport = true
	}
}

// may reports whether the outcome of h can be told as kind.
func (h *hold) may(kind store.EndKind) bool {
	switch {
	case !h.engine:
		return kind == h.owed
	case h.damaged:
		return kind == store.EndUndecodable
	}
	return kind == store.EndRelease
}

func (h *hold) outcome() string {
	switch {
	case !h.engine:
		return h.owed.String()
	case h.damaged:
		return "its row cannot be read"
	}
	return "to be given back"
}
