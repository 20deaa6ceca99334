package checker

import (
	"time"

	"backwave/history"
	"backwave/store"
)

// tape writes a history by hand. Its one job is due at once, in queue "q",
// with leases of 60 s, three attempts and delays of exactly 2, 4 … s.
type tape struct {
	log  *history.Log
	call uint64
	ns   int64
}

func newTape() *tape { return &tape{log: history.NewLog()} }

// send notes a request; what it returns stands for the call.
func (p *tape) send(q store.Request) uint64 {
	p.call++
	p.ns += int64(time.Millisecond)
	p.log.Sent(p.ns, p.call, "c", q)
	return p.call
}

func (p *tape) applied(call uint64, r store.Reply) {
	p.ns += int64(time.Millisecond)
	p.log.Applied(p.ns, call, r)
}

func (p *tape) answered(call uint64, r store.Reply) {
	p.ns += int64(time.Millisecond)
	p.log.Answered(p.ns, call, r)
}

// do is a call without any trouble.
func (p *tape) do(q store.Request, r store.Reply) {
	c := p.send(q)
	p.applied(c, r)
	p.answered(c, r)
}

// lost is a call whose reply never came back.
func (p *tape) lost(q store.Request, r store.Reply) { p.applied(p.send(q), r) }

// gone is a call that never reached the store.
func (p *tape) gone(q store.Request) { p.log.Lost(p.ns, p.send(q)) }

// begin enqueues the job and gives attempt 1 to n1 at second 1.
func (p *tape) begin() {
	p.do(enqueue(1), added(0))
	p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
}

var tapeTerms = &store.Terms{Default: store.Policy{MaxAttempts: 3, NoJitter: true}}

func enqueue(id int) *store.Enqueue {
	return &store.Enqueue{Jobs: []store.NewJob{{ID: jobID(id), Name: "a", Queue: "q"}}}
}

func enqueueKey(id int) *store.Enqueue {
	q := enqueue(id)
	q.Jobs[0].UniqueKey = "k"
	return q
}

func enqueued(t float64, s store.EnqueueStatus) *store.Enqueued {
	return &store.Enqueued{At: at(t), Rows: []store.EnqueueAnswer{{Status: s}}}
}

func added(t float64) *store.Enqueued { return enqueued(t, store.EnqueueAdded) }

func claim(worker string, number uint64) *store.Claim {
	return &store.Claim{Worker: worker, Number: number, Queues: []store.Quota{{Queue: "q", Most: 9}}, Max: 9, Lease: time.Minute, Terms: tapeTerms}
}

// lease is a lease of job 1 that was taken at second t.
func lease(attempt int, number uint64, t float64, base int) store.Lease {
	return store.Lease{Key: key(attempt, number), Name: "a", Queue: "q", Base: base, ExpiresAt: at(t + 60)}
}

func key(attempt int, number uint64) store.LeaseKey {
	return store.LeaseKey{Job: jobID(1), Attempt: attempt, Claim: number}
}

func claimed(t float64, l ...store.Lease) *store.Claimed {
	return &store.Claimed{At: at(t), Leases: l}
}

// renew is a renewal of attempt 1 by n1.
func renew(number uint64) *store.Renew {
	return &store.Renew{Worker: "n1", Lease: time.Minute, Rows: []store.RenewRow{{Key: key(1, number)}}}
}

func renewed(t float64) *store.Renewed {
	return &store.Renewed{At: at(t), Rows: []store.RenewAnswer{{Status: store.RenewOK, ExpiresAt: at(t + 60)}}}
}

func renewedCancel(t float64) *store.Renewed {
	r := renewed(t)
	r.Rows[0].Cancel = true
	return r
}

func lostLease(t float64) *store.Renewed {
	return &store.Renewed{At: at(t), Rows: []store.RenewAnswer{{Status: store.RenewLost}}}
}

func report(worker string, attempt int, number uint64, o store.Outcome) *store.Report {
	return &store.Report{Worker: worker, Rows: []store.ReportRow{{Key: key(attempt, number), Outcome: o}}}
}

func reported(t float64, a store.ReportAnswer) *store.Reported {
	return &store.Reported{At: at(t), Rows: []store.ReportAnswer{a}}
}

func applied(t float64, to store.State) *store.Reported {
	return reported(t, store.ReportAnswer{Status: store.ReportApplied, To: to})
}

func already(t float64, k store.EndKind) *store.Reported {
	return reported(t, store.ReportAnswer{Status: store.ReportAlready, Already: k})
}

func stale(t float64) *store.Reported {
	return reported(t, store.ReportAnswer{Status: store.ReportStale})
}

var sweep = &store.Sweep{Queues: []string{"q"}, Max: 9}

// swept disposes of attempt 1 by n1, whose lease ended at second end.
func swept(t, end float64) *store.Swept {
	return &store.Swept{At: at(t), Disposed: []store.Lapse{{Key: key(1, 1), Worker: "n1", Queue: "q", ExpiredAt: at(end), To: store.Scheduled}}}
}

func do(id string, c store.Command) *store.Do {
	return &store.Do{Actor: "ann", RequestID: id, Command: c}
}

func done(t float64, r store.DoResult) *store.Done { return &store.Done{At: at(t), Result: r} }

func repeat(t float64, r store.DoResult) *store.Done {
	return &store.Done{At: at(t), Result: r, Repeat: true}
}

var (
	cancel1  = store.Cancel{Job: jobID(1)}
	force1   = store.Cancel{Job: jobID(1), Force: true}
	requeue1 = store.Requeue{Job: jobID(1)}
)

// dead takes the job through failed attempts, the last of which ends in to.
func (p *tape) dead(to store.State, attempts int) {
	p.do(enqueue(1), added(0))
	for a := 1; a <= attempts; a++ {
		t := float64(a * 100)
		next := store.Scheduled
		if a == attempts {
			next = to
		}
		p.do(claim("n1", uint64(a)), claimed(t, lease(a, uint64(a), t, 0)))
		p.do(report("n1", a, uint64(a), store.Failure{}), applied(t+1, next))
	}
}
