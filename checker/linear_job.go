package checker

import (
	"bytes"
	"slices"
	"time"

	"backwave/store"
)

// maxRows bounds the different enqueues of one id that are told apart.
const maxRows = 64

// jobStory is all that the history says of one job.
type jobStory struct {
	id     store.JobID
	rows   []*store.NewJob // the different enqueues that were sent for it
	same   []int           // per row: the first row with the same name, queue and payload
	queues []int32         // per row
	many   bool            // more than maxRows
	first  int64           // position of the first call that names it
	views  [sides]view
}

// view is what one verdict knows of one job.
type view struct {
	ops  []op
	open []pending // but for renewals
	lost []pending // renewals
	of   map[leaseName][]int32

	turns []*op // see turning; nil: not made yet
}

// leaseName tells the leases of one job apart.
type leaseName struct {
	worker  int32
	attempt int32
	number  uint64
}

// opKind says what an op is.
type opKind uint8

const (
	opEnqueue opKind = iota + 1
	opClaim
	opRenew
	opReport
	opLapse
	opCancel
	opRequeue
	opMalformed // an answer that no store may give, whatever its state
)

// op is what one call with an answer did to one job. Which fields have a
// meaning depends on kind.
type op struct {
	kind   opKind
	status uint8 // store.EnqueueStatus, RenewStatus, ReportStatus or DoResult
	cancel bool  // renew: the answer carried a cancel
	force  bool  // cancel
	repeat bool  // cancel
	row    int16 // enqueue

	call    uint64
	sent    int64 // position: it took effect after
	ret     int64 // position: it took effect before
	likely  int64 // position at which it probably did, 0 if nothing is known
	time    int64 // ns
	at      store.Instant
	worker  int32
	attempt int32
	base    int32
	number  uint64
	fits    uint64 // claim: bit set of the rows that its answer fits
	expires store.Instant
	lease   time.Duration
	to      store.State
	already store.EndKind
	outcome store.Outcome
	terms   *store.Terms
	sweep   *store.Sweep
	mistake string // malformed
}

// pending is a call on one job without an answer.
type pending struct {
	kind    opKind
	bit     uint8 // requeue
	row     int16 // enqueue
	force   bool
	worker  int32
	attempt int32
	number  uint64
	sent    int64
	lease   time.Duration
	outcome store.Outcome
}

// mention finds the jobs, queues and requests that a call names.
func (l *linear) mention(i int) {
	c := &l.calls[i]
	switch q := c.req.(type) {
	case *store.Enqueue:
		for k := range q.Jobs {
			l.addRow(l.jobOf(q.Jobs[k].ID, c.sent), &q.Jobs[k])
		}
	case *store.Claim:
		for _, quota := range q.Queues {
			l.queueID(quota.Queue)
		}
	case *store.Sweep:
		for _, name := range q.Queues {
			l.queueID(name)
		}
	case *store.Do:
		r := l.requests[q.RequestID]
		if r == nil {
			r = &requestStory{}
			l.requests[q.RequestID] = r
			l.asked = append(l.asked, q.RequestID)
		} else if first := l.calls[r.calls[0]].req.(*store.Do); first.Actor != q.Actor || first.Command != q.Command {
			r.mixed = true
		}
		r.calls = append(r.calls, i)
	case *store.Renew, *store.Report:
	}
}

func (l *linear) jobOf(id store.JobID, pos int64) *jobStory {
	j := l.jobByID[id]
	if j == nil {
		j = &jobStory{id: id, first: pos}
		l.jobByID[id] = j
		l.jobs = append(l.jobs, j)
	}
	return j
}

// addRow notes an enqueue of j unless one like it is known.
func (l *linear) addRow(j *jobStory, n *store.NewJob) {
	if j.rowOf(n) >= 0 {
		return
	}
	if len(j.rows) == maxRows {
		j.many = true
		return
	}
	same := len(j.rows)
	for i, r := range j.rows {
		if sameWork(r, n) {
			same = i
			break
		}
	}
	j.rows = append(j.rows, n)
	j.same = append(j.same, same)
	j.queues = append(j.queues, l.queueID(n.Queue))
}

func sameWork(a, b *store.NewJob) bool {
	return a.Name == b.Name && a.Queue == b.Queue && bytes.Equal(a.Payload, b.Payload)
}

func (j *jobStory) rowOf(n *store.NewJob) int16 {
	for i, r := range j.rows {
		if sameWork(r, n) && r.HasAt == n.HasAt && r.At == n.At && r.Delay == n.Delay && r.MaxAttempts == n.MaxAttempts && r.UniqueKey == n.UniqueKey {
			return int16(i)
		}
	}
	return -1
}

// attempts reports whether the black-box verdict takes on j.
func (l *linear) attempts(j *jobStory) bool {
	if j.many || len(j.rows) == 0 && l.opts.Midway {
		return false
	}
	for _, f := range l.forgets {
		if j.first < f.at {
			return false
		}
	}
	open := j.views[blackBox].open
	other, most := 0, 0
	for i := range open {
		switch open[i].kind {
		case opReport:
			n := 0
			for k := range open {
				if open[k].kind == opReport && open[k].attempt == open[i].attempt {
					n++
				}
			}
			most = max(most, n)
		case opEnqueue, opCancel, opRequeue:
			other++
		case opRenew, opClaim, opLapse, opMalformed:
		}
	}
	return other+most <= l.opts.MaxUnknown
}

// timelines returns the sequences of ops that must each be possible: one, and
// one more for every time the store forgot. What it forgot counts up to that
// moment, and never happened after it.
func (l *linear) timelines(ops []op) [][]op {
	if !l.forgot {
		return [][]op{ops}
	}
	all := [][]op{}
	var line []op
	from := int64(0)
	for _, f := range append(slices.Clone(l.forgets), forget{at: never, to: never}) {
		for _, o := range ops {
			if o.ret > from && o.ret <= f.at {
				line = append(line, o)
			}
		}
		all = append(all, slices.Clone(line))
		line = slices.DeleteFunc(line, func(o op) bool { return o.ret > f.to })
		from = f.at
	}
	return all
}
