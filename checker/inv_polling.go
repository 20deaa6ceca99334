package checker

import "backwave/store"

// polled checks polling.
func (w *Watch) polled(p *pumpBook, node int64) {
	l := &p.lanes[CallClaim]
	if l.call != nil || !p.polls() {
		return
	}
	if due := max(p.pollDue, l.hold); node >= due {
		w.pumpBreach(rulePolling, p, store.LeaseKey{}, "no claim was sent by %s; one was due at %s", said(node), said(due))
	}
}

// answeredAgain checks pool at a commit: a claim is answered every lease that
// its number took and that lives, or a lost answer would strand them.
func (w *Watch) answeredAgain(c *Commit, req *store.Claim, r *store.Claimed) {
	p := w.pump(c.Call.Pump)
	if p == nil || p.took != req.Number {
		return
	}
	for g := p.tookFrom; g < p.tookTo; g++ {
		l := w.lease(g)
		if !w.holds(l.job, g, c.StoreNow) || l.worker != req.Worker || l.claim != req.Number {
			continue
		}
		if !answers(r, l.job.id) {
			w.breach(rulePool, l.job, "claim %d of %s was not answered %s at %s, which it took and which lives", req.Number, req.Worker, w.leaseName(g), w.clock(c.StoreNow))
		}
	}
}

func answers(r *store.Claimed, id store.JobID) bool {
	for i := range r.Leases {
		if r.Leases[i].Key.Job == id {
			return true
		}
	}
	return false
}
