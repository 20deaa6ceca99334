package checker

import "backwave/store"

// moved checks legal and final: a job moves along the table of states only.
func (w *Watch) moved(c *Commit, j *jobBook, ch *Change, how by) {
	b, a := ch.Before, ch.After
	fresh := b.ID.IsZero()
	switch {
	case fresh && j.exists:
		w.breach(ruleLegal, j, "added a second time, as %v", a.State)
		return
	case !fresh && !j.exists:
		w.breach(ruleLegal, j, "changed, though nobody had added it")
		return
	case !fresh && b.State != j.state:
		w.breach(ruleLegal, j, "was %v when it was last changed, and %v before this change", j.state, b.State)
	}
	if b.State.Terminal() && how != byRequeue {
		w.breach(ruleFinal, j, "had ended as %v, and was changed (%v) by %s", b.State, a.State, how)
		return
	}
	if n := len(a.Output); n > store.MaxOutput {
		w.breach(ruleLegal, j, "has an output of %d bytes, over the bound of %d", n, store.MaxOutput)
	}
	if !allowed(how, b.State, a.State) {
		w.breach(ruleLegal, j, "went from %v to %v by %s at %s", b.State, a.State, how, w.clock(c.StoreNow))
	}
}

// allowed is the table of moves. The state 0 is that of a job not added yet.
func allowed(how by, from, to store.State) bool {
	switch how {
	case byEnqueue:
		return from == 0 && (to == store.Scheduled || to == store.Awaiting || to == store.Cancelled)
	case byClaim:
		return from == store.Scheduled && to == store.Executing
	case byRenew:
		return from == store.Executing && to == store.Executing
	case byReport:
		return from == store.Executing && (to == store.Scheduled || to.Terminal())
	case bySweep: // executing to executing: a lease that runs too long is cut
		return from == store.Executing && (to == store.Scheduled || to == store.DeadLettered || to == store.Cancelled || to == store.Executing)
	case byCancel:
		return (from == store.Scheduled || from == store.Awaiting || from == store.Executing) && to == store.Cancelled ||
			from == store.Executing && to == store.Executing
	case byRequeue:
		return (from == store.DeadLettered || from == store.Quarantined) && to == store.Scheduled
	case byNothing:
	}
	return false
}

// String returns what people call it.
func (b by) String() string {
	return [...]string{"an enqueue", "a claim", "a renewal", "a report", "a sweep", "a cancel", "a requeue", "a command that changes no job"}[b]
}
