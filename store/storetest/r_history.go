package storetest

import (
	"time"

	"backwave/store"
)

var histories = []testCase{
	{"R9", "the history tells who ended what, how, when and what followed", func(f *fixture) {
		id := f.add(store.NewJob{MaxAttempts: 2})
		f.ends(f.takes(store.Claim{Worker: "a", Number: 3}), store.Snooze{Delay: minute}, store.Scheduled)
		t1 := f.clock.Now()
		f.advance(minute)
		f.takes(store.Claim{Worker: "b", Number: 8, Lease: 2 * minute})
		f.advance(2 * minute)
		f.sweep()
		t2 := f.clock.Now()
		f.advance(minute)
		l := f.takes(store.Claim{Worker: "a", Number: 4})
		f.renewed(store.Renew{Worker: "a", Lease: 3 * minute, Rows: []store.RenewRow{{Key: l.Key}}})
		f.do(store.Cancel{Job: id})
		f.ends(l, store.Failure{Error: "oh"}, store.Cancelled)
		f.want(f.read(id).Ends, []store.End{
			{Attempt: 1, Claim: 3, Worker: "a", Kind: store.EndSnooze, To: store.Scheduled, At: t1, Due: t1 + 60_000_000, Lease: minute},
			{Attempt: 2, Claim: 8, Worker: "b", Kind: store.EndLapse, To: store.Scheduled, At: t2, Due: t2 + 10_000_000, Lease: 2 * minute},
			{Attempt: 3, Claim: 4, Worker: "a", Kind: store.EndFailure, To: store.Cancelled, At: f.clock.Now(), Lease: 3 * minute, Error: "oh"},
		})
	}},
	{"X9", "of ends past twice their lease the latest 32 are kept, the others counted", func(f *fixture) {
		id := f.job()
		for range 40 {
			f.ends(f.take(), store.Snooze{}, store.Scheduled)
			f.advance(2 * minute)
		}
		j := f.read(id)
		f.want([]int{len(j.Ends), j.EndsCut, j.Ends[0].Attempt, j.Ends[31].Attempt}, []int{32, 8, 9, 40})
	}},
	{"X9", "none younger than twice its lease is dropped", func(f *fixture) {
		id := f.job()
		for range 40 {
			f.ends(f.take(), store.Released{}, store.Scheduled)
		}
		f.want([]int{len(f.read(id).Ends), f.read(id).EndsCut}, []int{40, 0})
		f.advance(2*minute - time.Microsecond)
		f.ends(f.take(), store.Released{}, store.Scheduled)
		f.want([]int{len(f.read(id).Ends), f.read(id).EndsCut}, []int{41, 0})
		f.advance(time.Microsecond)
		f.ends(f.take(), store.Released{}, store.Scheduled)
		f.want([]int{len(f.read(id).Ends), f.read(id).EndsCut}, []int{32, 10})
	}},
}
