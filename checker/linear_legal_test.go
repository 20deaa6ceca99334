package checker

import (
	"testing"
	"time"

	"backwave/store"
)

var legal = []struct {
	name string
	tell func(p *tape)
}{
	{"a plain life", func(p *tape) {
		p.begin()
		p.do(renew(1), renewed(21))
		p.do(report("n1", 1, 1, store.Success{}), applied(30, store.Succeeded))
		p.do(report("n1", 1, 1, store.Success{}), already(31, store.EndSuccess))
	}},
	{"the reply of the enqueue is lost", func(p *tape) {
		p.lost(enqueue(1), added(0))
		p.do(enqueue(1), enqueued(1, store.EnqueueDuplicate))
		p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
	}},
	{"the request of the enqueue is lost", func(p *tape) {
		p.gone(enqueue(1))
		p.do(enqueue(1), added(1))
	}},
	{"the reply of a claim is lost, its repeat answers", func(p *tape) {
		p.do(enqueue(1), added(0))
		p.lost(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
		p.do(claim("n1", 1), claimed(5, lease(1, 1, 1, 0)))
		p.do(report("n1", 1, 1, store.Success{}), applied(6, store.Succeeded))
	}},
	{"the reply of a claim is lost for good", func(p *tape) {
		p.do(enqueue(1), added(0))
		p.lost(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
		p.do(sweep, swept(61, 61))
		p.do(claim("n2", 1), claimed(63, lease(2, 1, 63, 0)))
	}},
	{"the replies of a claim and of a sweep are lost", func(p *tape) {
		p.do(enqueue(1), added(0))
		p.lost(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
		p.lost(sweep, swept(61, 61))
		p.do(claim("n2", 1), claimed(63, lease(2, 1, 63, 0)))
		p.do(report("n1", 1, 1, store.Success{}), stale(64))
	}},
	{"the reply of a renewal is lost", func(p *tape) {
		p.begin()
		p.lost(renew(1), renewed(50))
		p.do(report("n1", 1, 1, store.Success{}), applied(109, store.Succeeded))
	}},
	{"a lost renewal, then the sweep tells the later expiry", func(p *tape) {
		p.begin()
		p.lost(renew(1), renewed(50))
		p.do(sweep, swept(110, 110))
	}},
	{"the reply of a report is lost, the repeat is told", func(p *tape) {
		p.begin()
		p.lost(report("n1", 1, 1, store.Failure{}), applied(5, store.Scheduled))
		p.do(report("n1", 1, 1, store.Failure{}), already(6, store.EndFailure))
		p.do(claim("n2", 1), claimed(7, lease(2, 1, 7, 0)))
		p.do(report("n1", 1, 1, store.Failure{}), already(8, store.EndFailure))
	}},
	{"a renewal is told lost because the report was applied", func(p *tape) {
		p.begin()
		p.lost(report("n1", 1, 1, store.Success{}), applied(5, store.Succeeded))
		p.do(renew(1), lostLease(6))
	}},
	{"the reply of a sweep is lost", func(p *tape) {
		p.begin()
		p.lost(sweep, swept(61, 61))
		p.do(sweep, &store.Swept{At: at(62)})
		p.do(claim("n2", 1), claimed(64, lease(2, 1, 64, 0)))
	}},
	{"the reply of a cancel is lost, the repeat is told", func(p *tape) {
		p.begin()
		p.lost(do("r", cancel1), done(5, store.DoChanged))
		p.do(do("r", cancel1), repeat(6, store.DoChanged))
		p.do(renew(1), renewedCancel(7))
		p.do(report("n1", 1, 1, store.Failure{}), applied(8, store.Cancelled))
	}},
	{"the reply of a cancel is lost, and success hides it", func(p *tape) {
		p.begin()
		p.lost(do("r", cancel1), done(5, store.DoChanged))
		p.do(report("n1", 1, 1, store.Success{}), applied(8, store.Succeeded))
		p.do(do("r", cancel1), repeat(9, store.DoChanged))
	}},
	{"the reply of a requeue is lost", func(p *tape) {
		p.dead(store.DeadLettered, 3)
		p.lost(do("r", requeue1), done(400, store.DoChanged))
		p.do(claim("n2", 1), claimed(401, lease(4, 1, 401, 3)))
	}},
	{"a report is applied long after its sender gave up", func(p *tape) {
		p.begin()
		late := p.send(report("n1", 1, 1, store.Success{}))
		p.do(renew(1), renewed(20))
		p.do(renew(1), renewed(40))
		p.applied(late, applied(50, store.Succeeded))
		p.do(renew(1), lostLease(60))
	}},
	{"a zombie's report is stale and its renewal lost", func(p *tape) {
		p.begin()
		p.do(sweep, swept(61, 61))
		p.do(claim("n2", 1), claimed(63, lease(2, 1, 63, 0)))
		p.do(report("n1", 1, 1, store.Success{}), stale(64))
		p.do(renew(1), lostLease(64))
		p.do(report("n2", 2, 1, store.Success{}), applied(65, store.Succeeded))
	}},
	{"at its end the lease is dead for all", func(p *tape) {
		p.begin()
		p.do(renew(1), lostLease(61))
		p.do(report("n1", 1, 1, store.Success{}), stale(61))
		p.do(sweep, swept(61, 61))
	}},
	{"a doubled report, and a doubled claim that takes later", func(p *tape) {
		c := p.send(claim("n1", 1))
		p.log.Doubled(p.ns, c)
		p.applied(c, claimed(0))
		p.answered(c, claimed(0))
		p.do(enqueue(1), added(0))
		p.applied(c, claimed(1, lease(1, 1, 1, 0)))
		r := p.send(report("n1", 1, 1, store.Failure{}))
		p.log.Doubled(p.ns, r)
		p.applied(r, applied(2, store.Scheduled))
		p.applied(r, already(2, store.EndFailure))
		p.answered(r, already(2, store.EndFailure))
	}},
	{"the store's clock steps back and a dead lease lives again", func(p *tape) {
		p.begin()
		p.do(renew(1), lostLease(70))
		p.do(renew(1), renewed(40))
		p.do(report("n1", 1, 1, store.Success{}), applied(99, store.Succeeded))
	}},
	{"the store's clock steps back and a sweep cuts the lease", func(p *tape) {
		p.do(enqueue(1), added(900))
		p.do(claim("n1", 1), claimed(1000, lease(1, 1, 1000, 0)))
		p.do(sweep, &store.Swept{At: at(500)})
		p.do(renew(1), lostLease(560))
		p.do(sweep, swept(560, 560))
	}},
	{"an asked cancel: success wins", func(p *tape) {
		p.begin()
		p.do(do("r", cancel1), done(2, store.DoChanged))
		p.do(do("s", cancel1), done(3, store.DoUnchanged))
		p.do(report("n1", 1, 1, store.Success{}), applied(8, store.Succeeded))
	}},
	{"a cancel finds the lease lapsed, a force ends a live one", func(p *tape) {
		p.begin()
		p.do(do("r", cancel1), done(61, store.DoChanged))
		p.do(report("n1", 1, 1, store.Failure{}), stale(62))
		p.do(do("s", force1), done(63, store.DoUnchanged))
	}},
	{"a forced cancel without an answer", func(p *tape) {
		p.begin()
		p.lost(do("r", force1), done(5, store.DoChanged))
		p.do(renew(1), lostLease(6))
		p.do(do("s", cancel1), done(7, store.DoRefused))
	}},
	{"requeue: attempts go on, the ceiling starts afresh", func(p *tape) {
		p.dead(store.DeadLettered, 3)
		p.do(do("r", requeue1), done(400, store.DoChanged))
		p.do(claim("n2", 1), claimed(401, lease(4, 1, 401, 3)))
		p.do(report("n2", 4, 1, store.Failure{}), applied(402, store.Scheduled))
		p.do(report("n1", 3, 3, store.Failure{}), stale(900))
	}},
	{"snooze, release and unknown name do not count", func(p *tape) {
		p.begin()
		p.do(report("n1", 1, 1, store.Snooze{Delay: time.Millisecond}), applied(2, store.Scheduled))
		p.do(claim("n1", 2), claimed(3, lease(2, 2, 3, 1)))
		p.do(report("n1", 2, 2, store.Released{}), applied(4, store.Scheduled))
		p.do(claim("n1", 3), claimed(4, lease(3, 3, 4, 2)))
		p.do(report("n1", 3, 3, store.UnknownName{}), applied(5, store.Scheduled))
		p.do(claim("n1", 4), claimed(7, lease(4, 4, 7, 3)))
	}},
	{"a pause and a repeat of a claim from before it", func(p *tape) {
		p.do(enqueue(1), added(0))
		p.lost(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
		p.do(do("r", store.Pause{Queue: "q"}), done(2, store.DoChanged))
		p.do(claim("n1", 1), claimed(3, lease(1, 1, 1, 0)))
	}},
	{"a resume without an answer", func(p *tape) {
		p.do(enqueue(1), added(0))
		p.do(do("r", store.Pause{Queue: "q"}), done(0, store.DoChanged))
		p.lost(do("s", store.Resume{Queue: "q"}), done(1, store.DoChanged))
		p.do(claim("n1", 1), claimed(3, lease(1, 1, 3, 0)))
	}},
	{"a unique key changes hands", func(p *tape) {
		p.do(enqueueKey(1), added(0))
		p.do(enqueueKey(2), &store.Enqueued{At: at(0), Rows: []store.EnqueueAnswer{{Status: store.EnqueueHeld, Holder: jobID(1)}}})
		p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
		p.do(report("n1", 1, 1, store.Success{}), applied(2, store.Succeeded))
		p.do(enqueueKey(2), added(3))
	}},
	{"the store forgets a claim and grants its token again", func(p *tape) {
		p.do(enqueue(1), added(0))
		to := p.log.Seq()
		p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
		p.log.Forgot(p.ns, to)
		p.do(claim("n1", 2), claimed(2, lease(1, 2, 2, 0)))
		p.do(report("n1", 1, 1, store.Success{}), stale(3))
		p.do(report("n1", 1, 2, store.Success{}), applied(4, store.Succeeded))
	}},
}

func TestLegalHistories(t *testing.T) {
	for _, c := range legal {
		t.Run(c.name, func(t *testing.T) {
			p := newTape()
			c.tell(p)
			mustHold(t, p.log)
		})
	}
}
