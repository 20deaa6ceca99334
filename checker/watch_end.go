package checker

import "backwave/store"

// acknowledged checks not-lost when a client gets its answer.
func (w *Watch) acknowledged(c *Call, req *store.Enqueue, r *store.Enqueued) {
	if c.seq <= w.forgotAt {
		return // the store may have forgotten it meanwhile
	}
	for i := range min(len(req.Jobs), len(r.Rows)) {
		switch r.Rows[i].Status {
		case store.EnqueueAdded, store.EnqueueDuplicate, store.EnqueueDiffers:
			if j := w.book(req.Jobs[i].ID); !j.exists {
				w.breach(ruleNotLost, j, "its enqueue was answered %v, and there is no such job", r.Rows[i].Status)
			}
		case store.EnqueueHeld, store.EnqueueBusy:
		}
	}
}

// Forgot tells that the store lost its last commits, and what the rows are now.
// Nothing that only the lost commits said holds any longer.
func (w *Watch) Forgot(rows []*store.Job, trueNow int64) {
	w.time(trueNow)
	w.commits++
	w.sends++ // what is sent from now on comes after it
	w.forgotAt = w.sends
	w.auditsKnown = false
	w.requests = map[string]struct{}{}
	w.keys = map[string]*jobBook{}
	w.cutBefore = w.stamped
	for _, q := range w.queues {
		q.paused, q.known, q.since = false, false, 0
		for _, g := range q.leased {
			w.lease(g).pos = -1
		}
		q.leased = q.leased[:0]
	}
	for _, j := range w.jobs {
		j.exists, j.live, j.last = false, 0, 0
	}
	for _, row := range rows {
		w.restore(row)
	}
	for _, j := range w.jobs {
		if !j.exists {
			w.forget(j, nil)
		}
	}
}

// restore takes the book of a job back to its row.
func (w *Watch) restore(row *store.Job) {
	j := w.book(row.ID)
	j.exists, j.state = true, row.State
	j.name, j.key, j.own, j.queue = row.Name, row.UniqueKey, row.MaxAttempts, w.queue(row.Queue)
	j.claims, j.ends, j.base, j.unknown, j.cancel = row.Attempt, total(row), row.Base, row.UnknownNames, row.CancelRequested
	if !row.State.Terminal() && j.key != "" {
		w.keys[j.key] = j
	}
	w.forget(j, row)
	if row.Attempt == 0 {
		return
	}
	j.last = w.sameKey(j, row)
	if row.State == store.Executing && j.last != 0 {
		l := w.lease(j.last)
		l.until, l.length, l.ended = row.LeaseUntil, int64(row.LeaseFor), 0
		j.live = j.last
		w.heapAdd(w.queues[j.queue], j.last)
	}
}

// forget marks the leases of j that its row, which may be nil, does not know.
func (w *Watch) forget(j *jobBook, row *store.Job) {
	for g := j.newest; g != 0; g = w.lease(g).ever {
		l := w.lease(g)
		if l.gone {
			continue
		}
		switch {
		case row == nil || l.attempt > row.Attempt:
			l.gone = true
		case l.attempt == row.Attempt:
			l.gone = l.claim != row.Claim || l.worker != row.Worker
		case l.attempt > row.EndsCut && l.attempt-1-row.EndsCut < len(row.Ends):
			e := &row.Ends[l.attempt-1-row.EndsCut]
			l.gone = l.claim != e.Claim || l.worker != e.Worker
		}
		if l.gone {
			l.ended, l.to, l.endAt = 0, 0, 0
		}
	}
}

// End makes the last checks: rows are all there are.
func (w *Watch) End(trueNow int64, rows []*store.Job) {
	w.time(trueNow)
	w.commits++
	for _, row := range rows {
		j := w.book(row.ID)
		j.seen = w.commits
		if !j.exists {
			w.breach(ruleLegal, j, "is there in the end, and nobody had added it")
			continue
		}
		if row.State != j.state {
			w.breach(ruleLegal, j, "is %v in the end, and was %v when it was last changed", row.State, j.state)
		}
		w.tally(j, row)
		w.tail(j, row)
	}
	for _, j := range w.jobs {
		if j.exists && j.seen != w.commits {
			w.breach(ruleNotLost, j, "is gone in the end; it was %v", j.state)
		}
	}
	w.time(trueNow)
}
