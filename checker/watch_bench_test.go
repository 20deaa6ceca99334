package checker_test

import (
	"fmt"
	"testing"
	"time"

	"backwave/checker"
	"backwave/store"
)

// BenchmarkWatchIdle is one idle poll beside few and beside many waiting jobs:
// sent, carried out, answered, stepped.
func BenchmarkWatchIdle(b *testing.B) {
	for _, jobs := range []int{50, 10_000} {
		b.Run(fmt.Sprintf("claim,jobs=%d", jobs), func(b *testing.B) {
			r, p := filledRig(jobs)
			req, reply := claimOf(p, 0), &store.Claimed{}
			call, commit := &checker.Call{Kind: checker.CallClaim, Pump: p, Req: req}, &checker.Commit{Reply: reply}
			idle(b, r, p, call, commit, func() { req.Number++ })
		})
		b.Run(fmt.Sprintf("sweep,jobs=%d", jobs), func(b *testing.B) {
			r, p := filledRig(jobs)
			call, commit := &checker.Call{Kind: checker.CallSweep, Pump: p, Req: &store.Sweep{Queues: []string{"a"}, Any: true, Max: 500}}, &checker.Commit{Reply: &store.Swept{}}
			idle(b, r, p, call, commit, func() {})
		})
	}
}

func idle(b *testing.B, r *rig, p checker.PumpID, call *checker.Call, commit *checker.Commit, next func()) {
	commit.Call = call
	b.ReportAllocs()
	for b.Loop() {
		r.now += int64(time.Second)
		next()
		call.SentTrue, call.SentNode = r.now, r.now
		r.w.Sent(call)
		commit.True, commit.StoreNow = r.now, r.store()
		r.w.Applied(commit)
		r.w.Answered(call, commit.Reply, nil, 0, false, r.now)
		r.w.Stepped(checker.Step{Pump: p, True: r.now, Node: r.now})
	}
	if v := r.w.Violations(); len(v) > 0 {
		b.Fatal(v[0])
	}
}

// filledRig has a pump and n jobs, each of which is leased to a pump that
// died.
func filledRig(n int) (*rig, checker.PumpID) {
	r := newRig()
	q := r.pump(func(i *checker.PumpInfo) { i.PoolSize, i.Lease = n, 10*365*24*time.Hour })
	c := r.send(q, &store.Claim{Worker: worker(q), Number: 1, Max: n, Lease: 10 * 365 * 24 * time.Hour})
	var changes []checker.Change
	for i := range n {
		id := store.NewJobID(1_700_000_000_000, 1, uint64(i))
		job := store.Job{ID: id, Name: "work", Queue: "a", State: store.Scheduled, Due: r.store()}
		r.apply(r.send(-1, &store.Enqueue{}), &store.Enqueued{}, checker.Change{Before: &store.Job{}, After: &job})
		leased := job
		leased.State, leased.Attempt, leased.Worker, leased.Claim = store.Executing, 1, worker(q), 1
		leased.LeaseFor, leased.LeaseUntil = 10*365*24*time.Hour, r.store().Add(10*365*24*time.Hour)
		changes = append(changes, checker.Change{Before: &job, After: &leased})
	}
	r.apply(c, &store.Claimed{}, changes...)
	r.w.PumpDied(q, r.now)
	return r, r.pump(func(i *checker.PumpInfo) { i.PoolSize, i.Maintenance = 20, 1000*24*time.Hour })
}

// BenchmarkWatchAttempt is one whole attempt: claimed, started, renewed,
// returned, reported.
func BenchmarkWatchAttempt(b *testing.B) {
	for _, jobs := range []int{50, 10_000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			r, p := filledRig(jobs)
			r.enqueue(1)
			number := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				number++
				r.now += int64(time.Second)
				r.row(1).Ends, r.row(1).EndsCut = nil, int(number-1) // nobody keeps so long a history
				r.run(p, number, 1)
				c := r.renew(p, 1)
				r.answer(c, r.renewed(c))
				r.finish(p, 1, store.Snooze{}, store.Scheduled, time.Second)
			}
			if v := r.w.Violations(); len(v) > 0 {
				b.Fatal(v[0])
			}
		})
	}
}
