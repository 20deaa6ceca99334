package checker_test

import (
	"time"

	"backwave/checker"
	"backwave/store"
)

func both(a, b store.RenewStatus) *store.Renewed {
	return &store.Renewed{Rows: []store.RenewAnswer{{Status: a}, {Status: b}}}
}

func (r *rig) prolong(n int) checker.Change {
	return r.change(n, func(j *store.Job) { j.LeaseUntil = r.store().Add(time.Minute) })
}

// storeCases are about what else a store owes.
var storeCases = []watchCase{
	{"neighbours", holds, "one row is locked, the other renewed", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.enqueue(2)
		r.run(p, 1, 1, 2)
		r.w.Held(rigID(1))
		c := r.renew(p, 1, 2)
		r.apply(c, both(store.RenewBusy, store.RenewOK), r.prolong(2))
		r.w.Released(rigID(1))
	}},
	{"neighbours", holds, "an output over its bound is rejected", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		o := store.Success{Output: make([]byte, store.MaxOutput+1)}
		c := r.hands(p, 1, o)
		r.step(p)
		r.apply(c, answered(store.ReportRejected))
		r.answer(c, answered(store.ReportRejected))
		c = r.report(p, 1, store.Failure{})
		r.step(p)
		r.answer(c, r.recorded(c, store.Scheduled, 2*time.Second))
		r.step(p)
	}},
	{"neighbours", broken, "busy for all, since one row is locked", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.enqueue(2)
		r.run(p, 1, 1, 2)
		r.w.Held(rigID(1))
		r.apply(r.renew(p, 1, 2), both(store.RenewBusy, store.RenewBusy))
	}},
	{"neighbours", broken, "a living lease is answered lost", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.apply(r.renew(p, 1), &store.Renewed{Rows: []store.RenewAnswer{{Status: store.RenewLost}}})
	}},
	{"neighbours", broken, "a good outcome is rejected", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.apply(r.hands(p, 1, store.Success{}), answered(store.ReportRejected))
	}},
	{"neighbours", broken, "a locked row is written", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.w.Held(rigID(1))
		r.recorded(r.hands(p, 1, store.Success{}), store.Succeeded, 0)
	}},
	{"not-lost", holds, "the store forgot an enqueue whose answer was under way", func(r *rig) {
		c := r.send(-1, &store.Enqueue{Jobs: []store.NewJob{{ID: rigID(1), Name: "work", Queue: "a"}}})
		r.rows[rigID(1)] = &store.Job{}
		reply := &store.Enqueued{Rows: []store.EnqueueAnswer{{Status: store.EnqueueAdded}}}
		r.apply(c, reply, r.change(1, func(j *store.Job) {
			*j = store.Job{ID: rigID(1), Name: "work", Queue: "a", State: store.Scheduled, Due: r.store()}
		}))
		r.w.Forgot(nil, r.now)
		r.answer(c, reply)
		r.end()
	}},
	{"not-lost", broken, "acknowledged, and never added", func(r *rig) {
		c := r.send(-1, &store.Enqueue{Jobs: []store.NewJob{{ID: rigID(1)}}})
		reply := &store.Enqueued{Rows: []store.EnqueueAnswer{{Status: store.EnqueueAdded}}}
		r.apply(c, reply)
		r.answer(c, reply)
	}},
	{"not-lost", broken, "gone in the end", func(r *rig) {
		r.enqueue(1)
		delete(r.rows, rigID(1))
		r.end()
	}},
	{"already-applied", holds, "stale is allowed once two lease lengths have passed", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.recorded(c, store.Succeeded, 0)
		r.apply(c, &store.Reported{Rows: []store.ReportAnswer{{Status: store.ReportAlready, Already: store.EndSuccess}}})
		r.at(120)
		r.apply(c, answered(store.ReportStale))
	}},
	{"already-applied", holds, "what a sweep ended is stale", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.at(60)
		r.sweep(q, r.ended(1, store.EndLapse, store.Scheduled, 2*time.Second))
		r.apply(c, answered(store.ReportStale))
	}},
	{"already-applied", broken, "another kind", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.recorded(c, store.Succeeded, 0)
		r.apply(c, &store.Reported{Rows: []store.ReportAnswer{{Status: store.ReportAlready, Already: store.EndFailure}}})
	}},
	{"already-applied", broken, "stale too early", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.recorded(c, store.Succeeded, 0)
		r.at(119)
		r.apply(c, answered(store.ReportStale))
	}},
	{"already-applied", broken, "what a sweep ended is taken for recorded", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.at(60)
		r.sweep(q, r.ended(1, store.EndLapse, store.Scheduled, 2*time.Second))
		r.apply(c, &store.Reported{Rows: []store.ReportAnswer{{Status: store.ReportAlready, Already: store.EndLapse}}})
	}},
	{"audit", holds, "a repeat, and what was so already, are not audited", func(r *rig) {
		r.do("x", store.Pause{Queue: "a"}, store.DoChanged)
		r.do("y", store.Pause{Queue: "a"}, store.DoUnchanged)
		c := r.send(-1, &store.Do{RequestID: "x", Command: store.Pause{Queue: "a"}})
		r.apply(c, &store.Done{Result: store.DoChanged, Repeat: true})
		r.do("z", store.Resume{Queue: "a"}, store.DoChanged)
	}},
	{"audit", holds, "the log is shorter once the store forgot", func(r *rig) {
		r.do("x", store.Pause{Queue: "a"}, store.DoChanged)
		r.w.Forgot(nil, r.now)
		r.audits = 0
		r.do("x", store.Pause{Queue: "a"}, store.DoChanged)
		r.do("y", store.Resume{Queue: "a"}, store.DoChanged)
	}},
	{"audit", broken, "a change is not audited", func(r *rig) {
		r.enqueue(1)
		r.audits--
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.change(1, func(j *store.Job) { j.State = store.Cancelled }))
	}},
	{"audit", broken, "a refusal is audited", func(r *rig) {
		r.audits++
		r.do("x", store.Requeue{Job: rigID(1)}, store.DoNotFound)
	}},
	{"audit", broken, "a repeat changes a row", func(r *rig) {
		r.enqueue(1)
		r.do("x", store.Pause{Queue: "a"}, store.DoChanged)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.change(1, func(j *store.Job) { j.State = store.Cancelled }))
	}},
	{"history", holds, "old ends are cut and counted", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		for k := range 3 {
			r.at(float64(200 * k))
			r.run(p, uint64(k+1), 1)
			if k == 2 {
				r.spoil = func(j *store.Job) { j.Ends, j.EndsCut = j.Ends[2:], 2 }
			}
			r.finish(p, 1, store.Snooze{Delay: 100 * time.Second}, store.Scheduled, 100*time.Second)
		}
		r.end()
	}},
	{"history", broken, "a young end is cut", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Snooze{}, store.Scheduled, time.Second)
		r.at(1)
		r.run(p, 2, 1)
		r.spoil = func(j *store.Job) { j.Ends, j.EndsCut = j.Ends[1:], 1 }
		r.finish(p, 1, store.Snooze{}, store.Scheduled, time.Second)
	}},
	{"history", broken, "an end is dropped and not counted", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Snooze{}, store.Scheduled, time.Second)
		r.row(1).Ends = nil
		r.end()
	}},
	{"history", broken, "an end is kept as another kind", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.spoil = func(j *store.Job) { j.Ends[0].Kind = store.EndFailure }
		r.finish(p, 1, store.Snooze{}, store.Scheduled, time.Second)
	}},
}
