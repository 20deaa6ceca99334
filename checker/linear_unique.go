package checker

import (
	"cmp"
	"fmt"
	"slices"

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
		begun := beginnings(byKey[k], v)
		for _, j := range byKey[k] {
			for _, w := range j.lives(v) {
				l.aloneIn(w, j, begun, k, v)
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
	var begun, alive []*op
	limit := never // a requeue without an answer may have begun another
	for i := range w.open {
		if w.open[i].kind == opRequeue {
			limit = min(limit, w.open[i].sent)
		}
	}
	for i := range w.ops {
		if o := &w.ops[i]; o.begins() {
			begun = append(begun, o)
		}
		if o := &w.ops[i]; o.alive() {
			alive = append(alive, o)
		}
	}
	byAnswer := func(a, b *op) int { return cmp.Compare(a.ret, b.ret) }
	slices.SortStableFunc(begun, byAnswer)
	slices.SortStableFunc(alive, byAnswer)
	last := make([]int64, len(alive)+1) // of so many, the latest that was sent
	for i, o := range alive {
		last[i+1] = max(last[i], o.sent)
	}
	next := ends(begun)
	for i, s := range begun {
		limit := min(limit, next[i])
		n, _ := slices.BinarySearchFunc(alive, limit, func(o *op, limit int64) int {
			if o.ret <= limit {
				return -1
			}
			return 1
		})
		if life := (span{from: s.ret, to: last[n]}); life.to > life.from {
			out = append(out, life)
		}
	}
	return out
}

// ends returns, for each of the calls that began lives, in order of answers, the
// earliest position at which another may have begun: never if none did.
func ends(begun []*op) []int64 {
	out := make([]int64, len(begun))
	later := never // the earliest sending of a requeue that was answered later
	for i := len(begun) - 1; i >= 0; i-- {
		out[i] = later
		for k := i - 1; k >= 0 && begun[k].ret > begun[i].sent; k-- { // few overlap
			if begun[k].kind == opRequeue {
				out[i] = min(out[i], begun[k].sent)
			}
		}
		if begun[i].kind == opRequeue {
			later = min(later, begun[i].sent)
		}
	}
	return out
}

// beginning is a call that began a life of a job.
type beginning struct {
	job *jobStory
	*op
}

// beginnings lists what began lives of some jobs, in the order of sending.
func beginnings(jobs []*jobStory, v verdictSide) (out []beginning) {
	for _, j := range jobs {
		for i := range j.views[v].ops {
			if o := &j.views[v].ops[i]; o.begins() {
				out = append(out, beginning{j, o})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b beginning) int { return cmp.Compare(a.sent, b.sent) })
	return out
}

// aloneIn judges that no other job of the key begins a life within w, one of j.
func (l *linear) aloneIn(w span, j *jobStory, begun []beginning, key string, v verdictSide) {
	from, _ := slices.BinarySearchFunc(begun, w.from, func(b beginning, at int64) int {
		if b.sent <= at {
			return -1
		}
		return 1
	})
	for _, b := range begun[from:] {
		if b.sent >= w.to {
			break
		}
		if b.job != j && b.ret < w.to {
			l.violated(v, Finding{
				Invariant: "linearizable", Job: b.job.id, At: b.time, Call: b.call,
				Message: fmt.Sprintf("unique key %q: job %v began a life at %s while job %v certainly held the key", key, b.job.id, clock(b.at), j.id),
			})
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

// turning lists the calls that ended the job or began another life of it: few of
// all, and asked for by every enqueue that was refused for it.
func (w *view) turning() []*op {
	if w.turns == nil {
		w.turns = []*op{}
		for i := range w.ops {
			o := &w.ops[i]
			ended := (o.kind == opReport || o.kind == opLapse) && o.alive() && o.to.Terminal()
			if ended || o.kind == opRequeue && o.begins() {
				w.turns = append(w.turns, o)
			}
		}
	}
	return w.turns
}

// overBefore reports whether j was certainly terminal at k.
func (j *jobStory) overBefore(k known, v verdictSide) bool {
	w := &j.views[v]
	over := int64(-1) // position after which it was terminal
	turns := w.turning()
	for _, o := range turns {
		if !o.begins() && o.ret < k.lo {
			over = max(over, o.sent)
		}
	}
	if over < 0 {
		return false
	}
	for _, o := range turns {
		if o.kind == opRequeue && o.ret > over && o.sent < k.hi {
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
