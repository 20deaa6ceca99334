package checker_test

import (
	"time"

	"backwave/checker"
	"backwave/store"
)

const degradedClaim, degradedReport = 1 << checker.CallClaim, 1 << checker.CallReport

func polls1s(i *checker.PumpInfo) { i.MaxPoll = 0 }

func sweeps5s(i *checker.PumpInfo) { i.Maintenance, i.SweepBatch = 5*time.Second, 1 }

// callCases are about what pumps owe in calls.
var callCases = []watchCase{
	{"health", holds, "a late answer to a call that was given up changes nothing", func(r *rig) {
		p := r.pump()
		c := r.send(p, claimOf(p, 1))
		reply := r.take(c)
		r.at(12)
		r.marks = degradedClaim
		r.step(p)
		r.answer(c, reply)
		r.step(p)
		r.at(13)
		r.marks = 0
		r.claim(p, 2)
		r.step(p)
	}},
	{"health", holds, "a fatal fault of a call that was given up", func(r *rig) {
		p := r.pump()
		c := r.send(p, claimOf(p, 1))
		r.at(10)
		r.fail(c, store.FaultFatal)
		r.marks = degradedClaim
		r.step(p)
	}},
	{"health", broken, "a fatal fault is survived", func(r *rig) {
		p := r.pump()
		r.fail(r.send(p, claimOf(p, 1)), store.FaultFatal)
		r.step(p)
	}},
	{"health", broken, "halted on a transient fault", func(r *rig) {
		p := r.pump()
		r.fail(r.send(p, claimOf(p, 1)), store.FaultDeadlock)
		r.halted = true
		r.step(p)
	}},
	{"health", broken, "not degraded after a timeout", func(r *rig) {
		p := r.pump()
		r.send(p, claimOf(p, 1))
		r.at(10)
		r.step(p)
	}},
	{"health", broken, "degraded after a success", func(r *rig) {
		p := r.pump()
		r.claim(p, 1)
		r.marks = degradedClaim
		r.step(p)
	}},
	{"health", broken, "runs again after a halt", func(r *rig) {
		p := r.pump()
		r.w.Broke(p, r.now)
		r.halted = true
		r.step(p)
		r.halted = false
		r.step(p)
	}},
	{"detection", holds, "a locked row is left, and swept when it is free", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.enqueue(1)
		r.claim(p, 1, 1)
		r.w.PumpDied(p, r.now)
		r.at(60)
		r.w.Held(rigID(1))
		r.sweep(q)
		r.w.Released(rigID(1))
		r.sweep(q, r.ended(1, store.EndLapse, store.Scheduled, 2*time.Second))
	}},
	{"detection", holds, "a lease from a clock that was ahead is cut", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.skew = time.Hour
		r.enqueue(1)
		r.claim(p, 1, 1)
		r.skew = 0
		r.w.StoreClockStepped(-time.Hour, r.now)
		r.sweep(q, r.change(1, func(j *store.Job) { j.LeaseUntil = r.store().Add(time.Minute) }))
	}},
	{"detection", holds, "while a sweep is in flight no other is due", func(r *rig) {
		p := r.pump(sweeps5s)
		r.at(5)
		r.send(p, &store.Sweep{Queues: []string{"a"}, Max: 1})
		r.step(p)
		r.at(14.9)
		r.step(p)
	}},
	{"detection", broken, "no sweep for too long", func(r *rig) {
		p := r.pump(sweeps5s)
		r.at(5)
		r.step(p)
	}},
	{"detection", broken, "a full sweep is not followed by another", func(r *rig) {
		p := r.pump(sweeps5s)
		q := r.pump()
		r.enqueue(1)
		r.claim(q, 1, 1)
		r.w.PumpDied(q, r.now)
		r.at(60)
		r.sweep(p, r.ended(1, store.EndLapse, store.Scheduled, 2*time.Second))
	}},
	{"detection", broken, "a lapsed lease is left", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.enqueue(1)
		r.claim(p, 1, 1)
		r.at(60)
		r.sweep(q)
	}},
	{"detection", broken, "a living lease is swept", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.enqueue(1)
		r.claim(p, 1, 1)
		r.at(59.999999)
		r.sweep(q, r.ended(1, store.EndLapse, store.Scheduled, 2*time.Second))
	}},
	{"detection", broken, "a lease that runs too long is left", func(r *rig) {
		p, q := r.pump(), r.pump()
		r.skew = time.Hour
		r.enqueue(1)
		r.claim(p, 1, 1)
		r.skew = 0
		r.w.StoreClockStepped(-time.Hour, r.now)
		r.sweep(q)
	}},
	{"detection", broken, "queues that nobody serves are forgotten", func(r *rig) {
		p := r.pump()
		r.at(60)
		r.send(p, &store.Sweep{Queues: []string{"a"}, Max: 1})
	}},
	{"polling", holds, "a full pool does not poll", func(r *rig) {
		p := r.pump(polls1s, func(i *checker.PumpInfo) { i.PoolSize = 1 })
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(10)
		r.step(p)
	}},
	{"polling", broken, "nobody looks for work", func(r *rig) {
		p := r.pump(polls1s)
		r.claim(p, 1)
		r.step(p)
		r.at(1)
		r.step(p)
	}},
	{"polling", broken, "a slot that is free again is not used", func(r *rig) {
		p := r.pump(polls1s, func(i *checker.PumpInfo) { i.PoolSize = 1 })
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(5)
		r.finish(p, 1, store.Success{}, store.Succeeded, 0)
		r.step(p)
	}},
	{"pool", broken, "a repeat is not answered what lives", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		c := r.send(p, claimOf(p, 1))
		r.take(c, 1)
		r.apply(c, &store.Claimed{At: r.store()})
	}},
	{"legal", broken, "an output over its bound", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.spoil = func(j *store.Job) { j.Output = make([]byte, store.MaxOutput+1) }
		r.finish(p, 1, store.Success{}, store.Succeeded, 0)
	}},
	{"margin", holds, "a failed renewal goes out again after a twentieth of the lease", func(r *rig) {
		p := r.pump(func(i *checker.PumpInfo) { i.Poll = 10 * time.Second })
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(20)
		c := r.renew(p, 1)
		r.step(p)
		r.at(21)
		r.fail(c, store.FaultConnection)
		r.marks = 1 << checker.CallRenew
		r.step(p)
		r.at(23.9)
		r.step(p)
		r.at(24)
		r.renew(p, 1)
		r.step(p)
	}},
	{"margin", holds, "a given-up handler is not renewed", func(r *rig) {
		p := r.pump(timeouts(5*time.Second), func(i *checker.PumpInfo) { i.AbandonAfter = 10 * time.Second })
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(5)
		r.told(p, 1, checker.WhyTimeout)
		r.step(p)
		r.at(15)
		r.step(p)
		r.at(20)
		r.step(p)
	}},
	{"margin", broken, "the cadence counts from the reply", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		c := r.send(p, claimOf(p, 1))
		reply := r.take(c, 1)
		r.at(3)
		r.answer(c, reply)
		r.start(p, 1)
		r.step(p)
		r.at(20)
		r.step(p)
	}},
	{"margin", broken, "one lease is left out", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.enqueue(2)
		r.run(p, 1, 1, 2)
		r.at(20)
		r.renew(p, 2)
	}},
	{"margin", broken, "a lost lease is renewed", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(60)
		r.told(p, 1, checker.WhyLost)
		r.renew(p, 1)
	}},
	{"margin", broken, "a lease learned late is not renewed at once", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		c := r.send(p, claimOf(p, 1))
		reply := r.take(c, 1)
		r.at(12)
		r.marks = degradedClaim
		r.step(p)
		r.answer(c, reply)
		r.start(p, 1)
		r.step(p)
	}},
	{"obligations", holds, "a kept report is sent again at the next tick", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Failure{})
		r.step(p)
		r.recorded(c, store.Scheduled, 2*time.Second) // and the reply is lost
		r.at(10)
		r.marks = degradedReport
		r.step(p)
		r.at(11)
		c = r.report(p, 1, store.Failure{})
		r.step(p)
		reply := &store.Reported{Rows: []store.ReportAnswer{{Status: store.ReportAlready, Already: store.EndFailure}}}
		r.apply(c, reply)
		r.answer(c, reply)
		r.marks = 0
		r.step(p)
	}},
	{"obligations", holds, "a success after a lost lease is sent once", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.at(60)
		r.told(p, 1, checker.WhyLost)
		r.step(p)
		c := r.hands(p, 1, store.Success{})
		r.step(p)
		r.fail(c, store.FaultConnection)
		r.marks = degradedReport
		r.step(p)
		r.at(61)
		r.step(p)
	}},
	{"obligations", holds, "a lease that never started is given back", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		c := r.send(p, claimOf(p, 1))
		reply := r.take(c, 1)
		r.w.DrainAsked(p, r.now)
		r.step(p)
		r.answer(c, reply)
		c = r.report(p, 1, store.Released{})
		r.step(p)
		r.answer(c, r.recorded(c, store.Scheduled, 0))
		r.step(p)
	}},
	{"obligations", broken, "an outcome is not sent", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.w.Returned(p, r.key(1), store.Success{}, r.now)
		r.step(p)
	}},
	{"obligations", broken, "a kept report is forgotten", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		c := r.hands(p, 1, store.Success{})
		r.step(p)
		r.fail(c, store.FaultConnection)
		r.marks = degradedReport
		r.step(p)
		r.at(1)
		r.step(p)
	}},
	{"obligations", broken, "a failure is reported as a success", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.w.Returned(p, r.key(1), store.Failure{}, r.now)
		r.report(p, 1, store.Success{})
	}},
	{"obligations", broken, "a failure is reported after a lost lease", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		r.run(p, 1, 1)
		r.hands(p, 1, store.Failure{})
		r.step(p)
		r.at(60)
		r.report(p, 1, store.Failure{})
	}},
	{"obligations", broken, "a late claim answer is dropped", func(r *rig) {
		p := r.pump()
		r.enqueue(1)
		c := r.send(p, claimOf(p, 1))
		reply := r.take(c, 1)
		r.at(12)
		r.marks = degradedClaim
		r.step(p)
		r.answer(c, reply)
		r.step(p)
	}},
}
