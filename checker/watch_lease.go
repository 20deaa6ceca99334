package checker

import "backwave/store"

// grant books a lease that a claim took, and returns its ghost. A claim whose
// answer got lost may be carried out again after the store forgot that it was:
// that is the same lease to everybody, so its ghost is the same too.
func (w *Watch) grant(c *Commit, j *jobBook, after *store.Job, length int64) Ghost {
	g := Ghost(0)
	if after.Attempt <= j.most { // only after the store forgot
		g = w.sameKey(j, after)
	}
	if g == 0 {
		w.leases = append(w.leases, leaseBook{job: j, pump: c.Call.Pump, worker: after.Worker, claim: after.Claim, attempt: after.Attempt, ever: j.newest})
		g = Ghost(len(w.leases))
		j.newest = g
	}
	j.most = max(j.most, after.Attempt)
	l := w.lease(g)
	l.until, l.length = after.LeaseUntil, length
	l.ended, l.to, l.endAt, l.gone = 0, 0, 0, false
	l.before = j.last
	j.live, j.last = g, g
	w.heapAdd(w.queues[j.queue], g)
	w.stamped = max(w.stamped, c.StoreNow)
	return g
}

// sameKey finds the lease ever granted of j under the key and worker of after.
func (w *Watch) sameKey(j *jobBook, after *store.Job) Ghost {
	for g := j.newest; g != 0; g = w.lease(g).ever {
		if l := w.lease(g); l.attempt == after.Attempt && l.claim == after.Claim && l.worker == after.Worker {
			return g
		}
	}
	return 0
}

// extend books a new end of the job's live lease.
func (w *Watch) extend(j *jobBook, until store.Instant, length int64) {
	l := w.lease(j.live)
	l.until, l.length = until, length
	w.heapFix(w.queues[j.queue], l.pos)
}

// finish books that the job's live lease has ended.
func (w *Watch) finish(c *Commit, j *jobBook, kind store.EndKind, to store.State) {
	l := w.lease(j.live)
	w.heapRemove(w.queues[j.queue], j.live)
	l.ended, l.to, l.endAt = kind, to, c.StoreNow
	j.live = 0
	j.ends++
	j.done = w.commits
}

// follow takes over what a row became by a change that nothing justifies, so
// that one mistake is not told as twenty.
func (w *Watch) follow(c *Commit, j *jobBook, ch *Change) {
	switch {
	case j.live != 0 && ch.After.State != store.Executing:
		kind := store.EndKind(0)
		if n := len(ch.After.Ends); n > 0 {
			kind = ch.After.Ends[n-1].Kind
		}
		w.finish(c, j, kind, ch.After.State)
	case j.live != 0:
		w.extend(j, ch.After.LeaseUntil, int64(ch.After.LeaseFor))
	}
	j.base, j.unknown = ch.After.Base, ch.After.UnknownNames
}
