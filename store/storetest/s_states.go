package storetest

import (
	"time"

	"backwave/store"
)

// outcomes are all that a worker can report, but for success.
func outcomes() []store.Outcome {
	return []store.Outcome{store.Failure{Error: "e"}, store.Discard{Error: "e"}, store.Snooze{Delay: minute}, store.Released{}, store.UnknownName{}, store.Undecodable{Error: "e"}}
}

var states = []testCase{
	{"S1", "each outcome leads where the table says", func(f *fixture) {
		want := []store.State{store.Scheduled, store.DeadLettered, store.Scheduled, store.Scheduled, store.Scheduled, store.Quarantined}
		for i, o := range outcomes() {
			id := f.add(store.NewJob{Queue: "s1"})
			f.want(f.state(id), store.Scheduled)
			l := f.takes(store.Claim{Queues: queues("s1")})
			f.want(f.state(id), store.Executing)
			f.ends(l, o, want[i])
			f.want(f.state(id), want[i])
			f.do(store.Cancel{Job: id}) // out of the next one's way
		}
		id := f.job()
		f.ends(f.take(), store.Success{}, store.Succeeded)
		f.want(f.state(id), store.Succeeded)
	}},
	{"S2", "nothing but a requeue changes a terminal job", func(f *fixture) {
		for _, to := range []store.State{store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined} {
			id, l := f.finished(to)
			f.unchanged(func() { f.pester(id, l) }, id)
			want := store.DoRefused
			if to == store.DeadLettered || to == store.Quarantined {
				want = store.DoChanged
			}
			f.want(f.do(store.Requeue{Job: id}), want)
			f.do(store.Cancel{Job: id})
		}
	}},
	{"S3", "success stores its output and wins over a cancel", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.want(f.do(store.Cancel{Job: id}), store.DoChanged)
		f.ends(l, store.Success{Output: []byte("done")}, store.Succeeded)
		j := f.read(id)
		f.want(string(j.Output), "done")
		f.want(j.Finished, f.clock.Now())
	}},
	{"S4", "a cancel that was asked wins over every other outcome", func(f *fixture) {
		for _, o := range outcomes() {
			id := f.job()
			l := f.take()
			f.do(store.Cancel{Job: id})
			f.ends(l, o, store.Cancelled)
			j := f.read(id)
			f.want(j.Ends[0].Kind, o.Kind())
			f.want(j.Ends[0].To, store.Cancelled)
			f.want(j.Finished, f.clock.Now())
		}
	}},
	{"S4", "a cancel that was asked wins over a lapse, also at the ceiling", func(f *fixture) {
		for _, ceiling := range []int{1, 5} {
			id := f.add(store.NewJob{MaxAttempts: ceiling})
			f.take()
			f.do(store.Cancel{Job: id})
			f.advance(minute)
			f.want(f.sweep(), rows(id))
			f.want(f.state(id), store.Cancelled)
		}
	}},
	{"S4", "a cancel that was asked wins over the eleventh unknown name", func(f *fixture) {
		id := f.job()
		f.unknown(10)
		l := f.take()
		f.do(store.Cancel{Job: id})
		f.ends(l, store.UnknownName{}, store.Cancelled)
	}},
	{"S5", "a failure is retried below the ceiling and dead-lettered at it", func(f *fixture) {
		id := f.job() // ceiling 3
		for range 2 {
			f.ends(f.take(), store.Failure{}, store.Scheduled)
			f.advance(time.Hour)
		}
		f.ends(f.take(), store.Failure{Error: "last"}, store.DeadLettered)
		j := f.read(id)
		f.want([]int{j.Attempt, j.Base}, []int{3, 0})
		f.want(j.LastErr, "last")
	}},
	{"S5", "failures and lapses spend one ceiling", func(f *fixture) {
		id := f.job()
		f.ends(f.take(), store.Failure{}, store.Scheduled)
		f.advance(time.Hour)
		f.take()
		f.advance(minute)
		f.want(f.sweep(), rows(id))
		f.advance(time.Hour)
		f.take()
		f.advance(minute)
		f.want(f.sweep(), rows(id))
		f.want(f.state(id), store.DeadLettered)
	}},
	{"S6", "snooze, release and unknown name add one to base; failure does not; requeue sets it", func(f *fixture) {
		id := f.add(store.NewJob{MaxAttempts: 2})
		f.want(f.read(id).Base, 0)
		for i, o := range []store.Outcome{store.Snooze{}, store.Released{}, store.UnknownName{}} {
			f.ends(f.take(), o, store.Scheduled)
			f.want(f.read(id).Base, i+1)
			f.advance(time.Hour)
		}
		f.ends(f.take(), store.Failure{}, store.Scheduled) // attempt 4, the first that counts
		f.want(f.read(id).Base, 3)
		f.advance(time.Hour)
		f.ends(f.take(), store.Failure{}, store.DeadLettered)
		f.do(store.Requeue{Job: id})
		f.want(f.read(id).Base, 5)
		l := f.take()
		f.want([]int{l.Key.Attempt, l.Base}, []int{6, 5})
		f.ends(l, store.Failure{}, store.Scheduled)
	}},
	{"S6", "a snooze at the ceiling reschedules", func(f *fixture) {
		f.add(store.NewJob{MaxAttempts: 1})
		for range 5 {
			f.ends(f.take(), store.Snooze{}, store.Scheduled)
			f.advance(minute)
		}
		f.ends(f.take(), store.Failure{}, store.DeadLettered)
	}},
	{"S7", "the ceiling is the job's, else the name's, else the default of the terms", func(f *fixture) {
		t := &store.Terms{Default: store.Policy{MaxAttempts: 4}, ByName: []store.NamedPolicy{{Name: "x", Policy: store.Policy{MaxAttempts: 9}}, {Name: "mail", Policy: store.Policy{MaxAttempts: 2}}}}
		for _, c := range []struct {
			job  store.NewJob
			want int
		}{{store.NewJob{}, 4}, {store.NewJob{Name: "mail"}, 2}, {store.NewJob{Name: "mail", MaxAttempts: 7}, 7}, {store.NewJob{MaxAttempts: 1}, 1}} {
			id := f.add(c.job)
			f.ends(f.takes(store.Claim{Terms: t}), store.Discard{}, store.DeadLettered)
			f.want(f.read(id).Ceiling, c.want)
		}
	}},
	{"S7", "terms with nothing in them mean ten attempts", func(f *fixture) {
		id := f.job()
		f.takes(store.Claim{Terms: &store.Terms{}})
		f.want(f.read(id).Ceiling, 10)
	}},
	{"S7", "the ceiling stamped by a claim holds for its attempt only", func(f *fixture) {
		one := &store.Terms{Default: store.Policy{MaxAttempts: 1, NoJitter: true}}
		five := &store.Terms{Default: store.Policy{MaxAttempts: 5, NoJitter: true}}
		id := f.job()
		f.ends(f.takes(store.Claim{Worker: "patient", Terms: five}), store.Failure{}, store.Scheduled)
		f.advance(time.Hour)
		f.ends(f.takes(store.Claim{Worker: "patient", Terms: five}), store.Failure{}, store.Scheduled)
		f.advance(time.Hour)
		f.ends(f.takes(store.Claim{Worker: "strict", Terms: one}), store.Failure{}, store.DeadLettered)
		f.want(f.read(id).Attempt, 3)
	}},
	{"S8", "a job past a group's ceiling is claimed all the same", func(f *fixture) {
		one := &store.Terms{Default: store.Policy{MaxAttempts: 1}}
		f.job()
		f.ends(f.take(), store.Failure{}, store.Scheduled)
		f.advance(time.Hour)
		l := f.takes(store.Claim{Terms: one})
		f.want(l.Key.Attempt, 2)
		f.ends(l, store.Success{}, store.Succeeded)
	}},
	{"S9", "discard dead-letters with attempts left", func(f *fixture) {
		id := f.add(store.NewJob{MaxAttempts: 50})
		f.ends(f.take(), store.Discard{Error: "never again"}, store.DeadLettered)
		f.want(f.read(id).LastErr, "never again")
	}},
	{"S10", "what cannot be decoded is quarantined at the first attempt", func(f *fixture) {
		id := f.add(store.NewJob{MaxAttempts: 50})
		f.ends(f.take(), store.Undecodable{Error: "bad json"}, store.Quarantined)
		f.want(f.read(id).LastErr, "bad json")
	}},
	{"S16", "attempts go on over requeues and every kind of end", func(f *fixture) {
		id := f.add(store.NewJob{MaxAttempts: 1})
		for n := 1; n <= 6; n += 2 {
			l := f.take()
			f.want(l.Key.Attempt, n)
			f.ends(l, store.Snooze{}, store.Scheduled)
			f.advance(minute)
			f.want(f.take().Key.Attempt, n+1)
			f.advance(minute)
			f.want(f.sweep(), rows(id))
			f.want(f.do(store.Requeue{Job: id}), store.DoChanged)
		}
	}},
	{"S17", "an attempt that was reported is not disposed of, nor the other way round", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.ends(l, store.Failure{}, store.Scheduled)
		f.advance(minute)
		f.want(f.sweep(), rows())
		l = f.take()
		f.advance(minute)
		f.want(f.sweep(), rows(id))
		f.want(f.report(l, store.Failure{}).Status, store.ReportStale)
		f.want(f.do(store.Cancel{Job: id}), store.DoChanged)
		f.want(len(f.read(id).Ends), 2)
		f.want(f.do(store.Cancel{Job: id, Force: true}), store.DoRefused)
	}},
	{"S18", "ends of every kind are counted", func(f *fixture) {
		id := f.add(store.NewJob{MaxAttempts: 99})
		for _, o := range outcomes() {
			f.report(f.take(), o)
			if f.state(id).Terminal() {
				f.do(store.Requeue{Job: id})
			}
			f.advance(time.Hour)
		}
		f.take()
		f.advance(minute)
		f.sweep()
		f.advance(time.Hour)
		f.take()
		f.do(store.Cancel{Job: id, Force: true})
		var kinds []store.EndKind
		for _, e := range f.read(id).Ends {
			kinds = append(kinds, e.Kind)
		}
		f.want(kinds, []store.EndKind{store.EndFailure, store.EndDiscard, store.EndSnooze, store.EndRelease, store.EndUnknownName, store.EndUndecodable, store.EndLapse, store.EndForce})
		f.want(f.read(id).Attempt, 8)
	}},
}

// finished makes a job of queue "q" that has ended in state to, and the lease
// it ended under.
func (f *fixture) finished(to store.State) (store.JobID, lease) {
	f.Helper()
	id := f.job()
	l := f.take()
	ends := map[store.State]store.Outcome{store.Succeeded: store.Success{}, store.DeadLettered: store.Discard{}, store.Quarantined: store.Undecodable{}}
	if o, ok := ends[to]; ok {
		f.ends(l, o, to)
	} else {
		f.do(store.Cancel{Job: id, Force: true})
	}
	f.want(f.state(id), to)
	return id, l
}

// pester does everything to a job that could change it, short of a requeue.
func (f *fixture) pester(id store.JobID, l lease) {
	f.Helper()
	for _, o := range append(outcomes(), store.Success{Output: []byte("x")}) {
		f.report(l, o)
	}
	f.renewed(store.Renew{Worker: l.worker, Rows: []store.RenewRow{{Key: l.Key, Progress: []byte("x")}}})
	f.want(f.claim(store.Claim{}), rows())
	f.advance(time.Hour)
	f.want(f.claim(store.Claim{}), rows())
	f.want(f.sweep(), rows())
	f.want(f.swept(store.Sweep{Any: true}), rows())
	f.want(f.do(store.Cancel{Job: id}), store.DoRefused)
	f.want(f.do(store.Cancel{Job: id, Force: true}), store.DoRefused)
	f.want(f.enqueue(f.fill(store.NewJob{ID: id})), []store.EnqueueAnswer{{Status: store.EnqueueDuplicate}})
}

// unknown ends n attempts of the one job of queue "q" for want of a handler.
func (f *fixture) unknown(n int) {
	f.Helper()
	for range n {
		f.ends(f.take(), store.UnknownName{}, store.Scheduled)
		f.advance(time.Hour)
	}
}
