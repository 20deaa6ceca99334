package checker_test

import (
	"time"

	"backwave/checker"
	"backwave/store"
)

func (r *rig) told(p checker.PumpID, n int, why checker.Why) { r.w.Told(p, r.key(n), why, r.now) }

func timeouts(d time.Duration) func(*checker.PumpInfo) {
	return func(i *checker.PumpInfo) { i.Timeouts = map[string]time.Duration{"work": d} }
}

// handlerCases are about starts and stops of handlers.
var handlerCases = []watchCase{
	{"one-start", holds, "two answers to one number bring one start", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		a := r.send(p, claimOf(p, 1))
		reply := r.take(a, 1)
		r.at(10) // given up
		b := r.send(p, claimOf(p, 1))
		r.marks = 1 << checker.CallClaim
		r.step(p)
		r.answer(a, reply)
		r.start(p, 1)
		c := r.renew(p, 1) // learned late: renewed at once
		r.step(p)
		r.apply(b, reply)
		r.answer(b, reply)
		r.marks = 0
		r.step(p)
		r.answer(c, r.renewed(c))
		r.step(p)
	}},
	{"one-start", broken, "started twice", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.start(p, 1)
	}},
	{"one-start", broken, "started on a dead lease", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		c := r.send(p, claimOf(p, 1))
		reply := r.take(c, 1)
		r.at(58.8)
		r.answer(c, reply)
		r.start(p, 1)
	}},
	{"one-start", broken, "started without an answer", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.take(r.send(p, claimOf(p, 1)), 1)
		r.start(p, 1)
	}},
	{"pool", holds, "a repeat after all leases of the number ended", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.enqueue(2)
		c := r.send(p, claimOf(p, 1))
		r.answer(c, r.take(c, 1))
		r.start(p, 1)
		r.step(p)
		r.finish(p, 1, store.Success{}, store.Succeeded, 0)
		r.take(c, 2) // a late copy; it lapses
	}},
	{"pool", broken, "three handlers in a pool of two", func(r *rig) {
		p := r.pump()
		for n := range 3 {
			r.enqueue(n + 1)
		}
		r.run(p, 1, 1, 2)
		r.run(p, 2, 3)
	}},
	{"pool", broken, "a claim carried out twice takes twice", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.enqueue(2)
		c := r.send(p, claimOf(p, 1))
		r.take(c, 1)
		r.take(c, 2)
	}},
	{"pool", broken, "the next number before the last was answered", func(r *rig) {
		p := r.pump()
		r.send(p, claimOf(p, 1))
		r.at(10)
		r.send(p, claimOf(p, 2))
	}},
	{"told", holds, "a node that was frozen tells at once when it wakes", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(500)
		r.told(p, 1, checker.WhyLost)
		r.step(p)
		r.w.Returned(p, r.key(1), store.Failure{}, r.now)
		r.step(p)
	}},
	{"told", holds, "a jump of the wall clock puts views in doubt", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(100)
		r.w.WallJumped(p, r.now)
		c := r.renew(p, 1)
		r.step(p)
		r.at(109.9)
		r.step(p)
		r.answer(c, &store.Renewed{Rows: []store.RenewAnswer{{Status: store.RenewOK}}})
		r.step(p)
		r.at(119)
		r.step(p)
	}},
	{"told", holds, "a renewal counts from its send", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(20)
		c := r.renew(p, 1)
		r.step(p)
		r.at(29)
		r.answer(c, r.renewed(c))
		r.step(p)
		r.at(78.8)
		r.told(p, 1, checker.WhyLost)
		r.step(p)
	}},
	{"told", holds, "the first cause stands", func(r *rig) {
		p := r.pump(timeouts(5 * time.Second))
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(5)
		r.told(p, 1, checker.WhyTimeout)
		r.step(p)
		r.w.DrainAsked(p, r.now)
		r.step(p)
	}},
	{"told", broken, "nobody tells of the end of the own view", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(60)
		r.step(p)
	}},
	{"told", broken, "told too early", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(58.7)
		r.told(p, 1, checker.WhyLost)
	}},
	{"told", broken, "the view counts from the reply", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(20)
		c := r.renew(p, 1)
		r.step(p)
		r.at(29)
		r.answer(c, r.renewed(c))
		r.step(p)
		r.at(79)
		r.step(p)
	}},
	{"told", broken, "the wrong cause", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(60)
		r.told(p, 1, checker.WhyDrain)
	}},
	{"told", broken, "a doubt that never ends", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(100)
		r.w.WallJumped(p, r.now)
		r.renew(p, 1)
		r.step(p)
		r.at(110)
		r.marks = 1 << checker.CallRenew
		r.step(p)
	}},
	{"told", broken, "a timeout passes", func(r *rig) {
		p := r.pump(timeouts(5 * time.Second))
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(5)
		r.step(p)
	}},
	{"told", broken, "a cancel is not passed on", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.do("x", store.Cancel{Job: rigID(1)}, store.DoChanged, r.ask())
		c := r.renew(p, 1)
		r.answer(c, r.renewed(c))
		r.step(p)
	}},
	{"told", broken, "a halt is kept from handlers", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.w.Broke(p, r.now)
		r.halted = true
		r.step(p)
	}},
	{"silence", holds, "a drain delivers what had returned before", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.enqueue(2)
		r.run(p, 1, 1, 2)
		r.hands(p, 1, store.Success{})
		r.step(p)
		r.at(9)
		r.w.DrainAsked(p, r.now)
		r.told(p, 2, checker.WhyDrain)
		r.step(p)
		r.at(10) // the report is given up
		r.marks = 1 << checker.CallReport
		r.step(p)
		r.at(11)
		r.report(p, 1, store.Success{})
		r.step(p)
		r.at(20)
		r.renew(p, 1)
		r.step(p)
		r.w.Returned(p, r.key(2), store.Success{}, r.now) // not told to anybody
		r.step(p)
	}},
	{"silence", holds, "finishing goes on as before, but claims nothing", func(r *rig) {
		p := r.pump(func(i *checker.PumpInfo) { i.Finish, i.ReleaseOnDrain = 10*time.Second, true })
		r.enqueue(1)
		r.enqueue(2)
		r.run(p, 1, 1, 2)
		r.w.DrainAsked(p, r.now)
		r.step(p)
		r.at(5)
		r.finish(p, 1, store.Success{}, store.Succeeded, 0)
		r.at(10)
		r.told(p, 2, checker.WhyDrain)
		r.step(p)
		r.finish(p, 2, store.Released{}, store.Scheduled, 0)
	}},
	{"silence", broken, "a halted pump renews", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.w.Broke(p, r.now)
		r.told(p, 1, checker.WhyHalt)
		r.halted = true
		r.step(p)
		r.renew(p, 1)
	}},
	{"silence", broken, "a draining pump claims", func(r *rig) {
		p := r.pump()
		r.w.DrainAsked(p, r.now)
		r.send(p, claimOf(p, 1))
	}},
	{"silence", broken, "a draining pump reports what it interrupted", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.w.DrainAsked(p, r.now)
		r.told(p, 1, checker.WhyDrain)
		r.step(p)
		r.hands(p, 1, store.Success{})
	}},
	{"silence", broken, "a drain goes on past its limit", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.hands(p, 1, store.Success{})
		r.step(p)
		r.w.DrainAsked(p, r.now)
		r.step(p)
		r.at(30)
		r.report(p, 1, store.Success{})
	}},
}
