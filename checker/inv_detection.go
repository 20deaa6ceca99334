package checker

import (
	"slices"
	"time"

	"backwave/store"
)

// lapsed checks that a sweep disposes of a lease only once it has lapsed, and
// in a queue it does not list only once it has lapsed for its whole length.
func (w *Watch) lapsed(c *Commit, req *store.Sweep, j *jobBook) {
	l := w.lease(j.live)
	if j.held {
		w.breach(ruleNeighbours, j, "swept while the row was locked")
	}
	after := time.Duration(0)
	if !slices.Contains(req.Queues, w.queues[j.queue].name) {
		after = time.Duration(l.length)
		if !req.Any {
			w.breach(ruleDetection, j, "swept by a call that covers the queues %q only", req.Queues)
		}
	}
	if c.StoreNow < l.until.Add(after) {
		w.breach(ruleDetection, j, "%s was swept at %s, %v early", w.leaseName(j.live), w.clock(c.StoreNow), l.until.Add(after).Sub(c.StoreNow))
	}
}

// cut checks a sweep that shortened a lease: only one that runs longer than
// now + its length, and to just that.
func (w *Watch) cut(c *Commit, j *jobBook, ch *Change) {
	l := w.lease(j.live)
	end := c.StoreNow.Add(time.Duration(l.length))
	if l.until <= end || ch.After.LeaseUntil != end {
		w.breach(ruleDetection, j, "%s until %s was cut at %s to %s", w.leaseName(j.live), w.clock(l.until), w.clock(c.StoreNow), w.clock(ch.After.LeaseUntil))
	}
	w.extend(j, ch.After.LeaseUntil, l.length)
}

// left checks that a sweep which was not full has left nothing behind in the
// queues that its pump serves.
func (w *Watch) left(c *Commit, req *store.Sweep) {
	if len(c.Changes) >= req.Max {
		return
	}
	if p := w.pump(c.Call.Pump); p != nil {
		for _, q := range p.queues {
			w.leftIn(c, w.queues[q], 0, false)
		}
	}
	if req.Any {
		for _, q := range w.queues {
			w.leftIn(c, q, 0, true)
		}
	}
}

// leftIn looks at the lapsed leases from position i of the heap on; with long,
// at those that lapsed their whole length ago.
func (w *Watch) leftIn(c *Commit, q *queueBook, i int, long bool) {
	if i >= len(q.leased) {
		return
	}
	l := w.lease(q.leased[i])
	if l.until > c.StoreNow {
		if c.StoreNow < w.cutBefore && i == 0 {
			w.uncut(c, q)
		}
		return
	}
	if !l.job.held && (!long || l.until.Add(time.Duration(l.length)) <= c.StoreNow) {
		w.breach(ruleDetection, l.job, "%s lapsed at %s and was left by the sweep at %s", w.leaseName(q.leased[i]), w.clock(l.until), w.clock(c.StoreNow))
	}
	w.leftIn(c, q, 2*i+1, long)
	w.leftIn(c, q, 2*i+2, long)
}

// uncut looks for leases that run too long, since the store's clock stood
// further ahead when they were stamped.
func (w *Watch) uncut(c *Commit, q *queueBook) {
	for _, g := range q.leased {
		if l := w.lease(g); l.until > c.StoreNow.Add(time.Duration(l.length)) && !l.job.held {
			w.breach(ruleDetection, l.job, "%s until %s, longer than its length of %v, was left by the sweep at %s", w.leaseName(g), w.clock(l.until), time.Duration(l.length), w.clock(c.StoreNow))
		}
	}
}

// StoreClockStepped tells that the store's clock was moved by by.
func (w *Watch) StoreClockStepped(by time.Duration, trueNow int64) {
	w.time(trueNow)
	if by < 0 {
		w.cutBefore = w.stamped
	}
}

// anySwept checks that a sweep covers any queue once per LeaseDuration.
func (w *Watch) anySwept(p *pumpBook, c *Call, req *store.Sweep) {
	switch {
	case req.Any:
		p.anyFrom = c.SentNode
	case c.SentNode >= p.anyFrom+int64(p.info.Lease):
		w.pumpBreach(ruleDetection, p, store.LeaseKey{}, "a sweep of its own queues only was sent at %s; the last of any queue was due %v after %s", said(c.SentNode), p.info.Lease, said(p.anyFrom))
	}
}

// sweepSent checks the cadence: while a pump serves, a sweep is in flight or
// not due.
func (w *Watch) sweepSent(p *pumpBook, node int64) {
	if p.phase != phaseServing || p.lanes[CallSweep].call != nil {
		return
	}
	if due := max(p.sweepDue, p.lanes[CallSweep].hold); node >= due {
		w.pumpBreach(ruleDetection, p, store.LeaseKey{}, "no sweep was sent by %s; it was due at %s", said(node), said(due))
	}
}
