package checker_test

import (
	"time"

	"backwave/checker"
	"backwave/store"
)

// fenceCases are about who may write to a job.
var fenceCases = []watchCase{
	{"fence", holds, "a renewal in the last microsecond", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(20)
		c := r.renew(p, 1)
		r.step(p)
		r.at(59.999999)
		r.renewed(c)
	}},
	{"fence", holds, "a lost lease lives again after the store's clock stepped back", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.step(p)
		r.at(5)
		r.skew = time.Minute
		r.w.StoreClockStepped(r.skew, r.now)
		r.apply(c, answered(store.ReportStale)) // over at 60s, and it shows 65s
		r.skew = 0
		r.w.StoreClockStepped(-time.Minute, r.now)
		r.recorded(c, store.Succeeded, 0)
	}},
	{"fence", holds, "a zombie is stale after the store forgot, under the same token", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.enqueue(1)
		was := r.row(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.rows[rigID(1)] = was
		r.w.Forgot([]*store.Job{was}, r.now)
		r.run(q, 1, 1)
		r.apply(c, answered(store.ReportStale))
		r.finish(q, 1, store.Success{}, store.Succeeded, 0)
		r.end()
	}},
	{"fence", broken, "an outcome at the very end of the lease", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.at(60)
		r.recorded(c, store.Succeeded, 0)
	}},
	{"fence", broken, "a lapsed lease is revived", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.renew(p, 1)
		r.at(61)
		r.renewed(c)
	}},
	{"fence", broken, "a zombie of an earlier attempt ends the later one", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.at(60)
		r.sweep(q, r.ended(1, store.EndLapse, store.Scheduled, 2*time.Second))
		r.at(62)
		r.run(q, 1, 1)
		r.recorded(c, store.Succeeded, 0)
	}},
	{"fence", broken, "a zombie from before the store forgot", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.enqueue(1)
		was := r.row(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.rows[rigID(1)] = was
		r.w.Forgot([]*store.Job{was}, r.now)
		r.run(q, 1, 1)
		r.recorded(c, store.Succeeded, 0)
	}},
	{"fence", broken, "a forged report changes a job", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		key := r.key(1)
		key.Claim++
		c := &checker.Call{Kind: checker.CallForged, Pump: p, Req: &store.Report{Worker: worker(p), Rows: []store.ReportRow{{Key: key, Outcome: store.Success{}}}}, Leases: []checker.Ghost{0}}
		r.w.Sent(c)
		r.recorded(c, store.Succeeded, 0)
	}},
	{"fence", broken, "a renewal for too long", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.spoil = func(j *store.Job) { j.LeaseUntil++ }
		r.renewed(r.renew(p, 1))
	}},
	{"fence", broken, "answered renewed, and it was not", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.renew(p, 1)
		r.at(60)
		r.apply(c, &store.Renewed{Rows: []store.RenewAnswer{{Status: store.RenewOK}}})
	}},
	{"fence", broken, "a cancel without force ends a living lease", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.ended(1, store.EndForce, store.Cancelled, 0))
	}},
	{"exclusive", holds, "the same claim is carried out again after the store forgot it", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		was := r.row(1)
		c := r.send(p, claimOf(p, 1))
		r.take(c, 1) // the answer is lost
		r.rows[rigID(1)] = was
		r.w.Forgot([]*store.Job{was}, r.now)
		reply := r.take(c, 1)
		r.answer(c, reply)
		r.start(p, 1)
		r.step(p)
		r.finish(p, 1, store.Success{}, store.Succeeded, 0)
		r.end()
	}},
	{"exclusive", broken, "a lapsed lease is claimed directly", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(61)
		r.claim(q, 1, 1)
	}},
	{"exclusive", broken, "a key is granted twice", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Failure{}, store.Scheduled, 2*time.Second)
		r.at(2)
		c := r.send(p, claimOf(p, 1))
		r.spoil = func(j *store.Job) { j.Attempt = 1 }
		r.take(c, 1)
	}},
	{"exclusive", broken, "a number is used again after its answer", func(r *rig) {
		p := r.pump()
		r.claim(p, 1)
		r.claim(p, 1)
	}},
	{"exclusive", broken, "a lease is answered to somebody else", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.apply(r.send(q, claimOf(q, 1)), &store.Claimed{Leases: []store.Lease{{Key: r.key(1)}}})
	}},
	{"paused", holds, "a claim sent before the answer to the pause", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		c := r.send(p, claimOf(p, 1))
		r.do("x", store.Pause{Queue: "a"}, store.DoChanged)
		r.take(c, 1)
	}},
	{"paused", holds, "a resume that was not answered yet", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.do("x", store.Pause{Queue: "a"}, store.DoChanged)
		r.audits++
		r.apply(r.send(-1, &store.Do{RequestID: "y", Command: store.Resume{Queue: "a"}}), &store.Done{Result: store.DoChanged})
		r.claim(p, 1, 1)
	}},
	{"paused", holds, "nobody knows what the store forgot of pauses", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.do("x", store.Pause{Queue: "a"}, store.DoChanged)
		r.w.Forgot([]*store.Job{r.row(1)}, r.now)
		r.claim(p, 1, 1)
	}},
	{"paused", broken, "claimed after the pause", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.do("x", store.Pause{Queue: "a"}, store.DoChanged)
		r.claim(p, 1, 1)
	}},
	{"paused", broken, "it was paused already", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.audits++
		r.apply(r.send(-1, &store.Do{RequestID: "x", Command: store.Pause{Queue: "a"}}), &store.Done{Result: store.DoChanged})
		r.do("y", store.Pause{Queue: "a"}, store.DoUnchanged)
		r.claim(p, 1, 1)
	}},
	{"no-claim-after-cancel", holds, "a cancel wins over a retry", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.ask())
		r.do("y", store.Cancel{Job: rigID(1)}, store.DoUnchanged)
		r.finish(p, 1, store.Snooze{}, store.Cancelled, 0)
	}},
	{"no-claim-after-cancel", holds, "a cancel of a lapsed lease ends it", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.claim(p, 1, 1)
		r.at(60)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.ended(1, store.EndCancel, store.Cancelled, 0))
	}},
	{"no-claim-after-cancel", broken, "a failure is tried again", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.ask())
		r.finish(p, 1, store.Failure{}, store.Scheduled, 2*time.Second)
	}},
	{"no-claim-after-cancel", broken, "a success is thrown away", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.ask())
		r.finish(p, 1, store.Success{}, store.Cancelled, 0)
	}},
	{"no-claim-after-cancel", broken, "a waiting job goes on waiting", func(r *rig) {
		r.enqueue(1)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoUnchanged)
	}},
	{"no-claim-after-cancel", broken, "the renewal does not say so", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.ask())
		c := r.renew(p, 1)
		ch := r.change(1, func(j *store.Job) { j.LeaseUntil = r.store().Add(time.Minute) })
		r.apply(c, &store.Renewed{Rows: []store.RenewAnswer{{Status: store.RenewOK}}}, ch)
	}},
}
