package storetest

import (
	"time"

	"backwave/store"
)

var requeues = []testCase{
	{"O8", "a requeue begins a new life with numbers that go on", func(f *fixture) {
		for _, to := range []store.State{store.DeadLettered, store.Quarantined} {
			id, old := f.finished(to)
			f.advance(time.Hour)
			want := f.read(id)
			f.want(f.do(store.Requeue{Job: id}), store.DoChanged)
			want.State, want.Due, want.Base, want.Finished = store.Scheduled, f.clock.Now(), 1, 0
			f.want(f.read(id), want)
			l := f.take()
			f.want([]int{l.Key.Attempt, l.Base}, []int{2, 1})
			f.want(f.renew(old), store.RenewLost)
			f.ends(l, store.Success{}, store.Succeeded)
		}
	}},
	{"O8", "a zombie of the old life is stale in the new one", func(f *fixture) {
		id := f.add(store.NewJob{MaxAttempts: 1})
		old := f.take()
		f.advance(minute)
		f.want(f.sweep(), rows(id))
		f.want(f.state(id), store.DeadLettered)
		f.do(store.Requeue{Job: id})
		now := f.take()
		f.unchanged(func() {
			f.want(f.report(old, store.Success{Output: []byte("old")}), stale())
			f.want(f.renew(old), store.RenewLost)
		}, id)
		f.ends(now, store.Success{}, store.Succeeded)
	}},
	{"O8", "the ceiling counts afresh", func(f *fixture) {
		id := f.add(store.NewJob{MaxAttempts: 2})
		for range 3 {
			f.ends(f.take(), store.Failure{}, store.Scheduled)
			f.advance(minute)
			f.ends(f.take(), store.Failure{}, store.DeadLettered)
			f.do(store.Requeue{Job: id})
		}
		f.want([]int{f.read(id).Attempt, f.read(id).Base}, []int{6, 6})
	}},
	{"O8", "what cannot be read is not mended by a requeue", func(f *fixture) {
		id := f.job()
		f.damage(id, "torn")
		f.ends(f.take(), store.Undecodable{}, store.Quarantined)
		f.do(store.Requeue{Job: id})
		f.says(f.take().Damage, "torn")
	}},
	{"O9", "a job that waits, runs, succeeded or was cancelled is not requeued", func(f *fixture) {
		id := f.job()
		f.unchanged(func() { f.want(f.do(store.Requeue{Job: id}), store.DoRefused) }, id)
		l := f.take()
		f.unchanged(func() { f.want(f.do(store.Requeue{Job: id}), store.DoRefused) }, id)
		f.ends(l, store.Success{}, store.Succeeded)
		f.unchanged(func() { f.want(f.do(store.Requeue{Job: id}), store.DoRefused) }, id)
		id, _ = f.finished(store.Cancelled)
		f.unchanged(func() { f.want(f.do(store.Requeue{Job: id}), store.DoRefused) }, id)
	}},
	{"O10", "refused while another live job holds the key, then allowed", func(f *fixture) {
		id := f.add(store.NewJob{UniqueKey: "k"})
		f.ends(f.take(), store.Discard{}, store.DeadLettered)
		other := f.add(store.NewJob{UniqueKey: "k"})
		refused := func() {
			f.Helper()
			f.unchanged(func() { f.want(f.do(store.Requeue{Job: id}), store.DoRefused) }, id, other)
		}
		refused()
		l := f.take()
		refused()
		f.ends(l, store.Success{}, store.Succeeded)
		f.want(f.do(store.Requeue{Job: id}), store.DoChanged)
	}},
	{"O10", "busy while the holder is held", func(f *fixture) {
		id := f.add(store.NewJob{UniqueKey: "k"})
		f.ends(f.take(), store.Discard{}, store.DeadLettered)
		other := f.add(store.NewJob{UniqueKey: "k"})
		release := f.hold(other)
		f.want(f.done("r", store.Requeue{Job: id}).Result, store.DoBusy)
		release()
		f.want(f.done("r", store.Requeue{Job: id}).Result, store.DoRefused)
	}},
	{"O10", "a requeued job holds its key again", func(f *fixture) {
		id := f.add(store.NewJob{UniqueKey: "k"})
		f.ends(f.take(), store.Discard{}, store.DeadLettered)
		f.do(store.Requeue{Job: id})
		f.want(f.enqueue(f.fill(store.NewJob{UniqueKey: "k"})), []store.EnqueueAnswer{heldBy(id)})
		f.ends(f.take(), store.Success{}, store.Succeeded)
		f.add(store.NewJob{UniqueKey: "k"})
	}},
}
