package storetest

import (
	"time"

	"backwave/store"
)

var times = []testCase{
	{"T1", "delays, leases and retries run on the store's clock", func(f *fixture) {
		id := f.add(store.NewJob{Delay: time.Hour})
		f.want(f.claim(store.Claim{}), rows())
		f.advance(time.Hour)
		l := f.take()
		f.want(f.read(id).LeaseUntil, f.in(minute))
		f.ends(l, store.Failure{}, store.Scheduled)
		f.want(f.read(id).Due, f.in(10*time.Second))
		f.want(f.read(id).Ends[0].At, f.clock.Now())
	}},
	{"T2", "a lease that ends while its row is held is dead when the row is free", func(f *fixture) {
		id := f.job()
		l := f.take()
		release := f.hold(id)
		f.advance(minute - time.Microsecond)
		f.want(f.renew(l), store.RenewBusy)
		f.advance(time.Microsecond)
		release()
		f.unchanged(func() {
			f.want(f.renew(l), store.RenewLost)
			f.want(f.report(l, store.Success{}).Status, store.ReportStale)
		}, id)
		f.want(f.sweep(), rows(id))
	}},
	{"T3", "a microsecond before its end a lease lives: for renewal", func(f *fixture) {
		f.job()
		l := f.take()
		f.advance(minute - time.Microsecond)
		f.want(f.sweep(), rows())
		f.want(f.renew(l), store.RenewOK)
	}},
	{"T3", "a microsecond before its end a lease lives: for an outcome", func(f *fixture) {
		f.job()
		l := f.take()
		f.advance(minute - time.Microsecond)
		f.ends(l, store.Success{}, store.Succeeded)
	}},
	{"T3", "at exactly its end a lease is dead: for renewal, outcome and sweep", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.advance(minute)
		f.unchanged(func() {
			f.want(f.renew(l), store.RenewLost)
			f.want(f.report(l, store.Success{}), store.ReportAnswer{Status: store.ReportStale})
		}, id)
		f.want(f.sweep(), rows(id))
	}},
	{"T4", "a job is due at exactly its due instant", func(f *fixture) {
		id := f.add(store.NewJob{Delay: minute})
		f.advance(minute - time.Microsecond)
		f.want(f.claim(store.Claim{}), rows())
		f.advance(time.Microsecond)
		f.want(f.claim(store.Claim{}), rows(id))
	}},
	{"T5", "a step forward lapses a lease early, and once", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.advance(time.Hour)
		f.want(f.sweep(), rows(id))
		f.want(f.sweep(), rows())
		f.want(f.report(l, store.Success{}).Status, store.ReportStale)
		f.advance(-time.Hour)
		f.want(f.report(l, store.Success{}).Status, store.ReportStale)
		f.want(len(f.read(id).Ends), 1)
	}},
	{"T6", "a step back puts due times off", func(f *fixture) {
		id := f.add(store.NewJob{Delay: minute})
		f.advance(minute)
		f.advance(-time.Second)
		f.want(f.claim(store.Claim{}), rows())
		f.advance(time.Second)
		f.want(f.claim(store.Claim{}), rows(id))
	}},
	{"T6", "a step back may let a lost lease live again, and its outcome counts once", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.advance(minute)
		f.want(f.renew(l), store.RenewLost)
		f.advance(-time.Second)
		f.ends(l, store.Success{}, store.Succeeded)
		f.advance(minute)
		f.want(f.sweep(), rows())
		f.want(len(f.read(id).Ends), 1)
	}},
	{"T6", "after a step back a lease that was disposed of stays dead", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.advance(minute)
		f.want(f.sweep(), rows(id))
		f.advance(-30 * time.Second)
		f.want(f.renew(l), store.RenewLost)
		f.want(f.report(l, store.Success{}).Status, store.ReportStale)
	}},
	{"T7", "a sweep cuts a lease that runs longer than its length, and no other", func(f *fixture) {
		long := f.job()
		f.advance(time.Hour)
		l := f.take()
		f.advance(-time.Hour)
		short := f.job()
		f.takes(store.Claim{Worker: "v", Lease: 10 * minute})
		f.advance(time.Second)
		f.want(f.sweep(), rows())
		f.want(f.read(long).LeaseUntil, f.in(minute))
		f.want(f.read(short).LeaseUntil, f.in(10*minute-time.Second))
		f.want(f.renew(l), store.RenewOK)
		f.advance(minute)
		f.want(f.sweep(), rows(long))
	}},
	{"T7", "it cuts in its own queues; with any, in all; and passes held rows over", func(f *fixture) {
		id := f.add(store.NewJob{Queue: "far"})
		f.advance(time.Hour)
		f.takes(store.Claim{Queues: queues("far")})
		f.advance(-time.Hour)
		f.unchanged(func() { f.sweep() }, id)
		release := f.hold(id)
		f.unchanged(func() { f.swept(store.Sweep{Any: true}) }, id)
		release()
		f.want(f.swept(store.Sweep{Any: true}), rows())
		f.want(f.read(id).LeaseUntil, f.in(minute))
	}},
	{"T7", "a renewal's length is the one that counts", func(f *fixture) {
		id := f.job()
		l := f.takes(store.Claim{Lease: 2 * time.Hour})
		f.advance(time.Hour)
		f.renewed(store.Renew{Worker: "w", Lease: 5 * minute, Rows: []store.RenewRow{{Key: l.Key}}})
		f.advance(-30 * minute) // still after the claim
		f.sweep()
		f.want(f.read(id).LeaseUntil, f.in(5*minute))
	}},
}
