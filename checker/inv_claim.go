package checker

import "backwave/store"

// claimedDue checks due.
func (w *Watch) claimedDue(c *Commit, j *jobBook, ch *Change) {
	if ch.Before.Due > c.StoreNow {
		w.breach(ruleDue, j, "claimed at %s, %v before it was due", w.clock(c.StoreNow), ch.Before.Due.Sub(c.StoreNow))
	}
}

// enqueuedDue checks that a new job is due when its client asked.
func (w *Watch) enqueuedDue(c *Commit, req *store.Enqueue, j *jobBook, ch *Change) {
	for i := range req.Jobs {
		n := &req.Jobs[i]
		if n.ID != j.id {
			continue
		}
		want := n.At
		if !n.HasAt {
			want = c.StoreNow.Add(max(0, min(n.Delay, store.MaxDuration)))
		}
		if ch.After.Due != want {
			w.breach(ruleDue, j, "enqueued at %s to be due at %s, but due at %s", w.clock(c.StoreNow), w.clock(want), w.clock(ch.After.Due))
		}
		return
	}
}

// claimedServed checks served.
func (w *Watch) claimedServed(c *Commit, j *jobBook, ch *Change) {
	p := w.pump(c.Call.Pump)
	if p == nil {
		return
	}
	for _, q := range p.info.Queues {
		if q == ch.Before.Queue {
			return
		}
	}
	w.breach(ruleServed, j, "of queue %q was claimed by pump %s, which serves %q", ch.Before.Queue, p.name(), p.info.Queues)
}

// claimedPaused checks paused.
func (w *Watch) claimedPaused(c *Commit, j *jobBook) {
	if q := w.queues[j.queue]; q.since != 0 && c.Call.seq > q.since {
		w.breach(rulePaused, j, "claimed at %s by a call that was sent after the pause of queue %q had been answered", w.clock(c.StoreNow), q.name)
	}
}

// pausedQueue books a pause or a resume that the store carried out, and
// returns 1 if it changed something, 0 if not, -1 if that is not known.
func (w *Watch) pausedQueue(name string, pause bool, c *Commit) int {
	if c.Err != nil {
		return 0
	}
	q := w.queues[w.queue(name)]
	changed := 0
	switch {
	case !q.known:
		changed = -1
	case q.paused != pause:
		changed = 1
	}
	q.paused, q.known = pause, true
	if !pause {
		q.since = 0
	}
	return changed
}

// pauseAnswered books that somebody knows that a queue is paused: what is sent
// from now on must respect it.
func (w *Watch) pauseAnswered(req *store.Do) {
	if p, ok := req.Command.(store.Pause); ok {
		if q := w.queues[w.queue(p.Queue)]; q.paused && q.since == 0 {
			q.since = w.sends
		}
	}
}
