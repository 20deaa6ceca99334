package storetest

import (
	"time"

	"backwave/store"
)

var repeats = []testCase{
	{"C7", "a claim sent again answers its living leases, takes nothing, lengthens nothing", func(f *fixture) {
		a, b := f.job(), f.job()
		first := f.claimed(store.Claim{Number: 4})
		c := f.job()
		f.advance(20 * time.Second)
		f.unchanged(func() {
			again := f.claimed(store.Claim{Number: 4, Lease: time.Hour})
			f.want(again.Leases, first.Leases)
			f.want([]any{again.HasNext, again.Next}, []any{true, time.Duration(0)})
		}, a, b, c)
	}},
	{"C7", "it leaves out what has ended or lapsed, and shows a renewal", func(f *fixture) {
		ended, renewed, lapsed := f.job(), f.job(), f.job()
		out := f.claimed(store.Claim{Number: 4})
		f.ends(lease{out.Leases[0], "w"}, store.Success{}, store.Succeeded)
		f.advance(30 * time.Second)
		f.renew(lease{out.Leases[1], "w"})
		f.advance(30 * time.Second)
		again := f.claimed(store.Claim{Number: 4})
		f.want(len(again.Leases), 1)
		f.want([]any{again.Leases[0].Key.Job, again.Leases[0].ExpiresAt}, []any{renewed, f.in(30 * time.Second)})
		f.want([]store.State{f.state(ended), f.state(lapsed)}, []store.State{store.Succeeded, store.Executing})
	}},
	{"C7", "it answers by queue as listed, then by order of enqueue", func(f *fixture) {
		a := f.add(store.NewJob{Queue: "a", HasAt: true, At: 2})
		b := f.add(store.NewJob{Queue: "a", HasAt: true, At: 1})
		c := f.add(store.NewJob{Queue: "b"})
		f.want(f.claim(store.Claim{Number: 1, Queues: queues("b", "a")}), rows(c, b, a))
		f.want(f.claim(store.Claim{Number: 1, Queues: queues("b", "a")}), rows(c, a, b))
		f.want(f.claim(store.Claim{Number: 1, Queues: queues("a")}), rows(a, b, c))
	}},
	{"C7", "it answers a held row too, and one that is asked to cancel", func(f *fixture) {
		id := f.job()
		f.claim(store.Claim{Number: 1})
		f.do(store.Cancel{Job: id})
		release := f.hold(id)
		f.want(f.claim(store.Claim{Number: 1}), rows(id))
		release()
	}},
	{"C8", "a lower number takes nothing while a higher one has a living lease", func(f *fixture) {
		a := f.job()
		f.want(f.claim(store.Claim{Number: 5}), rows(a))
		b := f.job()
		f.want(f.claim(store.Claim{Number: 4}), rows())
		f.want(f.claim(store.Claim{Number: 6}), rows(b))
	}},
	{"C8", "a lower number that has living leases answers those", func(f *fixture) {
		a := f.job()
		f.claim(store.Claim{Number: 1})
		b := f.job()
		f.claim(store.Claim{Number: 2})
		c := f.job()
		f.want(f.claim(store.Claim{Number: 1}), rows(a))
		f.want(f.claim(store.Claim{Number: 2}), rows(b))
		f.want(f.claim(store.Claim{Number: 3}), rows(c))
	}},
	{"C9", "a number that took nothing is not remembered", func(f *fixture) {
		f.want(f.claim(store.Claim{Number: 9}), rows())
		a := f.job()
		f.want(f.claim(store.Claim{Number: 8}), rows(a))
		b := f.job()
		f.want(f.claim(store.Claim{Number: 9}), rows(b))
	}},
	{"C9", "a number is forgotten when its leases have ended", func(f *fixture) {
		f.job()
		f.ends(f.takes(store.Claim{Number: 9}), store.Success{}, store.Succeeded)
		a, b := f.job(), f.job()
		f.want(f.claim(store.Claim{Number: 8, Max: 1}), rows(a))
		f.want(f.claim(store.Claim{Number: 9, Max: 1}), rows(b))
	}},
	{"C9", "a number is forgotten at the instant its last lease lapses, swept or not", func(f *fixture) {
		f.job()
		f.claim(store.Claim{Number: 9})
		a := f.job()
		f.advance(minute - time.Microsecond)
		f.want(f.claim(store.Claim{Number: 8}), rows())
		f.advance(time.Microsecond)
		f.want(f.claim(store.Claim{Number: 8}), rows(a))
	}},
	{"C9", "a lapsed lease that a step back brings to life is remembered again", func(f *fixture) {
		a := f.job()
		f.claim(store.Claim{Number: 9})
		f.advance(minute)
		b := f.job()
		f.want(f.claim(store.Claim{Number: 8}), rows(b))
		f.job()
		f.advance(-time.Second)
		f.want(f.claim(store.Claim{Number: 9}), rows(a))
		f.want(f.claim(store.Claim{Number: 8}), rows(b))
	}},
	{"C10", "the numbers of another worker mean nothing", func(f *fixture) {
		a, b := f.job(), f.job()
		f.want(f.claim(store.Claim{Number: 9, Max: 1}), rows(a))
		f.want(f.claim(store.Claim{Worker: "v", Number: 9, Max: 1}), rows(b))
		c := f.job()
		f.want(f.claim(store.Claim{Worker: "u", Number: 1}), rows(c))
	}},
}
