package checker_test

import (
	"time"

	"backwave/checker"
	"backwave/store"
)

func anEnd(j *store.Job, r *rig) store.End {
	return store.End{Attempt: j.Attempt, Claim: j.Claim, Worker: j.Worker, Kind: store.EndFailure, To: j.State, At: r.store(), Lease: j.LeaseFor}
}

// rowCases are about what rows become.
var rowCases = []watchCase{
	{"effect-once", holds, "a report carried out twice records one end", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.step(p)
		reply := r.recorded(c, store.Succeeded, 0)
		r.apply(c, &store.Reported{Rows: []store.ReportAnswer{{Status: store.ReportAlready, Already: store.EndSuccess}}})
		r.answer(c, reply)
		r.step(p)
		r.end()
	}},
	{"effect-once", broken, "two ends at once", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.spoil = func(j *store.Job) { j.Ends = append(j.Ends, anEnd(j, r)) }
		r.finish(p, 1, store.Failure{}, store.Scheduled, 2*time.Second)
	}},
	{"effect-once", broken, "a second end of an attempt that had ended", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Failure{}, store.Scheduled, 2*time.Second)
		r.sweep(p, r.change(1, func(j *store.Job) { j.Ends = append(j.Ends, anEnd(j, r)) }))
	}},
	{"effect-once", broken, "a second terminal state", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Success{}, store.Succeeded, 0)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.change(1, func(j *store.Job) { j.State = store.Cancelled }))
	}},
	{"accounting", holds, "attempts go on over a requeue", func(r *rig) {
		p := r.pump()
		r.enqueue(1, func(n *store.NewJob) { n.MaxAttempts = 1 })
		r.run(p, 1, 1)
		r.finish(p, 1, store.Failure{}, store.DeadLettered, 0)
		r.do("x", store.Requeue{Job: rigID(1)}, store.DoChanged, r.change(1, func(j *store.Job) {
			j.State, j.Due, j.Base = store.Scheduled, r.store(), 1
		}))
		r.run(p, 2, 1)
		r.end()
	}},
	{"accounting", broken, "an attempt is not counted", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.spoil = func(j *store.Job) { j.Attempt = 0 }
		r.claim(p, 1, 1)
	}},
	{"accounting", broken, "an attempt vanishes without an end", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.row(1).Attempt = 2
		r.end()
	}},
	{"ceiling", holds, "a snooze does not count, a lapse does", func(r *rig) {
		p := r.pump()
		r.enqueue(1, func(n *store.NewJob) { n.MaxAttempts = 1 })
		r.run(p, 1, 1)
		r.finish(p, 1, store.Snooze{}, store.Scheduled, time.Second)
		r.at(1)
		r.claim(p, 2, 1)
		r.at(61)
		r.w.PumpDied(p, r.now)
		q := r.pump()
		r.sweep(q, r.ended(1, store.EndLapse, store.DeadLettered, 0))
	}},
	{"ceiling", holds, "the delay is capped after many attempts", func(r *rig) {
		p := r.pump(func(i *checker.PumpInfo) {
			i.Terms = &store.Terms{Default: store.Policy{First: 200 * time.Second, NoJitter: true}}
		})
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Failure{}, store.Scheduled, 200*time.Second)
		r.at(200)
		r.run(p, 2, 1)
		r.finish(p, 1, store.Failure{}, store.Scheduled, 300*time.Second)
	}},
	{"ceiling", holds, "an unknown name is put off ten times", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		rest := 2 * time.Second
		for k := uint64(1); k <= 10; k++ {
			r.run(p, k, 1)
			r.finish(p, 1, store.UnknownName{}, store.Scheduled, rest)
			r.now += int64(rest)
			rest = min(2*rest, 300*time.Second)
			if k == 8 {
				rest = 300 * time.Second
			}
		}
		r.run(p, 11, 1)
		r.finish(p, 1, store.UnknownName{}, store.Quarantined, 0)
	}},
	{"ceiling", broken, "tried again at the ceiling", func(r *rig) {
		p := r.pump()
		r.enqueue(1, func(n *store.NewJob) { n.MaxAttempts = 1 })
		r.run(p, 1, 1)
		r.finish(p, 1, store.Failure{}, store.Scheduled, 2*time.Second)
	}},
	{"ceiling", broken, "tried again too early", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Failure{}, store.Scheduled, time.Second)
	}},
	{"ceiling", broken, "a requeue forgets its base", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Discard{}, store.DeadLettered, 0)
		r.do("x", store.Requeue{Job: rigID(1)}, store.DoChanged, r.change(1, func(j *store.Job) { j.State, j.Due = store.Scheduled, r.store() }))
	}},
	{"legal", holds, "a cancel that was asked changes the row and not its state", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.ask())
		r.finish(p, 1, store.Success{}, store.Succeeded, 0)
	}},
	{"legal", broken, "a sweep quarantines", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.claim(p, 1, 1)
		r.w.PumpDied(p, r.now)
		r.at(60)
		r.sweep(r.pump(), r.ended(1, store.EndLapse, store.Quarantined, 0))
	}},
	{"legal", broken, "a success is scheduled again", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Success{}, store.Scheduled, 0)
	}},
	{"legal", broken, "a job is added twice", func(r *rig) {
		r.enqueue(1)
		r.enqueue(1)
	}},
	{"final", holds, "a requeue may change what is final", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Undecodable{}, store.Quarantined, 0)
		r.do("x", store.Requeue{Job: rigID(1)}, store.DoChanged, r.change(1, func(j *store.Job) { j.State, j.Due, j.Base = store.Scheduled, r.store(), 1 }))
	}},
	{"final", broken, "a stale report writes to a finished job", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.recorded(c, store.Succeeded, 0)
		r.apply(c, answered(store.ReportStale), r.change(1, func(j *store.Job) { j.Output = []byte("late") }))
	}},
	{"final", broken, "a finished job is claimed", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Success{}, store.Succeeded, 0)
		r.claim(p, 2, 1)
	}},
	{"due", holds, "claimed at the very instant", func(r *rig) {
		p := r.pump()
		r.enqueue(1, func(n *store.NewJob) { n.Delay = 5 * time.Second })
		r.at(5)
		r.claim(p, 1, 1)
	}},
	{"due", broken, "claimed a microsecond early", func(r *rig) {
		p := r.pump()
		r.enqueue(1, func(n *store.NewJob) { n.Delay = 5 * time.Second })
		r.at(4.999999)
		r.claim(p, 1, 1)
	}},
	{"due", broken, "enqueued for another instant", func(r *rig) {
		r.spoil = func(j *store.Job) { j.Due++ }
		r.enqueue(1)
	}},
	{"served", holds, "a job of the second queue", func(r *rig) {
		p := r.pump(func(i *checker.PumpInfo) { i.Queues = []string{"a", "b"} })
		r.enqueue(1, func(n *store.NewJob) { n.Queue = "b" })
		r.claim(p, 1, 1)
	}},
	{"served", broken, "a job of a foreign queue", func(r *rig) {
		r.enqueue(1, func(n *store.NewJob) { n.Queue = "b" })
		r.claim(r.pump(), 1, 1)
	}},
	{"served", broken, "a foreign job among its own", func(r *rig) {
		r.enqueue(1)
		r.enqueue(2, func(n *store.NewJob) { n.Queue = "b" })
		r.claim(r.pump(), 1, 1, 2)
	}},
	{"unique", holds, "the key passes on when its holder ends", func(r *rig) {
		p := r.pump()
		key := func(n *store.NewJob) { n.UniqueKey = "k" }
		r.enqueue(1, key)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Discard{}, store.DeadLettered, 0)
		r.enqueue(2, key)
		r.do("x", store.Requeue{Job: rigID(1)}, store.DoRefused)
	}},
	{"unique", broken, "two holders", func(r *rig) {
		key := func(n *store.NewJob) { n.UniqueKey = "k" }
		r.enqueue(1, key)
		r.enqueue(2, key)
	}},
	{"unique", broken, "requeued although another holds the key", func(r *rig) {
		p := r.pump()
		key := func(n *store.NewJob) { n.UniqueKey = "k" }
		r.enqueue(1, key)
		r.run(p, 1, 1)
		r.finish(p, 1, store.Discard{}, store.DeadLettered, 0)
		r.enqueue(2, key)
		r.do("x", store.Requeue{Job: rigID(1)}, store.DoChanged, r.change(1, func(j *store.Job) { j.State, j.Due, j.Base = store.Scheduled, r.store(), 1 }))
	}},
	{"unique", broken, "refused for a key that nobody holds", func(r *rig) {
		c := r.send(-1, &store.Enqueue{Jobs: []store.NewJob{{ID: rigID(1), Name: "work", Queue: "a", UniqueKey: "k"}}})
		r.apply(c, &store.Enqueued{Rows: []store.EnqueueAnswer{{Status: store.EnqueueHeld, Holder: rigID(2)}}})
	}},
}
