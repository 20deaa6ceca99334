package checker

import (
	"fmt"

	"backwave/store"
)

// checkUnique judges unique keys as far as clients can see: while one job
// certainly lives and holds a key, no other job begins a life under it, and an
// enqueue that was refused for a holder names a job that may have been one.
func (l *linear) checkUnique(v verdictSide) {
	byKey := map[string][]*jobStory{}
	var keys []string
	for _, j := range l.jobs {
		if k := j.key(); k != "" {
			if byKey[k] == nil {
				keys = append(keys, k)
			}
			byKey[k] = append(byKey[k], j)
		}
	}
	for _, k := range keys {
		for _, j := range byKey[k] {
			for _, w := range j.lives(v) {
				l.aloneIn(w, j, byKey[k], k, v)
			}
		}
	}
	for i := range l.calls {
		if q, ok := l.calls[i].req.(*store.Enqueue); ok {
			l.checkHolders(&l.calls[i], q, v)
		}
	}
}

// key returns the unique key of j, "" if it has none or its enqueues differ.
func (j *jobStory) key() string {
	if len(j.rows) == 0 {
		return ""
	}
	for _, r := range j.rows {
		if r.UniqueKey != j.rows[0].UniqueKey {
			return ""
		}
	}
	return j.rows[0].UniqueKey
}

// begins reports whether o begins a life.
func (o *op) begins() bool {
	return o.kind == opEnqueue && store.EnqueueStatus(o.status) == store.EnqueueAdded ||
		o.kind == opRequeue && store.DoResult(o.status) == store.DoChanged
}

// alive reports whether o shows that the job was not terminal when it took
// effect.
func (o *op) alive() bool {
	switch o.kind {
	case opClaim, opLapse:
		return true
	case opRenew:
		return store.RenewStatus(o.status) == store.RenewOK
	case opReport:
		return store.ReportStatus(o.status) == store.ReportApplied
	case opCancel:
		return !o.repeat && store.DoResult(o.status) == store.DoChanged
	case opEnqueue, opRequeue, opMalformed:
	}
	return false
}

// lives returns the spans in which j was certainly not terminal: from the
// answer that began a life to the last call that found it alive, in the same
// life for certain.
func (j *jobStory) lives(v verdictSide) (out []span) {
	w := &j.views[v]
	for i := range w.ops {
		s := &w.ops[i]
		if !s.begins() {
			continue
		}
		limit := never
		for k := range w.ops {
			if o := &w.ops[k]; k != i && o.kind == opRequeue && o.begins() && o.ret > s.sent {
				limit = min(limit, o.sent)
			}
		}
		for k := range w.open {
			if w.open[k].kind == opRequeue {
				limit = min(limit, w.open[k].sent)
			}
		}
		life := span{from: s.ret}
		for k := range w.ops {
			if o := &w.ops[k]; o.alive() && o.ret <= limit {
				life.to = max(life.to, o.sent)
			}
		}
		if life.to > life.from {
			out = append(out, life)
		}
	}
	return out
}

// aloneIn judges that no other job of the key begins a life within w.
func (l *linear) aloneIn(w span, j *jobStory, jobs []*jobStory, key string, v verdictSide) {
	for _, other := range jobs {
		if other == j {
			continue
		}
		for i := range other.views[v].ops {
			o := &other.views[v].ops[i]
			if o.begins() && o.sent > w.from && o.ret < w.to {
				l.violated(v, Finding{
					Invariant: "linearizable", Job: other.id, At: o.time, Call: o.call,
					Message: fmt.Sprintf("unique key %q: job %v began a life at %s while job %v certainly held the key", key, other.id, clock(o.at), j.id),
				})
			}
		}
	}
}

// checkHolders judges the holders that one enqueue was refused for.
func (l *linear) checkHolders(c *callStory, q *store.Enqueue, v verdictSide) {
	ks, _ := l.knowns(c, v)
	for _, k := range ks {
		p, ok := k.reply.(*store.Enqueued)
		if !ok {
			continue
		}
		for i := range min(len(p.Rows), len(q.Jobs)) {
			if p.Rows[i].Status != store.EnqueueHeld {
				continue
			}
			if why := l.cannotHold(p.Rows[i].Holder, &q.Jobs[i], k, v); why != "" {
				l.violated(v, Finding{
					Invariant: "linearizable", Job: q.Jobs[i].ID, At: k.at, Call: c.id,
					Message: fmt.Sprintf("unique key %q: the enqueue of job %v was refused for holder %v at %s, %s", q.Jobs[i].UniqueKey, q.Jobs[i].ID, p.Rows[i].Holder, clock(p.At), why),
				})
			}
		}
	}
}

// cannotHold says why id cannot have held the key of n at k, "" if it can.
func (l *linear) cannotHold(id store.JobID, n *store.NewJob, k known, v verdictSide) string {
	j := l.jobByID[id]
	switch {
	case id == n.ID:
		return "which is the job itself"
	case (j == nil || len(j.rows) == 0) && l.opts.Midway:
		return ""
	case j == nil || len(j.rows) == 0 || j.first > k.hi:
		return "which had never been enqueued"
	}
	holds := false
	for _, r := range j.rows {
		holds = holds || r.UniqueKey == n.UniqueKey
	}
	switch {
	case !holds:
		return "which never had that key"
	case j.overBefore(k, v):
		return "which had ended before"
	}
	return ""
}

// overBefore reports whether j was certainly terminal at k.
func (j *jobStory) overBefore(k known, v verdictSide) bool {
	w := &j.views[v]
	over := int64(-1) // position after which it was terminal
	for i := range w.ops {
		o := &w.ops[i]
		if (o.kind == opReport || o.kind == opLapse) && o.alive() && o.to.Terminal() && o.ret < k.lo {
			over = max(over, o.sent)
		}
	}
	if over < 0 {
		return false
	}
	for i := range w.ops {
		if o := &w.ops[i]; o.kind == opRequeue && o.begins() && o.ret > over && o.sent < k.hi {
			return false
		}
	}
	for i := range w.open {
		if w.open[i].kind == opRequeue && w.open[i].sent < k.hi {
			return false
		}
	}
	return true
}
