package storetest

import (
	"time"

	"backwave/store"
)

func stale() store.ReportAnswer { return store.ReportAnswer{Status: store.ReportStale} }

func already(k store.EndKind) store.ReportAnswer {
	return store.ReportAnswer{Status: store.ReportAlready, Already: k}
}

var reports = []testCase{
	{"R1", "all that follows from an outcome is written with it", func(f *fixture) {
		id := f.add(store.NewJob{UniqueKey: "k"})
		l := f.take()
		before := f.read(id)
		f.advance(5 * time.Second)
		f.ends(l, store.Failure{Error: "boom"}, store.Scheduled)
		want := before
		want.State, want.Due, want.LastErr = store.Scheduled, f.in(10*time.Second), "boom"
		want.Ends = []store.End{{Attempt: 1, Claim: 1, Worker: "w", Kind: store.EndFailure, To: store.Scheduled, At: f.clock.Now(), Due: f.in(10 * time.Second), Lease: minute, Error: "boom"}}
		f.want(f.read(id), want)
		f.advance(10 * time.Second)
		l = f.take()
		want = f.read(id)
		f.ends(l, store.Success{Output: []byte("out")}, store.Succeeded)
		want.State, want.Output, want.Finished = store.Succeeded, []byte("out"), f.clock.Now()
		want.Ends = append(want.Ends, store.End{Attempt: 2, Claim: 2, Worker: "w", Kind: store.EndSuccess, To: store.Succeeded, At: f.clock.Now(), Lease: minute})
		f.want(Kept(f.read(id)), Kept(want))
		f.add(store.NewJob{UniqueKey: "k"})
	}},
	{"R2", "another worker, claim number or attempt is stale and leaves nothing behind", func(f *fixture) {
		id := f.job()
		l := f.takes(store.Claim{Number: 5})
		f.unchanged(func() {
			for _, bad := range forged(l) {
				for _, o := range append(outcomes(), store.Success{Output: []byte("x")}) {
					f.want(f.report(bad, o), stale())
				}
			}
			f.want(f.report(forged(l)[0], store.Success{Output: make([]byte, 65_537)}), stale())
		}, id)
		f.ends(l, store.Success{}, store.Succeeded)
	}},
	{"R2", "a job that is not there is stale", func(f *fixture) {
		f.job()
		l := f.take()
		l.Key.Job = f.id()
		f.want(f.report(l, store.Success{}), stale())
	}},
	{"R3", "the outcome of a lapsed lease is stale before and after the sweep and changes nothing", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.advance(minute)
		f.unchanged(func() { f.want(f.report(l, store.Success{Output: []byte("x")}), stale()) }, id)
		f.sweep()
		f.unchanged(func() { f.want(f.report(l, store.Success{Output: []byte("x")}), stale()) }, id)
	}},
	{"R4", "a repeated outcome answers the kind recorded and changes nothing", func(f *fixture) {
		for _, o := range append(outcomes(), store.Success{}) {
			id := f.job()
			l := f.take()
			f.report(l, o)
			f.unchanged(func() {
				f.want(f.report(l, o), already(o.Kind()))
				f.want(f.report(l, store.Failure{Error: "other"}), already(o.Kind()))
				f.want(f.report(l, store.Success{Output: make([]byte, 65_537)}), already(o.Kind()))
			}, id)
			f.do(store.Cancel{Job: id})
		}
	}},
	{"R4", "also while the next attempt runs, and after it", func(f *fixture) {
		id := f.job()
		first := f.take()
		f.ends(first, store.Failure{}, store.Scheduled)
		f.advance(10 * time.Second)
		second := f.takes(store.Claim{Worker: "v"})
		f.unchanged(func() { f.want(f.report(first, store.Success{}), already(store.EndFailure)) }, id)
		f.ends(second, store.Discard{}, store.DeadLettered)
		f.want(f.report(first, store.Success{}), already(store.EndFailure))
		f.do(store.Requeue{Job: id})
		f.want(f.report(first, store.Success{}), already(store.EndFailure))
		f.want(f.report(second, store.Success{}), already(store.EndDiscard))
	}},
	{"R4", "a kind that a cancel overrode is still the kind", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.do(store.Cancel{Job: id})
		f.ends(l, store.Snooze{}, store.Cancelled)
		f.want(f.report(l, store.Snooze{}), already(store.EndSnooze))
	}},
	{"R4", "from another worker, claim number or attempt it is stale", func(f *fixture) {
		id := f.job()
		l := f.takes(store.Claim{Number: 5})
		f.ends(l, store.Success{}, store.Succeeded)
		f.unchanged(func() {
			for _, bad := range forged(l) {
				f.want(f.report(bad, store.Success{}), stale())
			}
		}, id)
	}},
	{"R5", "a recorded end is known for twice its lease, through forty later ones", func(f *fixture) {
		f.job()
		l := f.takes(store.Claim{Lease: 10 * minute})
		f.ends(l, store.Released{}, store.Scheduled)
		for range 40 {
			f.ends(f.takes(store.Claim{Lease: 10 * minute}), store.Released{}, store.Scheduled)
			f.advance(20 * time.Second)
		}
		f.advance(20*minute - 800*time.Second - time.Microsecond)
		f.ends(f.take(), store.Released{}, store.Scheduled)
		f.want(f.report(l, store.Success{}), already(store.EndRelease))
	}},
	{"R6", "an attempt ended by a sweep is stale", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.advance(minute)
		f.want(f.sweep(), rows(id))
		f.want(f.report(l, store.Failure{}), stale())
	}},
	{"R6", "an attempt ended by an operator is stale", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.do(store.Cancel{Job: id, Force: true})
		f.unchanged(func() { f.want(f.report(l, store.Success{Output: []byte("x")}), stale()) }, id)
		id = f.job()
		l = f.take()
		f.advance(minute)
		f.do(store.Cancel{Job: id})
		f.unchanged(func() { f.want(f.report(l, store.Success{Output: []byte("x")}), stale()) }, id)
	}},
	{"R7", "a held row is busy, also for a recorded outcome and for a forged one", func(f *fixture) {
		id := f.job()
		l := f.take()
		busy := store.ReportAnswer{Status: store.ReportBusy}
		release := f.hold(id)
		f.unchanged(func() {
			f.want(f.report(l, store.Success{}), busy)
			f.want(f.report(forged(l)[0], store.Success{}), busy)
		}, id)
		release()
		f.ends(l, store.Success{}, store.Succeeded)
		release = f.hold(id)
		f.want(f.report(l, store.Success{}), busy)
		release()
		f.want(f.report(l, store.Success{}), already(store.EndSuccess))
	}},
	{"R8", "an output over 64 KiB is rejected with a reason; the lease goes on for a failure", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.unchanged(func() {
			a := f.report(l, store.Success{Output: make([]byte, 65_537)})
			f.want(a.Status, store.ReportRejected)
			if a.Reason == "" {
				f.Fatal("rejected without a reason")
			}
		}, id)
		f.want(f.renew(l), store.RenewOK)
		f.ends(l, store.Failure{Error: "output too large"}, store.Scheduled)
	}},
	{"R8", "an output of exactly 64 KiB is stored", func(f *fixture) {
		id := f.job()
		f.ends(f.take(), store.Success{Output: make([]byte, 65_536)}, store.Succeeded)
		f.want(len(f.read(id).Output), 65_536)
	}},
}
