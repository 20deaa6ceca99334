package storetest

import (
	"time"

	"backwave/store"
)

var sweeps = []testCase{
	{"W1", "a lapse is recorded and retried at the sweep + the stamped delay", func(f *fixture) {
		id := f.job()
		f.take()
		f.advance(minute + 4*time.Second)
		f.want(f.sweep(), rows(id))
		j := f.read(id)
		f.want([]any{j.State, j.Attempt, j.Base, j.Due}, []any{store.Scheduled, 1, 0, f.in(10 * time.Second)})
		f.want(j.Ends, []store.End{{Attempt: 1, Claim: 1, Worker: "w", Kind: store.EndLapse, To: store.Scheduled, At: f.clock.Now(), Due: f.in(10 * time.Second), Lease: minute}})
		f.advance(10 * time.Second)
		f.want(f.take().Key.Attempt, 2)
	}},
	{"W2", "a crash loop is dead-lettered after exactly its ceiling of claims", func(f *fixture) {
		id := f.job()
		claims := 0
		for range 20 {
			claims += len(f.claim(store.Claim{}))
			f.advance(time.Hour)
			f.sweep()
			f.advance(time.Hour)
		}
		f.want(claims, 3)
		f.want(f.state(id), store.DeadLettered)
	}},
	{"W3", "a lapsed lease is disposed of once, a living one not at all", func(f *fixture) {
		a := f.job()
		f.take()
		f.advance(30 * time.Second)
		b := f.job()
		f.takes(store.Claim{Worker: "v"})
		f.advance(30 * time.Second)
		f.unchanged(func() { f.want(f.sweep(), rows(a)) }, b)
		f.unchanged(func() {
			f.want(f.sweep(), rows())
			f.want(f.swept(store.Sweep{Queues: []string{"q"}, Any: true}), rows())
		}, a, b)
		f.want(len(f.read(a).Ends), 1)
	}},
	{"W4", "queues as listed, then end of lease, then order of enqueue, up to the maximum", func(f *fixture) {
		b := f.add(store.NewJob{Queue: "b"})
		f.takes(store.Claim{Queues: queues("b"), Lease: 5 * time.Second})
		a1, a2, a3 := f.add(store.NewJob{Queue: "a"}), f.add(store.NewJob{Queue: "a"}), f.add(store.NewJob{Queue: "a"})
		f.claim(store.Claim{Worker: "v", Queues: queues("a"), Max: 1, Lease: 9 * time.Second})
		f.claim(store.Claim{Worker: "v", Queues: queues("a"), Lease: 8 * time.Second})
		f.advance(time.Hour)
		sweep := store.Sweep{Queues: []string{"a", "b"}, Max: 2}
		f.want(f.swept(sweep), rows(a2, a3))
		f.want(f.swept(sweep), rows(a1, b))
		f.want(f.swept(sweep), rows())
	}},
	{"W5", "a sweep ignores pause", func(f *fixture) {
		id := f.job()
		f.take()
		f.do(store.Pause{Queue: "q"})
		f.advance(minute)
		f.want(f.sweep(), rows(id))
	}},
	{"W6", "only the listed queues are swept", func(f *fixture) {
		id := f.add(store.NewJob{Queue: "far"})
		f.takes(store.Claim{Queues: queues("far")})
		f.advance(time.Hour)
		f.unchanged(func() { f.want(f.swept(store.Sweep{Queues: []string{"q", "unheard"}}), rows()) }, id)
	}},
	{"W7", "any disposes in every queue of what lapsed at least its stamped length ago", func(f *fixture) {
		id := f.add(store.NewJob{Queue: "far"})
		f.takes(store.Claim{Queues: queues("far"), Lease: 30 * time.Second})
		f.advance(minute - time.Microsecond)
		f.unchanged(func() { f.want(f.swept(store.Sweep{Any: true}), rows()) }, id)
		f.advance(time.Microsecond)
		f.want(f.swept(store.Sweep{Any: true}), rows(id))
		f.want(f.read(id).Due, f.in(10*time.Second)) // the terms of the group that ran it
	}},
	{"W7", "the stamped length counts, not the order of the ends", func(f *fixture) {
		long, short := f.add(store.NewJob{Queue: "far"}), f.add(store.NewJob{Queue: "far"})
		f.claim(store.Claim{Queues: queues("far"), Max: 1, Lease: 2 * minute})
		f.advance(100 * time.Second)
		f.claim(store.Claim{Queues: queues("far"), Max: 1, Lease: 30 * time.Second})
		f.advance(minute) // one ended 40 s ago, of 120; the other 30 s ago, of 30
		f.want(f.swept(store.Sweep{Any: true}), rows(short))
		f.want(f.state(long), store.Executing)
	}},
	{"W7", "listed queues come first, the others by name", func(f *fixture) {
		var made []store.JobID
		for _, q := range []string{"z", "m", "a"} {
			made = append(made, f.add(store.NewJob{Queue: q}))
		}
		f.claim(store.Claim{Queues: queues("z", "m", "a")})
		f.advance(time.Hour)
		f.want(f.swept(store.Sweep{Queues: []string{"m"}, Any: true, Max: 2}), rows(made[1], made[2]))
		f.want(f.swept(store.Sweep{Queues: []string{"m"}, Any: true, Max: 2}), rows(made[0]))
	}},
	{"W8", "a held row is passed over and disposed of later", func(f *fixture) {
		a, b := f.job(), f.job()
		f.claim(store.Claim{})
		f.advance(minute)
		release := f.hold(a)
		f.unchanged(func() { f.want(f.swept(store.Sweep{Max: 1}), rows(b)) }, a)
		release()
		f.want(f.sweep(), rows(a))
	}},
	{"W9", "the answer names key, worker, queue, end and what followed", func(f *fixture) {
		a, b := f.job(), f.add(store.NewJob{MaxAttempts: 1})
		f.claim(store.Claim{Worker: "v", Number: 6})
		f.advance(2 * minute)
		f.want(f.lapses(store.Sweep{}), []store.Lapse{
			{Key: store.LeaseKey{Job: a, Attempt: 1, Claim: 6}, Worker: "v", Queue: "q", ExpiredAt: f.in(-minute), To: store.Scheduled},
			{Key: store.LeaseKey{Job: b, Attempt: 1, Claim: 6}, Worker: "v", Queue: "q", ExpiredAt: f.in(-minute), To: store.DeadLettered},
		})
	}},
}
