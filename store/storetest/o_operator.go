package storetest

import (
	"time"

	"backwave/store"
)

var operators = []testCase{
	{"O1", "a repeated command answers the first result and does nothing", func(f *fixture) {
		id, _ := f.finished(store.DeadLettered)
		f.want(f.done("r1", store.Requeue{Job: id}), store.Done{At: f.clock.Now(), Result: store.DoChanged})
		f.ends(f.take(), store.Discard{}, store.DeadLettered)
		f.advance(time.Hour)
		f.unchanged(func() {
			f.want(f.done("r1", store.Requeue{Job: id}), store.Done{At: f.clock.Now(), Result: store.DoChanged, Repeat: true})
			f.want(f.done("r1", store.Pause{Queue: "q"}), store.Done{At: f.clock.Now(), Result: store.DoChanged, Repeat: true})
		}, id)
		next := f.job()
		f.want(f.claim(store.Claim{}), rows(next)) // not paused
	}},
	{"O1", "refusals and misses are repeated too", func(f *fixture) {
		n := f.fill(store.NewJob{})
		f.want(f.done("miss", store.Cancel{Job: n.ID}).Result, store.DoNotFound)
		f.enqueue(n)
		f.want(f.done("miss", store.Cancel{Job: n.ID}), store.Done{At: f.clock.Now(), Result: store.DoNotFound, Repeat: true})
		f.want(f.done("no", store.Requeue{Job: n.ID}).Result, store.DoRefused)
		f.ends(f.take(), store.Discard{}, store.DeadLettered)
		f.want(f.done("no", store.Requeue{Job: n.ID}).Result, store.DoRefused)
		f.want(f.state(n.ID), store.DeadLettered)
	}},
	{"O1", "busy is not remembered", func(f *fixture) {
		id := f.job()
		release := f.hold(id)
		f.want(f.done("r", store.Cancel{Job: id}), store.Done{At: f.clock.Now(), Result: store.DoBusy})
		f.want(f.done("r", store.Cancel{Job: id}), store.Done{At: f.clock.Now(), Result: store.DoBusy})
		release()
		f.want(f.done("r", store.Cancel{Job: id}), store.Done{At: f.clock.Now(), Result: store.DoChanged})
	}},
	{"O2", "what changed something is audited once, nothing else", func(f *fixture) {
		id := f.job()
		f.done("a", store.Pause{Queue: "q"})
		f.done("a", store.Pause{Queue: "q"})
		f.done("b", store.Pause{Queue: "q"})           // unchanged
		f.done("c", store.Requeue{Job: id})            // refused
		f.done("d", store.Cancel{Job: store.JobID{1}}) // not found
		release := f.hold(id)
		f.done("e", store.Cancel{Job: id}) // busy
		release()
		f.advance(time.Second)
		f.done("e", store.Cancel{Job: id})
		f.want(f.audits(), []store.Audit{
			{At: start, Actor: "ann", RequestID: "a", Command: store.Pause{Queue: "q"}},
			{At: f.clock.Now(), Actor: "ann", RequestID: "e", Command: store.Cancel{Job: id}},
		})
	}},
	{"O3", "a job that waits is cancelled at once, due or not", func(f *fixture) {
		for _, d := range []time.Duration{0, time.Hour} {
			id := f.add(store.NewJob{Delay: d})
			f.want(f.do(store.Cancel{Job: id}), store.DoChanged)
			j := f.read(id)
			f.want([]any{j.State, j.Finished, j.Attempt, len(j.Ends)}, []any{store.Cancelled, f.clock.Now(), 0, 0})
		}
		f.advance(2 * time.Hour)
		f.want(f.claim(store.Claim{}), rows())
	}},
	{"O4", "cancel of a running job sets the flag, once, and leaves the lease", func(f *fixture) {
		id := f.job()
		l := f.take()
		want := f.read(id)
		f.want(f.do(store.Cancel{Job: id}), store.DoChanged)
		want.CancelRequested = true
		f.want(f.read(id), want)
		f.unchanged(func() { f.want(f.do(store.Cancel{Job: id}), store.DoUnchanged) }, id)
		f.want(f.renew(l), store.RenewOK)
	}},
	{"O5", "cancel disposes of a lapsed lease at once, with force or without, asked before or not", func(f *fixture) {
		for i := range 4 {
			id := f.job()
			l := f.take()
			if i >= 2 {
				f.do(store.Cancel{Job: id})
			}
			f.advance(minute)
			f.want(f.do(store.Cancel{Job: id, Force: i%2 == 1}), store.DoChanged)
			j := f.read(id)
			f.want(j.State, store.Cancelled)
			f.want(j.Ends, []store.End{{Attempt: 1, Claim: l.Key.Claim, Worker: "w", Kind: store.EndCancel, To: store.Cancelled, At: f.clock.Now(), Lease: minute}})
			f.want(f.sweep(), rows())
		}
	}},
	{"O6", "force ends a living lease at once, asked before or not", func(f *fixture) {
		for _, asked := range []bool{false, true} {
			id := f.job()
			l := f.take()
			if asked {
				f.do(store.Cancel{Job: id})
			}
			f.want(f.do(store.Cancel{Job: id, Force: true}), store.DoChanged)
			j := f.read(id)
			f.want([]any{j.State, j.Ends[0].Kind, j.Finished}, []any{store.Cancelled, store.EndForce, f.clock.Now()})
			f.want(f.renew(l), store.RenewLost)
		}
	}},
	{"O6", "force on a job that waits cancels it", func(f *fixture) {
		id := f.job()
		f.want(f.do(store.Cancel{Job: id, Force: true}), store.DoChanged)
		f.want([]any{f.state(id), len(f.read(id).Ends)}, []any{store.Cancelled, 0})
	}},
	{"O7", "a terminal job refuses a cancel; a job that is not there is not found", func(f *fixture) {
		for _, to := range []store.State{store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined} {
			id, _ := f.finished(to)
			f.unchanged(func() { f.want(f.do(store.Cancel{Job: id}), store.DoRefused) }, id)
		}
		f.want(f.do(store.Cancel{Job: f.id()}), store.DoNotFound)
		f.want(f.do(store.Requeue{Job: f.id()}), store.DoNotFound)
	}},
	{"O11", "claims after a pause take nothing until resumed; what runs goes on", func(f *fixture) {
		running, waiting := f.job(), f.job()
		l := f.takes(store.Claim{Max: 1})
		f.want(f.do(store.Pause{Queue: "q"}), store.DoChanged)
		f.want(f.claim(store.Claim{}), rows())
		f.want(f.claim(store.Claim{Worker: "v"}), rows())
		f.want(f.renew(l), store.RenewOK)
		f.ends(l, store.Failure{}, store.Scheduled)
		f.advance(minute)
		f.want(f.claim(store.Claim{}), rows())
		f.want(f.do(store.Resume{Queue: "q"}), store.DoChanged)
		f.want(f.claim(store.Claim{}), rows(waiting, running))
	}},
	{"O11", "a queue never seen can be paused; what is so already is unchanged", func(f *fixture) {
		f.want(f.do(store.Resume{Queue: "new"}), store.DoUnchanged)
		f.want(f.do(store.Pause{Queue: "new"}), store.DoChanged)
		f.want(f.do(store.Pause{Queue: "new"}), store.DoUnchanged)
		id := f.add(store.NewJob{Queue: "new"})
		f.want(f.claim(store.Claim{Queues: queues("new")}), rows())
		f.want(f.do(store.Resume{Queue: "new"}), store.DoChanged)
		f.want(f.do(store.Resume{Queue: "new"}), store.DoUnchanged)
		f.want(f.claim(store.Claim{Queues: queues("new")}), rows(id))
	}},
	{"O11", "a claim repeated into a pause answers what it had taken", func(f *fixture) {
		id := f.job()
		f.claim(store.Claim{Number: 1})
		f.do(store.Pause{Queue: "q"})
		f.want(f.claim(store.Claim{Number: 1}), rows(id))
	}},
	{"O12", "a held row is busy for every command on it, and free again after", func(f *fixture) {
		id, _ := f.finished(store.DeadLettered)
		release := f.hold(id)
		f.unchanged(func() {
			f.want(f.done("c", store.Cancel{Job: id}).Result, store.DoBusy)
			f.want(f.done("f", store.Cancel{Job: id, Force: true}).Result, store.DoBusy)
			f.want(f.done("r", store.Requeue{Job: id}).Result, store.DoBusy)
		}, id)
		release()
		f.want(f.done("r", store.Requeue{Job: id}).Result, store.DoChanged)
	}},
}
