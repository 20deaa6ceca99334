package checker

import "backwave/store"

// claimedCancelled checks the first half of no-claim-after-cancel.
func (w *Watch) claimedCancelled(c *Commit, j *jobBook) {
	if j.cancel {
		w.breach(ruleNoClaimAfterCancel, j, "claimed at %s after a cancel had been accepted", w.clock(c.StoreNow))
	}
}

// cancelled books a cancel that the store accepted, and checks that a lease
// that had lapsed, or is ended by force, is disposed of at once.
func (w *Watch) cancelled(c *Commit, cmd store.Cancel, r *store.Done) {
	j := w.jobOf[cmd.Job]
	if j == nil || !j.exists || j.state.Terminal() || r.Result == store.DoBusy {
		return
	}
	if j.held {
		w.breach(ruleNeighbours, j, "a cancel was answered %v while the row was locked", r.Result)
		return
	}
	if r.Result != store.DoChanged && r.Result != store.DoUnchanged {
		w.breach(ruleNoClaimAfterCancel, j, "a cancel of a job that is %v was answered %v", j.state, r.Result)
		return
	}
	j.cancel = true
	over := j.state != store.Executing || cmd.Force || !w.holds(j, j.live, c.StoreNow)
	if over && len(c.Changes) == 0 {
		w.breach(ruleNoClaimAfterCancel, j, "a cancel at %s left it %v (force %t)", w.clock(c.StoreNow), j.state, cmd.Force)
	}
}

// cancelledRow checks what a cancel did to the row it changed.
func (w *Watch) cancelledRow(c *Commit, cmd store.Cancel, j *jobBook, ch *Change) {
	a := ch.After
	if a.ID != cmd.Job {
		w.breach(ruleLegal, j, "changed by a cancel of another job")
	}
	if j.live == 0 {
		return
	}
	alive := w.holds(j, j.live, c.StoreNow)
	if a.State == store.Executing {
		if !alive || cmd.Force {
			w.breach(ruleNoClaimAfterCancel, j, "a cancel at %s left attempt %d executing, alive %t, force %t", w.clock(c.StoreNow), a.Attempt, alive, cmd.Force)
		}
		if a.LeaseUntil != w.lease(j.live).until || !a.CancelRequested {
			w.breach(ruleFence, j, "a cancel at %s did more than ask, or did not ask", w.clock(c.StoreNow))
		}
		return
	}
	kind := store.EndCancel
	if alive {
		kind = store.EndForce
		if !cmd.Force {
			w.breach(ruleFence, j, "a cancel without force at %s ended %s, which lives until %s", w.clock(c.StoreNow), w.leaseName(j.live), w.clock(w.lease(j.live).until))
		}
	}
	w.finish(c, j, kind, a.State)
}

// carried checks that the answer to a renewal says whether a cancel was asked.
func (w *Watch) carried(j *jobBook, a store.RenewAnswer) {
	if a.Cancel != j.cancel {
		w.breach(ruleNoClaimAfterCancel, j, "a renewal was answered cancel requested %t, want %t", a.Cancel, j.cancel)
	}
}
