package storetest

import (
	"time"

	"backwave/store"
)

// forged are keys and workers that differ from a lease in one thing each.
func forged(l lease) []lease {
	a, b, c, d, e := l, l, l, l, l
	a.worker = "x"
	b.Key.Claim++
	c.Key.Claim--
	d.Key.Attempt++
	e.Key.Attempt--
	return []lease{a, b, c, d, e}
}

var renewals = []testCase{
	{"L1", "a renewal ends its length from now, longer or shorter, and stamps that", func(f *fixture) {
		id := f.job()
		l := f.take()
		for _, d := range []time.Duration{minute, 10 * minute, time.Second} {
			f.advance(500 * time.Millisecond)
			before := f.read(id)
			got := f.renewed(store.Renew{Worker: "w", Lease: d, Rows: []store.RenewRow{{Key: l.Key}}})
			f.want(got, []store.RenewAnswer{{Status: store.RenewOK, ExpiresAt: f.in(d)}})
			before.LeaseUntil, before.LeaseFor = f.in(d), d // nothing else has changed
			f.want(f.read(id), before)
		}
		f.advance(time.Second)
		f.want(f.sweep(), rows(id))
	}},
	{"L1", "a long handler keeps its lease by renewing", func(f *fixture) {
		f.job()
		l := f.take()
		for range 60 {
			f.advance(20 * time.Second)
			f.want(f.renew(l), store.RenewOK)
			f.want(f.sweep(), rows())
		}
		f.ends(l, store.Success{}, store.Succeeded)
	}},
	{"L2", "another worker, claim number or attempt is lost and changes nothing", func(f *fixture) {
		id := f.job()
		l := f.takes(store.Claim{Number: 5})
		f.unchanged(func() {
			for _, bad := range forged(l) {
				f.want(f.renew(bad), store.RenewLost)
			}
		}, id)
		f.want(f.renew(l), store.RenewOK)
	}},
	{"L2", "what has ended, waits again, or never was is lost", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.ends(l, store.Failure{}, store.Scheduled)
		f.unchanged(func() { f.want(f.renew(l), store.RenewLost) }, id)
		f.advance(minute)
		l = f.take()
		f.ends(l, store.Success{}, store.Succeeded)
		f.unchanged(func() { f.want(f.renew(l), store.RenewLost) }, id)
		l.Key.Job = f.id()
		f.want(f.renew(l), store.RenewLost)
	}},
	{"L3", "a lapsed lease is not revived", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.advance(minute)
		f.unchanged(func() { f.want(f.renew(l), store.RenewLost) }, id)
		f.advance(time.Hour)
		f.unchanged(func() { f.want(f.renew(l), store.RenewLost) }, id)
	}},
	{"L4", "busy neither lengthens nor ends a lease, and tells nothing of it", func(f *fixture) {
		id := f.job()
		l := f.take()
		release := f.hold(id)
		f.advance(30 * time.Second)
		f.unchanged(func() {
			f.want(f.renew(l), store.RenewBusy)
			f.want(f.renew(forged(l)[0]), store.RenewBusy)
		}, id)
		release()
		f.want(f.renew(l), store.RenewOK)
		release = f.hold(id)
		f.advance(minute)
		f.want(f.renew(l), store.RenewBusy)
		release()
		f.want(f.renew(l), store.RenewLost)
	}},
	{"L5", "the answer carries a cancel that was asked", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.do(store.Cancel{Job: id})
		for range 2 {
			got := f.renewed(store.Renew{Worker: "w", Rows: []store.RenewRow{{Key: l.Key}}})
			f.want(got, []store.RenewAnswer{{Status: store.RenewOK, Cancel: true, ExpiresAt: f.in(minute)}})
		}
	}},
	{"L6", "progress is replaced with renewed only", func(f *fixture) {
		id := f.job()
		l := f.take()
		renew := func(l lease, p []byte) store.RenewStatus {
			return f.renewed(store.Renew{Worker: l.worker, Rows: []store.RenewRow{{Key: l.Key, Progress: p}}})[0].Status
		}
		f.want(renew(l, []byte("10 %")), store.RenewOK)
		f.want(string(f.read(id).Progress), "10 %")
		f.want(renew(l, nil), store.RenewOK)
		f.want(string(f.read(id).Progress), "10 %")
		f.want(renew(forged(l)[1], []byte("forged")), store.RenewLost)
		release := f.hold(id)
		f.want(renew(l, []byte("busy")), store.RenewBusy)
		release()
		f.want(string(f.read(id).Progress), "10 %")
		f.want(renew(l, []byte{}), store.RenewOK)
		f.want(len(f.read(id).Progress), 0)
		f.advance(minute)
		f.want(renew(l, []byte("late")), store.RenewLost)
		f.want(len(f.read(id).Progress), 0)
	}},
	{"L7", "a zombie of the same worker is lost beside its successor", func(f *fixture) {
		id := f.job()
		old := f.take()
		f.advance(minute)
		f.want(f.sweep(), rows(id))
		f.advance(10 * time.Second)
		now := f.take()
		f.want([]any{old.worker, old.Key.Job}, []any{now.worker, now.Key.Job})
		f.unchanged(func() {
			f.want(f.renew(old), store.RenewLost)
			f.want(f.report(old, store.Success{}).Status, store.ReportStale)
		}, id)
		got := f.renewed(store.Renew{Worker: "w", Rows: []store.RenewRow{{Key: old.Key}, {Key: now.Key}}})
		f.want([]store.RenewStatus{got[0].Status, got[1].Status}, []store.RenewStatus{store.RenewLost, store.RenewOK})
	}},
}
