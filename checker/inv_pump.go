package checker

import "backwave/store"

// startedOnce checks one-start.
func (w *Watch) startedOnce(p *pumpBook, key store.LeaseKey, lease Ghost, node int64) {
	h := p.find(key)
	if h == nil || lease == 0 || h.ghost != lease {
		w.pumpBreach(ruleOneStart, p, key, "started at %s on a lease that no answer had brought in time", said(node))
		return
	}
	l := w.lease(lease)
	switch {
	case l.started:
		w.pumpBreach(ruleOneStart, p, key, "started a second time on the same lease, at %s", said(node))
	case h.damaged:
		w.pumpBreach(ruleOneStart, p, key, "started at %s although its row cannot be read", said(node))
	case h.lost || p.viewEnd(h) <= node:
		w.pumpBreach(ruleOneStart, p, key, "started at %s after its own view had ended at %s", said(node), said(p.viewEnd(h)))
	}
	l.started = true
}

// pooled checks pool at a start.
func (w *Watch) pooled(p *pumpBook, key store.LeaseKey, node int64) {
	if p.running > p.info.PoolSize {
		w.pumpBreach(rulePool, p, key, "is handler %d of %d that run at %s", p.running, p.info.PoolSize, said(node))
	}
}

// sameNumber checks pool at a send: a claim that was not answered keeps its
// number while leases it took could still be used, or they would come on top
// of those of the next number.
func (w *Watch) sameNumber(p *pumpBook, c *Call, req *store.Claim) {
	if p.open && req.Number > p.number && c.SentNode < p.first+p.view {
		w.pumpBreach(rulePool, p, store.LeaseKey{}, "claim number %d was sent at %s while number %d, first sent at %s, was not answered", req.Number, said(c.SentNode), p.number, said(p.first))
	}
}

// tookAgain checks pool at a commit: a claim takes no more than it asked, and
// one whose number, or a higher one, has a living lease takes nothing.
func (w *Watch) tookAgain(c *Commit, req *store.Claim) {
	if len(c.Changes) > req.Max {
		w.breach(rulePool, nil, "claim %d of %s asked for %d and took %d", req.Number, req.Worker, req.Max, len(c.Changes))
	}
	p := w.pump(c.Call.Pump)
	if p == nil {
		return
	}
	for g := p.tookFrom; p.took >= req.Number && g < p.tookTo; g++ {
		if l := w.lease(g); w.holds(l.job, g, c.StoreNow) {
			w.breach(rulePool, l.job, "claim %d of %s took %d at %s although %s lives", req.Number, req.Worker, len(c.Changes), w.clock(c.StoreNow), w.leaseName(g))
			break
		}
	}
	if req.Number >= p.took {
		p.took, p.tookFrom, p.tookTo = req.Number, Ghost(len(w.leases)+1), 0
	}
}

// silent checks silence at a send.
func (w *Watch) silent(p *pumpBook, c *Call) {
	switch {
	case p.fatal || p.halted:
		w.pumpBreach(ruleSilence, p, store.LeaseKey{}, "sent a %s at %s although it had to fail-stop", c.Kind, said(c.SentNode))
	case p.phase == phaseServing:
	case c.Kind == CallClaim || c.Kind == CallSweep:
		w.pumpBreach(ruleSilence, p, store.LeaseKey{}, "sent a %s at %s although it drains", c.Kind, said(c.SentNode))
	case p.over(c.SentNode):
		w.pumpBreach(ruleSilence, p, store.LeaseKey{}, "sent a %s at %s although its drain was over at %s", c.Kind, said(c.SentNode), said(p.limit))
	}
}

// startSilent checks silence at a start.
func (w *Watch) startSilent(p *pumpBook, key store.LeaseKey, node int64) {
	if p.fatal || p.halted || p.phase != phaseServing {
		w.pumpBreach(ruleSilence, p, key, "started at %s although its pump drains or has fail-stopped", said(node))
	}
}
