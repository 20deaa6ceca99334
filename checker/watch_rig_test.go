package checker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/checker"
	"backwave/store"
)

// rig is a world made by hand: it tells a Watch, step by step, what a test
// says. Its verbs do what is right; spoil changes the next image of a row.
// Node time is true time, and the store's clock is that plus skew.
type rig struct {
	w      *checker.Watch
	now    int64
	skew   time.Duration
	rows   map[store.JobID]*store.Job
	order  []store.JobID
	ghosts map[store.LeaseKey]checker.Ghost
	pumps  int
	calls  uint64
	audits int
	marks  uint8 // degraded marks of all steps
	halted bool
	spoil  func(*store.Job)
}

const rigEpoch = store.Instant(1_700_000_000_000_000)

func newRig() *rig {
	w := checker.NewWatch(checker.WatchOptions{Epoch: rigEpoch, Name: func(id store.JobID) string { return fmt.Sprint(id[15]) }})
	return &rig{w: w, rows: map[store.JobID]*store.Job{}, ghosts: map[store.LeaseKey]checker.Ghost{}}
}

func rigID(n int) store.JobID { return store.NewJobID(1_700_000_000_000, 0, uint64(n)) }

func worker(p checker.PumpID) string { return fmt.Sprintf("w%d", p) }

// at moves time to so many seconds.
func (r *rig) at(s float64) { r.now = int64(s * 1e9) }

func (r *rig) store() store.Instant { return rigEpoch.Add(time.Duration(r.now) + r.skew) }

// pump starts a pump that serves queue "a": lease 60s, so its view is 58.8s.
func (r *rig) pump(with ...func(*checker.PumpInfo)) checker.PumpID {
	i := checker.PumpInfo{
		ID: checker.PumpID(r.pumps), Node: fmt.Sprintf("n%d", r.pumps), Group: "g", Queues: []string{"a"}, PoolSize: 2,
		Lease: time.Minute, Heartbeat: 20 * time.Second, Maintenance: 24 * time.Hour, Poll: time.Second, MaxPoll: 24 * time.Hour,
		OpTimeout: 10 * time.Second, AbandonAfter: 5 * time.Minute, Shutdown: 30 * time.Second, SweepBatch: 500,
		Terms: &store.Terms{Default: store.Policy{MaxAttempts: 3, NoJitter: true}},
	}
	for _, f := range with {
		f(&i)
	}
	r.pumps++
	r.w.PumpBegan(i, r.now, r.now)
	return i.ID
}

func (r *rig) row(n int) *store.Job { return r.rows[rigID(n)] }

func (r *rig) key(n int) store.LeaseKey {
	j := r.row(n)
	return store.LeaseKey{Job: j.ID, Attempt: j.Attempt, Claim: j.Claim}
}

// send sends a request of pump p; -1 is people.
func (r *rig) send(p checker.PumpID, req store.Request) *checker.Call {
	r.calls++
	c := &checker.Call{Ghost: checker.Ghost(r.calls), Pump: p, SentTrue: r.now, SentNode: r.now, Req: req}
	switch q := req.(type) {
	case *store.Renew:
		c.Kind = checker.CallRenew
		for _, row := range q.Rows {
			c.Leases = append(c.Leases, r.ghosts[row.Key])
		}
	case *store.Report:
		c.Kind = checker.CallReport
		for _, row := range q.Rows {
			c.Leases = append(c.Leases, r.ghosts[row.Key])
		}
	case *store.Claim:
		c.Kind = checker.CallClaim
	case *store.Sweep:
		c.Kind = checker.CallSweep
	case *store.Enqueue:
		c.Kind = checker.CallEnqueue
	case *store.Do:
		c.Kind = checker.CallDo
	}
	r.w.Sent(c)
	return c
}

// change changes a row and returns its images.
func (r *rig) change(n int, f func(*store.Job)) checker.Change {
	before := r.row(n)
	after := *before
	after.Ends = slices.Clone(before.Ends)
	f(&after)
	if r.spoil != nil {
		r.spoil(&after)
		r.spoil = nil
	}
	r.rows[rigID(n)] = &after
	return checker.Change{Before: before, After: &after}
}

func (r *rig) apply(c *checker.Call, reply store.Reply, changes ...checker.Change) {
	r.w.Applied(&checker.Commit{Call: c, True: r.now, StoreNow: r.store(), Changes: changes, Reply: reply, Audits: r.audits})
}

// answer delivers a reply.
func (r *rig) answer(c *checker.Call, reply store.Reply) {
	var leases []checker.Ghost
	if q, ok := reply.(*store.Claimed); ok {
		for _, l := range q.Leases {
			g := r.w.Lease(l.Key.Job)
			leases = append(leases, g)
			r.ghosts[l.Key] = g
		}
	}
	r.w.Answered(c, reply, leases, 0, false, r.now)
}

func (r *rig) fail(c *checker.Call, f store.Fault) { r.w.Answered(c, nil, nil, f, true, r.now) }

func (r *rig) step(p checker.PumpID) {
	r.w.Stepped(checker.Step{Pump: p, True: r.now, Node: r.now, Halted: r.halted, Degraded: r.marks})
}

// enqueue adds job n and lets its client know.
func (r *rig) enqueue(n int, with ...func(*store.NewJob)) {
	q := store.NewJob{ID: rigID(n), Name: "work", Queue: "a"}
	for _, f := range with {
		f(&q)
	}
	req := &store.Enqueue{Jobs: []store.NewJob{q}}
	c := r.send(-1, req)
	r.rows[q.ID] = &store.Job{}
	ch := r.change(n, func(j *store.Job) {
		*j = store.Job{ID: q.ID, Name: q.Name, Queue: q.Queue, MaxAttempts: q.MaxAttempts, UniqueKey: q.UniqueKey, State: store.Scheduled, Due: r.store().Add(q.Delay)}
	})
	r.order = append(r.order, q.ID)
	reply := &store.Enqueued{Rows: []store.EnqueueAnswer{{Status: store.EnqueueAdded}}}
	r.apply(c, reply, ch)
	r.answer(c, reply)
}

func claimOf(p checker.PumpID, number uint64) *store.Claim {
	return &store.Claim{Worker: worker(p), Number: number, Queues: []store.Quota{{Queue: "a", Most: 2}}, Max: 2, Lease: time.Minute}
}

// take lets the store carry out a claim that takes the jobs.
func (r *rig) take(c *checker.Call, jobs ...int) *store.Claimed {
	q := c.Req.(*store.Claim)
	reply := &store.Claimed{}
	var changes []checker.Change
	for _, n := range jobs {
		changes = append(changes, r.change(n, func(j *store.Job) {
			j.State, j.Worker, j.Claim = store.Executing, q.Worker, q.Number
			j.Attempt++
			j.LeaseFor, j.LeaseUntil = q.Lease, r.store().Add(q.Lease)
		}))
		reply.Leases = append(reply.Leases, store.Lease{Key: r.key(n), Name: "work", Queue: r.row(n).Queue, Damage: r.row(n).Damage})
	}
	r.apply(c, reply, changes...)
	return reply
}

// claim sends a claim that takes the jobs, and delivers the answer.
func (r *rig) claim(p checker.PumpID, number uint64, jobs ...int) {
	c := r.send(p, claimOf(p, number))
	r.answer(c, r.take(c, jobs...))
}

func (r *rig) start(p checker.PumpID, n int) {
	r.w.Started(p, r.key(n), "work", r.ghosts[r.key(n)], r.now)
}

// run lets p claim the jobs and start them.
func (r *rig) run(p checker.PumpID, number uint64, jobs ...int) {
	r.claim(p, number, jobs...)
	for _, n := range jobs {
		r.start(p, n)
	}
	r.step(p)
}

func (r *rig) renew(p checker.PumpID, jobs ...int) *checker.Call {
	q := &store.Renew{Worker: worker(p), Lease: time.Minute}
	for _, n := range jobs {
		q.Rows = append(q.Rows, store.RenewRow{Key: r.key(n)})
	}
	return r.send(p, q)
}

// renewed lets the store renew all rows.
func (r *rig) renewed(c *checker.Call) *store.Renewed {
	q := c.Req.(*store.Renew)
	reply := &store.Renewed{}
	var changes []checker.Change
	for _, row := range q.Rows {
		changes = append(changes, r.change(int(row.Key.Job[15]), func(j *store.Job) { j.LeaseUntil = r.store().Add(q.Lease) }))
		reply.Rows = append(reply.Rows, store.RenewAnswer{Status: store.RenewOK, Cancel: r.rows[row.Key.Job].CancelRequested})
	}
	r.apply(c, reply, changes...)
	return reply
}

func (r *rig) report(p checker.PumpID, n int, o store.Outcome) *checker.Call {
	return r.send(p, &store.Report{Worker: worker(p), Rows: []store.ReportRow{{Key: r.key(n), Outcome: o}}})
}

// hands lets the handler of n return, and sends its outcome.
func (r *rig) hands(p checker.PumpID, n int, o store.Outcome) *checker.Call {
	r.w.Returned(p, r.key(n), o, r.now)
	return r.report(p, n, o)
}

// ended is the end of the running attempt, with what follows from it.
func (r *rig) ended(n int, kind store.EndKind, to store.State, rest time.Duration) checker.Change {
	return r.change(n, func(j *store.Job) {
		e := store.End{Attempt: j.Attempt, Claim: j.Claim, Worker: j.Worker, Kind: kind, To: to, At: r.store(), Lease: j.LeaseFor}
		j.State = to
		if to == store.Scheduled {
			j.Due = r.store().Add(rest)
			e.Due = j.Due
			if kind == store.EndSnooze || kind == store.EndRelease || kind == store.EndUnknownName {
				j.Base++
			}
		}
		j.Ends = append(j.Ends, e)
	})
}

// recorded lets the store record the outcome of a report of one row.
func (r *rig) recorded(c *checker.Call, to store.State, rest time.Duration) *store.Reported {
	row := c.Req.(*store.Report).Rows[0]
	reply := &store.Reported{Rows: []store.ReportAnswer{{Status: store.ReportApplied, To: to}}}
	r.apply(c, reply, r.ended(int(row.Key.Job[15]), row.Outcome.Kind(), to, rest))
	return reply
}

// finish lets the handler of n return, and its outcome reach the store.
func (r *rig) finish(p checker.PumpID, n int, o store.Outcome, to store.State, rest time.Duration) {
	c := r.hands(p, n, o)
	r.step(p)
	r.answer(c, r.recorded(c, to, rest))
	r.step(p)
}

func answered(s store.ReportStatus) *store.Reported {
	return &store.Reported{Rows: []store.ReportAnswer{{Status: s}}}
}

// sweep lets p sweep, with the given changes.
func (r *rig) sweep(p checker.PumpID, changes ...checker.Change) {
	c := r.send(p, &store.Sweep{Queues: []string{"a"}, Any: r.now >= int64(time.Minute), Max: 500})
	reply := &store.Swept{Disposed: make([]store.Lapse, len(changes))}
	r.apply(c, reply, changes...)
	r.answer(c, reply)
	r.step(p)
}

// do lets an operator give a command, and delivers the answer.
func (r *rig) do(request string, cmd store.Command, res store.DoResult, changes ...checker.Change) {
	c := r.send(-1, &store.Do{Actor: "op", RequestID: request, Command: cmd})
	reply := &store.Done{Result: res}
	if res == store.DoChanged {
		r.audits++
	}
	r.apply(c, reply, changes...)
	r.answer(c, reply)
}

func (r *rig) ask() checker.Change {
	return r.change(1, func(j *store.Job) { j.CancelRequested = true })
}

// end makes the final checks.
func (r *rig) end() {
	var rows []*store.Job
	for _, id := range r.order {
		if j := r.rows[id]; j != nil {
			rows = append(rows, j)
		}
	}
	r.w.End(r.now, rows)
}

// watchCase is a sequence of observations that is about one invariant: it
// holds, as everything else must, or is broken.
type watchCase struct {
	rule   string
	holds  bool
	name   string
	script func(*rig)
}

const (
	holds  = true
	broken = false
)

// TestWatch plays every case. Each invariant has a tricky legal one and two
// that break it.
func TestWatch(t *testing.T) {
	cases := slices.Concat(rowCases, fenceCases, storeCases, handlerCases, completionCases, callCases)
	for _, inv := range checker.Invariants() {
		legal, illegal := 0, 0
		for _, c := range cases {
			if c.rule == inv.Name && c.holds {
				legal++
			} else if c.rule == inv.Name {
				illegal++
			}
		}
		if legal < 1 || illegal < 2 {
			t.Errorf("%s has %d legal and %d illegal cases, want 1 and 2", inv.Name, legal, illegal)
		}
	}
	for _, c := range cases {
		t.Run(c.rule+"/"+c.name, func(t *testing.T) { c.play(t) })
	}
}

func (c *watchCase) play(t *testing.T) {
	r := newRig()
	c.script(r)
	got := r.w.Violations()
	if !c.holds && !slices.ContainsFunc(got, func(v checker.Violation) bool { return v.Invariant == c.rule }) {
		t.Errorf("it is not flagged; flagged are %v", got)
	}
	for _, v := range got {
		if c.holds {
			t.Errorf("a false alarm: %s: %s", v.Invariant, v.Message)
		}
		if strings.Contains(v.Message, "%!") {
			t.Errorf("a message is badly formatted: %s", v.Message)
		}
		t.Logf("%s: %s", v.Invariant, v.Message)
	}
}
