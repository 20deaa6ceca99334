package checker

import "backwave/store"

// claimedAlone checks exclusive: no claim takes a job whose lease has not ended,
// and no key is granted twice.
func (w *Watch) claimedAlone(c *Commit, j *jobBook, ch *Change, req *store.Claim) {
	a := ch.After
	if j.live != 0 {
		w.breach(ruleExclusive, j, "claimed by %s at %s while %s until %s had not ended", req.Worker, w.clock(c.StoreNow), w.leaseName(j.live), w.clock(w.lease(j.live).until))
	}
	if a.Worker != req.Worker || a.Claim != req.Number {
		w.breach(ruleExclusive, j, "claimed by %s as number %d, but leased to %s as %d", req.Worker, req.Number, a.Worker, a.Claim)
	}
	if a.Attempt > j.most {
		return
	}
	// Only a store that forgot the first grant may grant the key once more,
	// to the same claim carried out again.
	if g := w.sameKey(j, a); g != 0 && !w.lease(g).gone {
		w.breach(ruleExclusive, j, "the key of %s was granted a second time", w.leaseName(g))
	}
}

// answeredLive checks that a claim answers leases only that are its own and
// alive.
func (w *Watch) answeredLive(c *Commit, req *store.Claim, r *store.Claimed) {
	for i := range r.Leases {
		k := r.Leases[i].Key
		j := w.jobOf[k.Job]
		if j != nil && w.holds(j, j.live, c.StoreNow) {
			if l := w.lease(j.live); l.worker == req.Worker && l.claim == req.Number && k.Claim == req.Number && l.attempt == k.Attempt {
				continue
			}
		}
		w.breach(ruleExclusive, j, "claim %d of %s was answered attempt %d at %s, which is not its living lease", req.Number, req.Worker, k.Attempt, w.clock(c.StoreNow))
	}
}

// numbered checks that a claim number is not used again once the answer to it
// was delivered in time: its leases are the pump's by then.
func (w *Watch) numbered(p *pumpBook, c *Call, req *store.Claim) {
	if req.Number <= p.closed || req.Number < p.number {
		w.pumpBreach(ruleExclusive, p, store.LeaseKey{}, "claim number %d was used again at %s after %d", req.Number, said(c.SentNode), max(p.closed, p.number))
	}
}
