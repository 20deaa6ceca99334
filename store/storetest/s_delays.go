package storetest

import (
	"time"

	"backwave/store"
)

var delays = []testCase{
	{"S11", "the first ten unknown names wait 2, 4, 8 … 256, 300, 300 s, the eleventh quarantines", func(f *fixture) {
		id := f.add(store.NewJob{MaxAttempts: 1})
		for i, s := range []int{2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
			f.ends(f.take(), store.UnknownName{}, store.Scheduled)
			j := f.read(id)
			f.want([]int{j.UnknownNames, j.Base}, []int{i + 1, i + 1})
			f.want(j.Due, f.in(time.Duration(s)*time.Second))
			f.advance(time.Duration(s) * time.Second)
		}
		f.ends(f.take(), store.UnknownName{}, store.Quarantined)
		f.want(f.read(id).UnknownNames, 11)
	}},
	{"S11", "a new life counts unknown names afresh, other ends do not reset them", func(f *fixture) {
		id := f.job()
		f.unknown(10)
		f.ends(f.take(), store.Snooze{}, store.Scheduled)
		f.advance(time.Hour)
		f.ends(f.take(), store.UnknownName{}, store.Quarantined)
		f.do(store.Requeue{Job: id})
		f.want(f.read(id).UnknownNames, 0)
		f.unknown(10)
		f.ends(f.take(), store.UnknownName{}, store.Quarantined)
	}},
	{"S12", "the default delays are 2ⁿ s ± 10 %, at most 300 s", func(f *fixture) {
		id := f.job()
		for _, s := range []int{2, 4, 8, 16, 32, 64, 128, 256} {
			f.ends(f.takes(store.Claim{Terms: &store.Terms{}}), store.Failure{}, store.Scheduled)
			f.within(f.read(id).Due, time.Duration(s*900)*time.Millisecond, time.Duration(s*1100)*time.Millisecond)
			f.advance(time.Hour)
		}
		f.ends(f.takes(store.Claim{Terms: &store.Terms{}}), store.Failure{}, store.Scheduled)
		f.want(f.read(id).Due, f.in(300*time.Second))
	}},
	{"S12", "first, factor and cap are as the terms of the claim say, by name", func(f *fixture) {
		t := &store.Terms{ByName: []store.NamedPolicy{{Name: "slow", Policy: store.Policy{MaxAttempts: 99, First: minute, Factor: 3, Cap: 10 * minute, NoJitter: true}}}}
		id := f.add(store.NewJob{Name: "slow"})
		for _, m := range []int{1, 3, 9, 10, 10} {
			f.ends(f.takes(store.Claim{Terms: t}), store.Failure{}, store.Scheduled)
			f.want(f.read(id).Due, f.in(time.Duration(m)*minute))
			f.advance(time.Hour)
		}
	}},
	{"S12", "n counts from base: after snooze and requeue delays begin anew", func(f *fixture) {
		id := f.job() // 10 s, 20 s, then the ceiling
		f.ends(f.take(), store.Failure{}, store.Scheduled)
		f.want(f.read(id).Due, f.in(10*time.Second))
		f.advance(minute)
		f.ends(f.take(), store.Snooze{}, store.Scheduled)
		f.advance(minute)
		f.ends(f.take(), store.Failure{}, store.Scheduled) // attempt 3, the second that counts
		f.want(f.read(id).Due, f.in(20*time.Second))
		f.advance(minute)
		f.ends(f.take(), store.Failure{}, store.DeadLettered)
		f.do(store.Requeue{Job: id})
		f.ends(f.take(), store.Failure{}, store.Scheduled)
		f.want(f.read(id).Due, f.in(10*time.Second))
	}},
	{"S12", "the jitter differs from job to job and from attempt to attempt", func(f *fixture) {
		t := &store.Terms{Default: store.Policy{First: 100 * time.Second, Factor: 1, Cap: time.Hour, Jitter: 50}}
		seen := map[time.Duration]bool{}
		for range 10 {
			f.job()
		}
		for n := 1; n <= 2; n++ {
			for _, l := range f.claimed(store.Claim{Terms: t}).Leases {
				f.ends(lease{l, "w"}, store.Failure{}, store.Scheduled)
				f.within(f.read(l.Key.Job).Due, 50*time.Second, 150*time.Second)
				seen[f.read(l.Key.Job).RetryDelay] = true
			}
			f.advance(time.Hour)
		}
		if len(seen) < 18 { // of 20 among 100 million
			f.Fatalf("20 attempts have only %d delays", len(seen))
		}
	}},
	{"S12", "the delay is stamped by the claim: another group's policy does not touch it", func(f *fixture) {
		id := f.job()
		f.take()
		stamped := f.read(id).RetryDelay
		f.want(stamped, 10*time.Second)
		f.claim(store.Claim{Worker: "other", Terms: &store.Terms{Default: store.Policy{First: time.Hour, Cap: time.Hour}}})
		f.want(f.read(id).RetryDelay, stamped)
		f.advance(minute)
		f.want(f.sweep(), rows(id))
		f.want(f.read(id).Due, f.in(10*time.Second))
	}},
	{"S13", "a lapse waits as long as a failure of the same attempt, in any store", func(f *fixture) {
		for n := 1; n <= 4; n++ {
			failing, lapsing := f.again(), f.again()
			a, b := failing.attemptOf(n), lapsing.attemptOf(n)
			f.want(a.Key.Token(), b.Key.Token())
			failing.ends(a, store.Failure{}, store.Scheduled)
			lapsing.advance(minute)
			f.want(lapsing.sweep(), rows(b.Key.Job))
			rest := failing.read(a.Key.Job).Due - failing.clock.Now()
			f.want(lapsing.read(b.Key.Job).Due-lapsing.clock.Now(), rest)
			s := time.Duration(1<<n) * time.Second
			lapsing.within(lapsing.read(b.Key.Job).Due, s*9/10, s*11/10)
		}
	}},
	{"S14", "a failure's own delay replaces the stamped one, moved into 0 to 10 years", func(f *fixture) {
		for _, c := range []struct{ ask, want time.Duration }{{3 * minute, 3 * minute}, {0, 0}, {-minute, 0}, {20 * 8760 * time.Hour, 10 * 8760 * time.Hour}} {
			id := f.job()
			f.ends(f.take(), store.Failure{HasRetryAfter: true, RetryAfter: c.ask}, store.Scheduled)
			f.want(f.read(id).Due, f.in(c.want))
			f.do(store.Cancel{Job: id})
		}
	}},
	{"S14", "without one RetryAfter means nothing", func(f *fixture) {
		id := f.job()
		f.ends(f.take(), store.Failure{RetryAfter: time.Hour}, store.Scheduled)
		f.want(f.read(id).Due, f.in(10*time.Second))
	}},
	{"S14", "a delay of its own does not lift the ceiling", func(f *fixture) {
		f.add(store.NewJob{MaxAttempts: 1})
		f.ends(f.take(), store.Failure{HasRetryAfter: true, RetryAfter: minute}, store.DeadLettered)
	}},
	{"S15", "a snooze waits 1 s to 10 years, a release not at all", func(f *fixture) {
		id := f.job()
		for _, c := range []struct {
			o    store.Outcome
			want time.Duration
		}{
			{store.Snooze{Delay: 5 * minute}, 5 * minute},
			{store.Snooze{Delay: time.Millisecond}, time.Second},
			{store.Snooze{Delay: -minute}, time.Second},
			{store.Released{}, 0},
			{store.Snooze{Delay: 11 * 8760 * time.Hour}, 10 * 8760 * time.Hour},
		} {
			f.ends(f.take(), c.o, store.Scheduled)
			f.want(f.read(id).Due, f.in(c.want))
			f.advance(c.want)
		}
	}},
}

// within checks that an instant lies from low to high from now.
func (f *fixture) within(got store.Instant, low, high time.Duration) {
	f.Helper()
	if got < f.in(low) || got > f.in(high) {
		f.Fatalf("%v lies %v from now, want %v to %v", got, time.Duration(got-f.clock.Now())*time.Microsecond, low, high)
	}
}

// attemptOf runs a new job, under the default policy, into its n-th attempt.
func (f *fixture) attemptOf(n int) lease {
	f.Helper()
	f.job()
	for i := 1; i < n; i++ {
		f.ends(f.takes(store.Claim{Terms: &store.Terms{}}), store.Failure{}, store.Scheduled)
		f.advance(time.Hour)
	}
	return f.takes(store.Claim{Terms: &store.Terms{}})
}
