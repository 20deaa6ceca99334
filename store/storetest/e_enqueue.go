package storetest

import (
	"time"

	"backwave/store"
)

func added() store.EnqueueAnswer { return store.EnqueueAnswer{Status: store.EnqueueAdded} }

func duplicate() store.EnqueueAnswer { return store.EnqueueAnswer{Status: store.EnqueueDuplicate} }

func differs() store.EnqueueAnswer { return store.EnqueueAnswer{Status: store.EnqueueDiffers} }

func enqueueBusy() store.EnqueueAnswer { return store.EnqueueAnswer{Status: store.EnqueueBusy} }

func heldBy(id store.JobID) store.EnqueueAnswer {
	return store.EnqueueAnswer{Status: store.EnqueueHeld, Holder: id}
}

var enqueues = []testCase{
	{"E1", "a repeated enqueue is a duplicate and changes nothing, in every state", func(f *fixture) {
		n := f.fill(store.NewJob{Payload: []byte("p"), UniqueKey: "k"})
		repeat := func() {
			f.Helper()
			f.unchanged(func() { f.want(f.enqueue(n), []store.EnqueueAnswer{duplicate()}) }, n.ID)
		}
		f.want(f.enqueue(n), []store.EnqueueAnswer{added()})
		repeat()
		l := f.take()
		repeat()
		f.ends(l, store.Failure{}, store.Scheduled)
		repeat()
		f.advance(minute)
		f.ends(f.take(), store.Success{}, store.Succeeded)
		f.advance(2 * time.Hour)
		repeat()
	}},
	{"E1", "what was enqueued is what is stored and leased", func(f *fixture) {
		id := f.add(store.NewJob{Name: "mail", Queue: "out", Payload: []byte{0, 255, 1}, MaxAttempts: 4, UniqueKey: "k"})
		j := f.read(id)
		f.want(store.NewJob{ID: j.ID, Name: j.Name, Queue: j.Queue, Payload: j.Payload, MaxAttempts: j.MaxAttempts, UniqueKey: j.UniqueKey},
			store.NewJob{ID: id, Name: "mail", Queue: "out", Payload: []byte{0, 255, 1}, MaxAttempts: 4, UniqueKey: "k"})
		f.want([]store.Instant{j.Enqueued, j.Due, j.Finished}, []store.Instant{start, start, 0})
		f.want([]int{j.Attempt, j.Base, j.UnknownNames, len(j.Ends)}, []int{0, 0, 0, 0})
		f.want(f.takes(store.Claim{Queues: queues("out")}).Payload, []byte{0, 255, 1})
	}},
	{"E2", "another name, queue or payload under the same id differs and changes nothing", func(f *fixture) {
		n := f.fill(store.NewJob{Payload: []byte("p")})
		f.enqueue(n)
		for _, change := range []func(*store.NewJob){
			func(n *store.NewJob) { n.Name = "other" },
			func(n *store.NewJob) { n.Queue = "other" },
			func(n *store.NewJob) { n.Payload = []byte("P") },
			func(n *store.NewJob) { n.Payload = nil },
		} {
			m := n
			change(&m)
			f.unchanged(func() { f.want(f.enqueue(m), []store.EnqueueAnswer{differs()}) }, n.ID)
		}
	}},
	{"E2", "no payload and an empty one are the same; delay and ceiling do not matter", func(f *fixture) {
		n := f.fill(store.NewJob{})
		f.enqueue(n)
		n.Payload, n.Delay, n.MaxAttempts = []byte{}, time.Hour, 9
		f.unchanged(func() { f.want(f.enqueue(n), []store.EnqueueAnswer{duplicate()}) }, n.ID)
	}},
	{"E3", "rows of one call are judged in order, each on its own", func(f *fixture) {
		a, b := f.fill(store.NewJob{UniqueKey: "k"}), f.fill(store.NewJob{UniqueKey: "k"})
		c, d := f.fill(store.NewJob{}), a
		d.Name = "other"
		f.want(f.enqueue(a, a, b, d, c), []store.EnqueueAnswer{added(), duplicate(), heldBy(a.ID), differs(), added()})
		f.want(f.claim(store.Claim{}), rows(a.ID, c.ID))
	}},
	{"E3", "a call without rows answers none", func(f *fixture) {
		f.want(len(f.enqueue()), 0)
	}},
	{"E4", "a unique key has one live holder, over queues and names", func(f *fixture) {
		id := f.add(store.NewJob{UniqueKey: "k"})
		other := f.fill(store.NewJob{UniqueKey: "k", Queue: "else", Name: "else"})
		f.unchanged(func() { f.want(f.enqueue(other), []store.EnqueueAnswer{heldBy(id)}) }, id)
		f.want(f.claim(store.Claim{Queues: queues("else")}), rows())
		l := f.take()
		f.want(f.enqueue(other), []store.EnqueueAnswer{heldBy(id)})
		f.ends(l, store.Failure{}, store.Scheduled)
		f.want(f.enqueue(other), []store.EnqueueAnswer{heldBy(id)})
	}},
	{"E4", "the empty key and another key are free", func(f *fixture) {
		f.add(store.NewJob{UniqueKey: "k"})
		f.add(store.NewJob{UniqueKey: "K"})
		f.add(store.NewJob{})
		f.add(store.NewJob{})
	}},
	{"E5", "every terminal state frees the key", func(f *fixture) {
		for _, o := range []store.Outcome{store.Success{}, store.Discard{}, store.Undecodable{}} {
			f.add(store.NewJob{UniqueKey: "k"})
			f.report(f.take(), o)
		}
		id := f.add(store.NewJob{UniqueKey: "k"})
		f.do(store.Cancel{Job: id})
		f.add(store.NewJob{UniqueKey: "k", MaxAttempts: 1})
		f.take()
		f.advance(minute)
		f.sweep()
		f.add(store.NewJob{UniqueKey: "k"})
	}},
	{"E6", "an id or key in a held row answers busy, and can be asked again", func(f *fixture) {
		id := f.add(store.NewJob{UniqueKey: "k"})
		other, free := f.fill(store.NewJob{UniqueKey: "k"}), f.fill(store.NewJob{})
		release := f.hold(id)
		f.want(f.enqueue(f.fill(store.NewJob{ID: id}), other, free), []store.EnqueueAnswer{enqueueBusy(), enqueueBusy(), added()})
		release()
		f.want(f.enqueue(f.fill(store.NewJob{ID: id}), other), []store.EnqueueAnswer{duplicate(), heldBy(id)})
	}},
	{"E6", "an id that an open transaction is about to add answers busy", func(f *fixture) {
		n := f.fill(store.NewJob{})
		release := f.hold(n.ID)
		f.want(f.enqueue(n), []store.EnqueueAnswer{enqueueBusy()})
		release()
		f.want(f.enqueue(n), []store.EnqueueAnswer{added()})
	}},
	{"E7", "due now, after a delay moved into 0 to 10 years, or at an instant", func(f *fixture) {
		for _, c := range []struct {
			n    store.NewJob
			want store.Instant
		}{
			{store.NewJob{}, start},
			{store.NewJob{Delay: time.Hour}, f.in(time.Hour)},
			{store.NewJob{Delay: -time.Hour}, start},
			{store.NewJob{Delay: 12 * 8760 * time.Hour}, f.in(10 * 8760 * time.Hour)},
			{store.NewJob{HasAt: true, At: 5, Delay: time.Hour}, 5},
			{store.NewJob{HasAt: true, At: f.in(minute)}, f.in(minute)},
			{store.NewJob{HasAt: true, At: -7}, -7},
		} {
			f.want(f.read(f.add(c.n)).Due, c.want)
		}
	}},
}
