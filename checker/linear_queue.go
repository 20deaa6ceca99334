package checker

import (
	"fmt"

	"backwave/store"
)

// checkQueues judges that pauses were honoured: a claim sent after a Pause was
// answered and answered before a Resume was sent takes nothing new from that
// queue. The rule needs no search: a queue is certainly paused from the answer
// of a Pause to the sending of the next Resume that may have come after it.
func (l *linear) checkQueues(v verdictSide) {
	paused := map[string][]span{}
	for i := range l.calls {
		c := &l.calls[i]
		q, ok := c.req.(*store.Do)
		if !ok || l.requests[q.RequestID].mixed {
			continue
		}
		if p, ok := q.Command.(store.Pause); ok {
			ks, _ := l.knowns(c, v)
			for _, k := range ks {
				d, ok := k.reply.(*store.Done)
				if ok && !d.Repeat && (d.Result == store.DoChanged || d.Result == store.DoUnchanged) {
					w := span{k.hi, l.resumed(p.Queue, k.lo, v)}
					paused[p.Queue] = append(paused[p.Queue], w)
				}
			}
		}
	}
	if len(paused) == 0 {
		return
	}
	for i := range l.calls {
		if q, ok := l.calls[i].req.(*store.Claim); ok {
			l.claimPaused(&l.calls[i], q, v, paused)
		}
	}
}

// span is the positions between which something was certainly so.
type span struct{ from, to int64 }

// resumed returns the first position after lo at which a Resume of the queue
// may have taken effect.
func (l *linear) resumed(queue string, lo int64, v verdictSide) int64 {
	first := never
	for i := range l.calls {
		c := &l.calls[i]
		q, ok := c.req.(*store.Do)
		if !ok || q.Command != store.Command(store.Resume{Queue: queue}) {
			continue
		}
		ks, unseen := l.knowns(c, v)
		if unseen > 0 {
			first = min(first, max(c.sent, lo))
		}
		for _, k := range ks {
			if k.hi > lo {
				first = min(first, max(k.lo, lo))
			}
		}
	}
	return first
}

// claimPaused judges one claim against the pauses.
func (l *linear) claimPaused(c *callStory, q *store.Claim, v verdictSide, paused map[string][]span) {
	ks, _ := l.knowns(c, v)
	for _, k := range ks {
		p, ok := k.reply.(*store.Claimed)
		if !ok {
			continue
		}
		for i := range p.Leases {
			a := &p.Leases[i]
			for _, w := range paused[a.Queue] {
				if k.lo > w.from && k.hi < w.to && !l.sentBefore(q, w.from) {
					l.violated(v, Finding{
						Invariant: "linearizable", Job: a.Key.Job, At: k.at, Call: c.id,
						Message: fmt.Sprintf("queue %q: worker %s was given job %v attempt %d at %s by a claim sent after the queue was paused and answered before it was resumed",
							a.Queue, q.Worker, a.Key.Job, a.Key.Attempt, clock(p.At)),
					})
				}
			}
		}
	}
}

// sentBefore reports whether a claim of that worker and number was sent before
// pos: what is answered then may be a repeat of what was taken before.
func (l *linear) sentBefore(q *store.Claim, pos int64) bool {
	for i := range l.calls {
		c := &l.calls[i]
		if c.sent > pos {
			return false
		}
		if o, ok := c.req.(*store.Claim); ok && o.Number == q.Number && o.Worker == q.Worker {
			return true
		}
	}
	return false
}
