package checker

import (
	"bytes"
	"fmt"

	"backwave/store"
)

// spread hands what a verdict knows of one call to the jobs it concerns.
// Commands are for people.
func (l *linear) spread(c *callStory, v verdictSide) {
	ks, unseen := l.knowns(c, v)
	switch q := c.req.(type) {
	case *store.Enqueue:
		l.spreadEnqueue(c, q, v, ks, unseen)
	case *store.Claim:
		for _, k := range ks {
			if p, ok := k.reply.(*store.Claimed); ok {
				l.spreadClaim(c, q, p, v, k)
			}
		}
		for ; unseen > 0; unseen-- {
			for _, quota := range q.Queues {
				s := &l.side[v].queues[l.queueID(quota.Queue)]
				s.claims = append(s.claims, openClaim{c.sent, l.worker(q.Worker), q})
			}
		}
	case *store.Renew:
		l.spreadRenew(c, q, v, ks, unseen)
	case *store.Report:
		l.spreadReport(c, q, v, ks, unseen)
	case *store.Sweep:
		l.spreadSweep(c, q, v, ks, unseen)
	case *store.Do:
	}
}

// opOf returns an op with what all kinds share.
func opOf(c *callStory, k *known, kind opKind) op {
	return op{kind: kind, call: c.id, sent: k.lo, ret: k.hi, likely: k.likely, time: k.at, at: k.reply.DecidedAt()}
}

func (j *jobStory) tell(v verdictSide, o op)       { j.views[v].ops = append(j.views[v].ops, o) }
func (j *jobStory) leave(v verdictSide, p pending) { j.views[v].open = append(j.views[v].open, p) }

// lose leaves a renewal pending. Its lease finds it by name: a job that is run
// again and again by workers that are cut off loses more of them than anything
// may look at one by one.
func (j *jobStory) lose(v verdictSide, p pending) {
	w := &j.views[v]
	if w.of == nil {
		w.of = map[leaseName][]int32{}
	}
	l := leaseName{p.worker, p.attempt, p.number}
	w.of[l] = append(w.of[l], int32(len(w.lost)))
	w.lost = append(w.lost, p)
}

// short makes o malformed: the answer has too few rows.
func (o *op) short(got, want int) {
	o.kind, o.mistake = opMalformed, fmt.Sprintf("was answered with %d rows for %d", got, want)
}

func (l *linear) spreadEnqueue(c *callStory, q *store.Enqueue, v verdictSide, ks []known, unseen int) {
	for i := range q.Jobs {
		j := l.jobOf(q.Jobs[i].ID, c.sent)
		row := j.rowOf(&q.Jobs[i])
		if row < 0 {
			continue
		}
		for _, k := range ks {
			p, ok := k.reply.(*store.Enqueued)
			if !ok {
				continue
			}
			o := opOf(c, &k, opEnqueue)
			o.row = row
			if i < len(p.Rows) {
				o.status = uint8(p.Rows[i].Status)
			} else {
				o.short(len(p.Rows), len(q.Jobs))
			}
			j.tell(v, o)
		}
		if unseen > 0 { // more than once is the same as once
			j.leave(v, pending{kind: opEnqueue, row: row, sent: c.sent})
		}
	}
}

func (l *linear) spreadClaim(c *callStory, q *store.Claim, p *store.Claimed, v verdictSide, k known) {
	for i := range p.Leases {
		a := &p.Leases[i]
		j := l.jobOf(a.Key.Job, k.hi)
		o := opOf(c, &k, opClaim)
		o.worker, o.number, o.attempt, o.base = l.worker(q.Worker), a.Key.Claim, int32(a.Key.Attempt), int32(a.Base)
		o.expires, o.lease, o.terms = a.ExpiresAt, q.Lease, q.Terms
		for r, n := range j.rows {
			if a.Damage != "" || a.Name == n.Name && a.Queue == n.Queue && bytes.Equal(a.Payload, n.Payload) {
				o.fits |= 1 << r
			}
		}
		if o.mistake = l.claimMistake(c, q, p, i); o.mistake != "" {
			o.kind = opMalformed
		}
		j.tell(v, o)
	}
}

// claimMistake says what is wrong with the i-th lease of an answer, whatever
// the state of the job. A claim that was sent more than once may be answered
// more than it asked for: its first lease lapses, it takes another, the clock
// steps back, and both live.
func (l *linear) claimMistake(c *callStory, q *store.Claim, p *store.Claimed, i int) string {
	a := &p.Leases[i]
	if a.Key.Claim != q.Number {
		return fmt.Sprintf("asked as claim %d and was answered a lease of claim %d", q.Number, a.Key.Claim)
	}
	if i >= q.Max && !l.sentAgain(c, q) {
		return fmt.Sprintf("asked for %d leases and was answered %d", q.Max, len(p.Leases))
	}
	for _, b := range p.Leases[:i] {
		if b.Key.Job == a.Key.Job {
			return "was answered the same job twice in one claim"
		}
	}
	for _, quota := range q.Queues {
		if quota.Queue == a.Queue {
			return ""
		}
	}
	return fmt.Sprintf("was answered a job of queue %q, which it did not ask for", a.Queue)
}

// sentAgain reports whether the store may have got the claim of c more often
// than once.
func (l *linear) sentAgain(c *callStory, q *store.Claim) bool {
	for i := range l.calls {
		o, ok := l.calls[i].req.(*store.Claim)
		if ok && l.calls[i].id != c.id && o.Worker == q.Worker && o.Number == q.Number {
			return true
		}
	}
	return c.copies > 0
}

func (l *linear) spreadRenew(c *callStory, q *store.Renew, v verdictSide, ks []known, unseen int) {
	worker := l.worker(q.Worker)
	for i := range q.Rows {
		key := q.Rows[i].Key
		j := l.jobOf(key.Job, c.sent)
		for _, k := range ks {
			p, ok := k.reply.(*store.Renewed)
			if !ok {
				continue
			}
			o := opOf(c, &k, opRenew)
			o.worker, o.number, o.attempt, o.lease = worker, key.Claim, int32(key.Attempt), q.Lease
			if i < len(p.Rows) {
				a := p.Rows[i]
				o.status, o.cancel, o.expires = uint8(a.Status), a.Cancel, a.ExpiresAt
			} else {
				o.short(len(p.Rows), len(q.Rows))
			}
			j.tell(v, o)
		}
		for n := unseen; n > 0; n-- { // each may move the expiry
			j.lose(v, pending{kind: opRenew, worker: worker, number: key.Claim, attempt: int32(key.Attempt), lease: q.Lease, sent: c.sent})
		}
	}
}

func (l *linear) spreadReport(c *callStory, q *store.Report, v verdictSide, ks []known, unseen int) {
	worker := l.worker(q.Worker)
	for i := range q.Rows {
		key, outcome := q.Rows[i].Key, q.Rows[i].Outcome
		j := l.jobOf(key.Job, c.sent)
		for _, k := range ks {
			p, ok := k.reply.(*store.Reported)
			if !ok {
				continue
			}
			o := opOf(c, &k, opReport)
			o.worker, o.number, o.attempt, o.outcome = worker, key.Claim, int32(key.Attempt), outcome
			switch {
			case i >= len(p.Rows):
				o.short(len(p.Rows), len(q.Rows))
			case outcome == nil && p.Rows[i].Status == store.ReportApplied:
				o.kind, o.mistake = opMalformed, "was told applied for no outcome at all"
			default:
				a := p.Rows[i]
				o.status, o.already, o.to = uint8(a.Status), a.Already, a.To
			}
			j.tell(v, o)
		}
		if unseen > 0 && outcome != nil {
			j.leave(v, pending{kind: opReport, worker: worker, number: key.Claim, attempt: int32(key.Attempt), outcome: outcome, sent: c.sent})
		}
	}
}

func (l *linear) spreadSweep(c *callStory, q *store.Sweep, v verdictSide, ks []known, unseen int) {
	s := &l.side[v]
	for _, k := range ks {
		p, ok := k.reply.(*store.Swept)
		if !ok {
			continue
		}
		if l.stepped {
			s.swept = append(s.swept, seenSweep{k.lo, k.hi, p.At})
		}
		for i := range p.Disposed {
			a := &p.Disposed[i]
			o := opOf(c, &k, opLapse)
			o.worker, o.number, o.attempt = l.worker(a.Worker), a.Key.Claim, int32(a.Key.Attempt)
			o.expires, o.to, o.sweep = a.ExpiredAt, a.To, q
			if i >= q.Max {
				o.kind, o.mistake = opMalformed, fmt.Sprintf("asked to dispose of %d leases at most and disposed of %d", q.Max, len(p.Disposed))
			}
			l.jobOf(a.Key.Job, k.hi).tell(v, o)
		}
	}
	if unseen == 0 {
		return
	}
	s.sweep = min(s.sweep, c.sent)
	if q.Any {
		for i := range s.queues {
			s.queues[i].sweep = min(s.queues[i].sweep, c.sent)
		}
		return
	}
	for _, name := range q.Queues {
		w := &s.queues[l.queueID(name)]
		w.sweep = min(w.sweep, c.sent)
	}
}

// people hands the commands on jobs to the jobs.
func (l *linear) people() {
	for _, id := range l.asked {
		r := l.requests[id]
		for v := range sides {
			l.spreadRequest(r, v)
		}
	}
}

// spreadRequest hands the calls of one request id on. Only the first of them
// has an effect; if no answer says which one that was, one without an answer
// may have been it.
func (l *linear) spreadRequest(r *requestStory, v verdictSide) {
	settled := false
	first := never
	var open *callStory
	for _, i := range r.calls {
		c := &l.calls[i]
		ks, unseen := l.knowns(c, v)
		for _, k := range ks {
			if p, ok := k.reply.(*store.Done); ok {
				l.spreadDone(c, p, &k, v, r.mixed)
				settled = settled || !p.Repeat && p.Result == store.DoChanged
			}
		}
		if unseen > 0 && c.sent < first {
			first, open = c.sent, c
		}
		if unseen > 0 && r.mixed {
			l.leaveCommand(c, v)
		}
	}
	if !settled && open != nil && !r.mixed {
		l.leaveCommand(open, v)
	}
}

func (l *linear) spreadDone(c *callStory, p *store.Done, k *known, v verdictSide, mixed bool) {
	o := opOf(c, k, 0)
	o.status, o.repeat = uint8(p.Result), p.Repeat
	var job store.JobID
	switch cmd := c.req.(*store.Do).Command.(type) {
	case store.Cancel:
		o.kind, o.force, job = opCancel, cmd.Force, cmd.Job
	case store.Requeue:
		o.kind, job = opRequeue, cmd.Job
	case store.Pause, store.Resume:
		return
	}
	if p.Repeat && (mixed || o.kind != opCancel || p.Result != store.DoChanged) {
		return // it tells of then and changes nothing now
	}
	l.jobOf(job, c.sent).tell(v, o)
}

// leaveCommand leaves a command on a job pending.
func (l *linear) leaveCommand(c *callStory, v verdictSide) {
	switch cmd := c.req.(*store.Do).Command.(type) {
	case store.Cancel:
		l.jobOf(cmd.Job, c.sent).leave(v, pending{kind: opCancel, force: cmd.Force, sent: c.sent})
	case store.Requeue:
		j := l.jobOf(cmd.Job, c.sent)
		bit := uint8(1)
		for i := range j.views[v].open {
			if j.views[v].open[i].kind == opRequeue {
				bit <<= 1
			}
		}
		j.leave(v, pending{kind: opRequeue, bit: bit, sent: c.sent})
	case store.Pause, store.Resume:
	}
}
