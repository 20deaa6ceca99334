package checker_test

import (
	"backwave/checker"
	"backwave/store"
)

// completes lets the handler of job 1 record its success in a transaction, and
// sends the commit of that.
func (r *rig) completes(p checker.PumpID) *checker.Call {
	key := r.key(1)
	r.w.Completing(p, key, r.now)
	r.calls++
	c := &checker.Call{
		Ghost: checker.Ghost(r.calls), Kind: checker.CallComplete, Pump: p, SentTrue: r.now, SentNode: r.now,
		Req:    &store.Report{Worker: worker(p), Rows: []store.ReportRow{{Key: key, Outcome: store.Success{}}}},
		Leases: []checker.Ghost{r.ghosts[key]},
	}
	r.w.Sent(c)
	return c
}

// completionCases are about handlers that record their success themselves.
var completionCases = []watchCase{
	{"already-applied", holds, "committed, and then reported as a failure", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.completes(p)
		r.recorded(c, store.Succeeded, 0)
		r.at(100) // long past the lease: nobody can take the job
		r.w.Completed(p, r.key(1), store.CompletionCommitted, r.now)
		r.step(p)
		d := r.hands(p, 1, store.Failure{})
		r.step(p)
		reply := answered(store.ReportAlready)
		reply.Rows[0].Already = store.EndSuccess
		r.apply(d, reply)
		r.answer(d, reply)
		r.step(p)
	}},
	{"told", holds, "a refused renewal says nothing while a commit is under way", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(20)
		a := r.renew(p, 1)
		r.step(p)
		c := r.completes(p)
		r.recorded(c, store.Succeeded, 0)
		reply := &store.Renewed{Rows: []store.RenewAnswer{{Status: store.RenewLost}}}
		r.apply(a, reply)
		r.answer(a, reply)
		r.step(p)
	}},
	{"told", broken, "not told after a transaction was rolled back past the own view", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.w.Completing(p, r.key(1), r.now)
		r.at(59)
		r.step(p)
		r.w.Completed(p, r.key(1), store.CompletionRolledBack, r.now)
		r.step(p)
	}},
	{"margin", broken, "renewed while a commit is under way", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.w.Completing(p, r.key(1), r.now)
		r.at(20)
		r.renew(p, 1)
	}},
	{"margin", broken, "not renewed after a transaction was rolled back", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.w.Completing(p, r.key(1), r.now)
		r.at(30)
		r.w.Completed(p, r.key(1), store.CompletionRolledBack, r.now)
		r.step(p)
	}},
	{"obligations", broken, "reported as a success after a commit that was not answered", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.completes(p)
		r.w.Completed(p, r.key(1), store.CompletionUnknown, r.now)
		r.hands(p, 1, store.Success{})
	}},
	{"fence", broken, "a commit is accepted after the lease", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.completes(p)
		r.at(61)
		r.recorded(c, store.Succeeded, 0)
	}},
}
