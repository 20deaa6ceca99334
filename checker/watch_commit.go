package checker

import (
	"time"

	"backwave/store"
)

// by is what may change a row.
type by uint8

const (
	byEnqueue by = iota
	byClaim
	byRenew
	byReport
	bySweep
	byCancel
	byRequeue
	byNothing // a command that changes no row
)

// Applied tells that the store carried out a call, or failed to.
func (w *Watch) Applied(c *Commit) {
	w.time(c.True)
	w.commits++
	w.high = max(w.high, c.StoreNow)
	if w.opt.Epoch == 0 {
		w.opt.Epoch = c.StoreNow
	}
	audits := 0
	switch req := c.Call.Req.(type) {
	case *store.Claim:
		w.claimed(c, req)
	case *store.Renew:
		w.renewed(c, req)
	case *store.Report:
		w.reported(c, req)
	case *store.Sweep:
		w.swept(c, req)
	case *store.Enqueue:
		w.enqueued(c, req)
	case *store.Do:
		audits = w.commanded(c, req)
	}
	w.audited(c, audits)
}

// begin opens the book of a changed row and judges the move itself.
func (w *Watch) begin(c *Commit, ch *Change, how by) *jobBook {
	j := w.book(ch.After.ID)
	w.moved(c, j, ch, how)
	return j
}

// end judges what a row became, whatever changed it, and books its state.
func (w *Watch) end(c *Commit, j *jobBook, ch *Change) {
	w.once(j, ch)
	w.counted(j, ch)
	w.kept(c, j, ch)
	w.alone(j, ch)
	j.state = ch.After.State
}

func (w *Watch) claimed(c *Commit, req *store.Claim) {
	if len(c.Changes) > 0 {
		w.tookAgain(c, req)
		for i := range c.Changes {
			w.claimedRow(c, req, &c.Changes[i])
		}
		if p := w.pump(c.Call.Pump); p != nil && p.took == req.Number {
			p.tookTo = Ghost(len(w.leases) + 1)
		}
	}
	if r, ok := c.Reply.(*store.Claimed); ok {
		w.answeredLive(c, req, r)
		w.answeredAgain(c, req, r)
	}
}

func (w *Watch) claimedRow(c *Commit, req *store.Claim, ch *Change) {
	j := w.begin(c, ch, byClaim)
	w.claimedDue(c, j, ch)
	w.claimedServed(c, j, ch)
	w.claimedPaused(c, j)
	w.claimedCancelled(c, j)
	w.claimedFree(c, j)
	w.claimedAlone(c, j, ch, req)
	j.claims++
	if j.live != 0 { // told by claimedAlone
		w.heapRemove(w.queues[j.queue], j.live)
	}
	length := w.leaseLength(c, req.Lease)
	w.lasts(c, j, ch, length)
	w.grant(c, j, ch.After, length)
	w.end(c, j, ch)
}

// leaseLength is what the pump of the call was configured to ask for.
func (w *Watch) leaseLength(c *Commit, asked time.Duration) int64 {
	if p := w.pump(c.Call.Pump); p != nil {
		return int64(p.info.Lease)
	}
	return int64(asked)
}

func (w *Watch) renewed(c *Commit, req *store.Renew) {
	w.rows = w.rows[:0]
	for i := range req.Rows {
		w.expect(c, i, req.Worker, req.Rows[i].Key)
	}
	length := w.leaseLength(c, req.Lease)
	for i := range c.Changes {
		ch := &c.Changes[i]
		j := w.begin(c, ch, byRenew)
		if w.justified(c, j, ch) {
			w.renewedRow(c, j, ch, &req.Rows[j.row], length)
		} else {
			w.follow(c, j, ch)
		}
		w.end(c, j, ch)
	}
	if r, ok := c.Reply.(*store.Renewed); ok && len(r.Rows) == len(w.rows) {
		w.answersOfRenew(c, r, length)
	}
}

func (w *Watch) renewedRow(c *Commit, j *jobBook, ch *Change, row *store.RenewRow, length int64) {
	j.done = w.commits
	w.lasts(c, j, ch, length)
	w.onlyLease(j, ch, row)
	w.extend(j, ch.After.LeaseUntil, length)
	w.stamped = max(w.stamped, c.StoreNow)
}

func (w *Watch) reported(c *Commit, req *store.Report) {
	w.rows = w.rows[:0]
	for i := range req.Rows {
		w.expect(c, i, req.Worker, req.Rows[i].Key)
	}
	for i := range c.Changes {
		ch := &c.Changes[i]
		j := w.begin(c, ch, byReport)
		if w.justified(c, j, ch) {
			o := req.Rows[j.row].Outcome
			w.judged(c, j, ch, w.wanted(j, o))
			w.finish(c, j, o.Kind(), ch.After.State)
		} else {
			w.follow(c, j, ch)
		}
		w.end(c, j, ch)
	}
	if r, ok := c.Reply.(*store.Reported); ok && len(r.Rows) == len(w.rows) {
		w.answersOfReport(c, req, r)
	}
}

// expect marks the job of row i as one that the call may change, if the lease
// behind the row is alive.
func (w *Watch) expect(c *Commit, i int, worker string, key store.LeaseKey) {
	j := w.jobOf[key.Job]
	w.rows = append(w.rows, j)
	if j == nil {
		return
	}
	g := Ghost(0)
	switch {
	case c.Call.Kind == CallForged: // one that hits a living lease by chance is none
		if j.live != 0 {
			if l := w.lease(j.live); l.worker == worker && l.claim == key.Claim && l.attempt == key.Attempt {
				g = j.live
			}
		}
	case i < len(c.Call.Leases):
		g = c.Call.Leases[i]
	}
	if w.holds(j, g, c.StoreNow) {
		j.mark, j.row = w.commits, int32(i)
	}
}

// expected reports whether row i of the call had a living lease behind it.
func (w *Watch) expected(i int) bool {
	j := w.rows[i]
	return j != nil && j.mark == w.commits && int(j.row) == i
}

func (w *Watch) swept(c *Commit, req *store.Sweep) {
	for i := range c.Changes {
		ch := &c.Changes[i]
		j := w.begin(c, ch, bySweep)
		switch {
		case j.live == 0:
			w.follow(c, j, ch)
		case ch.After.State == store.Executing:
			w.cut(c, j, ch)
		default:
			w.lapsed(c, req, j)
			w.judged(c, j, ch, w.wantedLapse(j))
			w.finish(c, j, store.EndLapse, ch.After.State)
		}
		w.end(c, j, ch)
	}
	if c.Err == nil {
		w.left(c, req)
	}
}

func (w *Watch) enqueued(c *Commit, req *store.Enqueue) {
	for i := range c.Changes {
		ch := &c.Changes[i]
		j := w.begin(c, ch, byEnqueue)
		a := ch.After
		j.exists = true
		j.name, j.key, j.own, j.queue = a.Name, a.UniqueKey, a.MaxAttempts, w.queue(a.Queue)
		j.claims, j.ends, j.base, j.unknown, j.cancel = 0, 0, 0, 0, false
		j.live, j.last = 0, 0
		w.enqueuedDue(c, req, j, ch)
		w.end(c, j, ch)
	}
	if r, ok := c.Reply.(*store.Enqueued); ok {
		w.heldBy(req, r)
	}
}

// commanded judges a command and returns how many audit entries it is worth;
// -1 if that cannot be known.
func (w *Watch) commanded(c *Commit, req *store.Do) int {
	_, repeat := w.requests[req.RequestID]
	r, _ := c.Reply.(*store.Done)
	// A store that forgot may still know a request that was made before.
	repeat = repeat || r != nil && r.Repeat && w.forgotAt > 0
	changed := len(c.Changes)
	how := byNothing
	switch cmd := req.Command.(type) {
	case store.Cancel:
		how = byCancel
		if !repeat && r != nil {
			w.cancelled(c, cmd, r)
		}
	case store.Requeue:
		how = byRequeue
	case store.Pause:
		if !repeat && r != nil {
			changed += w.pausedQueue(cmd.Queue, true, c)
		}
	case store.Resume:
		if !repeat && r != nil {
			changed += w.pausedQueue(cmd.Queue, false, c)
		}
	}
	for i := range c.Changes {
		ch := &c.Changes[i]
		j := w.begin(c, ch, how)
		w.commandedRow(c, req, j, ch)
		w.end(c, j, ch)
	}
	if r != nil && r.Result != store.DoBusy {
		w.requests[req.RequestID] = struct{}{}
	}
	switch {
	case repeat && len(c.Changes) > 0:
		w.breach(ruleAudit, nil, "the repeat of request %q changed %d rows", req.RequestID, len(c.Changes))
	case changed > 0:
		return min(changed, 1)
	case changed < 0:
		return -1
	}
	return 0
}

func (w *Watch) commandedRow(c *Commit, req *store.Do, j *jobBook, ch *Change) {
	switch cmd := req.Command.(type) {
	case store.Cancel:
		w.cancelledRow(c, cmd, j, ch)
	case store.Requeue:
		w.requeuedRow(c, j, ch)
	case store.Pause, store.Resume:
	}
}
