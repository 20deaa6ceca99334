package checker

import (
	"strings"
	"testing"
	"time"

	"backwave/history"
	"backwave/store"
)

// illegal histories, each with what its explanation must say. onlyWorld marks
// those that a client cannot see through.
var illegal = []struct {
	name      string
	says      string
	onlyWorld bool
	tell      func(p *tape)
}{
	{"a job that nobody enqueued", "never enqueued", false, func(p *tape) {
		p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
	}},
	{"added twice", "was executing", false, func(p *tape) {
		p.begin()
		p.do(enqueue(1), added(5))
	}},
	{"two workers hold one job", "another lease was in force", false, func(p *tape) {
		p.begin()
		p.do(claim("n2", 1), claimed(2, lease(2, 1, 2, 0)))
	}},
	{"a claim before its delay is over", "not due", false, func(p *tape) {
		p.begin()
		p.do(report("n1", 1, 1, store.Failure{}), applied(5, store.Scheduled))
		p.do(claim("n2", 1), claimed(6.9, lease(2, 1, 6.9, 0)))
	}},
	{"a claim before a snooze is over", "not due", false, func(p *tape) {
		p.begin()
		p.do(report("n1", 1, 1, store.Snooze{Delay: time.Minute}), applied(5, store.Scheduled))
		p.do(claim("n2", 1), claimed(64, lease(2, 1, 64, 1)))
	}},
	{"an attempt skipped", "next attempt was 2", false, func(p *tape) {
		p.begin()
		p.do(report("n1", 1, 1, store.Failure{}), applied(5, store.Scheduled))
		p.do(claim("n2", 1), claimed(9, lease(3, 1, 9, 0)))
	}},
	{"an attempt used twice", "next attempt was 2", false, func(p *tape) {
		p.begin()
		p.do(sweep, swept(61, 61))
		p.do(claim("n2", 1), claimed(69, lease(1, 1, 69, 0)))
	}},
	{"a report at the very end of the lease", "had ended at 00:01:01", false, func(p *tape) {
		p.begin()
		p.do(report("n1", 1, 1, store.Success{}), applied(61, store.Succeeded))
	}},
	{"a renewal at the very end of the lease", "had ended at 00:01:01", false, func(p *tape) {
		p.begin()
		p.do(renew(1), renewed(61))
	}},
	{"a sweep of a live lease", "ran until 00:01:01", false, func(p *tape) {
		p.begin()
		p.do(sweep, swept(60, 60))
	}},
	{"a sweep that overlooks a renewal", "ran until 00:01:21", false, func(p *tape) {
		p.begin()
		p.do(renew(1), renewed(21))
		p.do(sweep, swept(62, 61))
	}},
	{"a lease lost while it lives", "leased to n1", false, func(p *tape) {
		p.begin()
		p.do(renew(1), lostLease(30))
	}},
	{"a zombie's report is applied under another's lease", "attempt 1 had ended as lapse", false, func(p *tape) {
		p.begin()
		p.do(sweep, swept(61, 61))
		p.do(claim("n2", 1), claimed(63, lease(2, 1, 63, 0)))
		p.do(report("n1", 1, 1, store.Success{}), applied(64, store.Succeeded))
	}},
	{"a forged worker passes the fence", "another's", false, func(p *tape) {
		p.begin()
		p.do(report("n2", 1, 1, store.Success{}), applied(5, store.Succeeded))
	}},
	{"a forged claim number passes the fence", "another's", false, func(p *tape) {
		p.begin()
		p.do(renew(2), renewed(5))
	}},
	{"an outcome applied twice", "attempt 1 had ended as failure", false, func(p *tape) {
		p.begin()
		p.do(report("n1", 1, 1, store.Failure{}), applied(5, store.Scheduled))
		p.do(report("n1", 1, 1, store.Failure{}), applied(6, store.Scheduled))
	}},
	{"already applied with another kind", "ended as failure", false, func(p *tape) {
		p.begin()
		p.do(report("n1", 1, 1, store.Failure{}), applied(5, store.Scheduled))
		p.do(report("n1", 1, 1, store.Success{}), already(6, store.EndSuccess))
	}},
	{"already applied for a lease that lapsed", "ended as lapse", false, func(p *tape) {
		p.begin()
		p.do(sweep, swept(61, 61))
		p.do(report("n1", 1, 1, store.Success{}), already(62, store.EndLapse))
	}},
	{"a kept outcome called stale too soon", "ended as failure", false, func(p *tape) {
		p.begin()
		p.do(report("n1", 1, 1, store.Failure{}), applied(5, store.Scheduled))
		p.do(report("n1", 1, 1, store.Failure{}), stale(124))
	}},
	{"a retry past the ceiling", "had to go to dead-lettered", false, func(p *tape) {
		p.dead(store.Scheduled, 3)
	}},
	{"dead letters below the ceiling", "had to go to scheduled", false, func(p *tape) {
		p.dead(store.DeadLettered, 2)
	}},
	{"a cancel asked and not told", "cancel asked", false, func(p *tape) {
		p.begin()
		p.do(do("r", cancel1), done(2, store.DoChanged))
		p.do(renew(1), renewed(5))
	}},
	{"a cancel asked and retried", "had to go to cancelled", false, func(p *tape) {
		p.begin()
		p.do(do("r", cancel1), done(2, store.DoChanged))
		p.do(report("n1", 1, 1, store.Failure{}), applied(5, store.Scheduled))
	}},
	{"a cancelled job is claimed", "was cancelled", false, func(p *tape) {
		p.do(enqueue(1), added(0))
		p.do(do("r", cancel1), done(0, store.DoChanged))
		p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
	}},
	{"a cancel beats success", "had to go to succeeded", false, func(p *tape) {
		p.begin()
		p.do(do("r", cancel1), done(2, store.DoChanged))
		p.do(report("n1", 1, 1, store.Success{}), applied(5, store.Cancelled))
	}},
	{"a requeue resets the attempts", "next attempt was 4", false, func(p *tape) {
		p.dead(store.DeadLettered, 3)
		p.do(do("r", requeue1), done(400, store.DoChanged))
		p.do(claim("n2", 1), claimed(401, lease(1, 1, 401, 0)))
	}},
	{"a requeue leaves the base", "3 attempts not counting", false, func(p *tape) {
		p.dead(store.DeadLettered, 3)
		p.do(do("r", requeue1), done(400, store.DoChanged))
		p.do(claim("n2", 1), claimed(401, lease(4, 1, 401, 0)))
	}},
	{"a requeue of a succeeded job", "was succeeded", false, func(p *tape) {
		p.begin()
		p.do(report("n1", 1, 1, store.Success{}), applied(5, store.Succeeded))
		p.do(do("r", requeue1), done(6, store.DoChanged))
	}},
	{"a request id carried out twice", "carried out twice", true, func(p *tape) {
		p.do(enqueue(1), added(0))
		p.lost(do("r", store.Pause{Queue: "q"}), done(1, store.DoChanged))
		p.lost(do("s", store.Resume{Queue: "q"}), done(2, store.DoChanged))
		p.do(do("r", store.Pause{Queue: "q"}), done(3, store.DoChanged))
	}},
	{"a claim from a paused queue", "after the queue was paused", false, func(p *tape) {
		p.do(enqueue(1), added(0))
		p.do(do("r", store.Pause{Queue: "q"}), done(0, store.DoChanged))
		p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
	}},
	{"two live holders of a unique key", "certainly held", false, func(p *tape) {
		p.do(enqueueKey(1), added(0))
		p.do(enqueueKey(2), added(0))
		p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
	}},
	{"held by a job that has ended", "had ended before", false, func(p *tape) {
		p.do(enqueueKey(1), added(0))
		p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
		p.do(report("n1", 1, 1, store.Success{}), applied(2, store.Succeeded))
		p.do(enqueueKey(2), &store.Enqueued{At: at(3), Rows: []store.EnqueueAnswer{{Status: store.EnqueueHeld, Holder: jobID(1)}}})
	}},
	{"a repeated claim lengthens its lease", "another lease", false, func(p *tape) {
		p.begin()
		p.do(claim("n1", 1), claimed(9, lease(1, 1, 9, 0)))
	}},
	{"one job twice in one claim", "no store may answer so", false, func(p *tape) {
		p.do(enqueue(1), added(0))
		p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0), lease(1, 1, 1, 0)))
	}},
	{"more leases than asked for", "no store may answer so", false, func(p *tape) {
		p.do(enqueue(1), added(0))
		q := claim("n1", 1)
		q.Max = 0
		p.do(q, claimed(1, lease(1, 1, 1, 0)))
	}},
	{"a renewal that came too late, by the world's word", "had ended", true, func(p *tape) {
		p.begin()
		p.lost(renew(1), renewed(70))
		p.do(report("n1", 1, 1, store.Success{}), applied(80, store.Succeeded))
	}},
	{"a lost call that had an effect", "was scheduled", true, func(p *tape) {
		p.do(enqueue(1), added(0))
		p.gone(claim("n1", 1))
		p.do(sweep, swept(61, 61))
	}},
	{"what was before the store forgot is judged too", "had ended at", true, func(p *tape) {
		p.do(enqueue(1), added(0))
		to := p.log.Seq()
		p.do(claim("n1", 1), claimed(1, lease(1, 1, 1, 0)))
		p.do(report("n1", 1, 1, store.Success{}), applied(61, store.Succeeded))
		p.log.Forgot(p.ns, to)
	}},
}

func TestIllegalHistories(t *testing.T) {
	for _, c := range illegal {
		t.Run(c.name, func(t *testing.T) {
			p := newTape()
			c.tell(p)
			got := CheckLinear(p.log, LinearOptions{})
			if got.Bounded != Violated || len(got.Findings) == 0 {
				t.Fatalf("bounded %v, findings %v", got.Bounded, got.Findings)
			}
			if seen := got.BlackBox == Violated; seen == c.onlyWorld {
				t.Errorf("black-box %v", got.BlackBox)
			}
			f := got.Findings[0]
			if f.Invariant != "linearizable" || f.Call == 0 || !strings.Contains(f.Message, c.says) {
				t.Errorf("finding %+v, want one that says %q", f, c.says)
			}
		})
	}
}

// An explanation names the order that was possible, the call that was not, and
// where the job stood; and is the same every time.
func TestExplain(t *testing.T) {
	p := newTape()
	p.begin()
	p.do(sweep, swept(61, 61))
	p.do(claim("n2", 1), claimed(63, lease(2, 1, 63, 0)))
	p.do(report("n1", 1, 1, store.Success{}), applied(64, store.Succeeded))
	const want = `job 018bcfe5-6800-7000-8000-000000000001: these calls could have taken effect in this order:
  call 1: an enqueue was told added at 00:00:00
  call 2: worker n1 was given attempt 1 of claim 1 at 00:00:01, until 00:01:01
  call 3: a sweep disposed of attempt 1 of claim 1 of worker n1 at 00:01:01, which it said had ended at 00:01:01, and the job went to scheduled
  call 4: worker n2 was given attempt 2 of claim 1 at 00:01:03, until 00:02:03
then this one could not:
  call 5: worker n1 was told applied (the job went to succeeded) to its report of success for attempt 1 of claim 1 at 00:01:04
because attempt 1 had ended as lapse; the job was executing, attempt 2 leased to n2 by claim 1 until 00:02:03; attempt 1 of n1 ended as lapse at 00:01:01
`
	for range 20 {
		if got := Explain(p.log, jobID(1), LinearOptions{}); got != want {
			t.Fatalf("got\n%swant\n%s", got, want)
		}
	}
	if got := Explain(p.log, jobID(2), LinearOptions{}); got != "" {
		t.Errorf("an unknown job is explained: %s", got)
	}
}

// A spent budget is undecided, and no pass.
func TestBudgetSpent(t *testing.T) {
	p := newTape()
	p.begin()
	p.do(renew(1), renewed(21))
	got := CheckLinear(p.log, LinearOptions{Steps: 2})
	if got.Bounded != Undecided || got.BlackBox != Undecided || got.Undecided != 1 || len(got.Findings) > 0 {
		t.Errorf("got %+v", got)
	}
}

// Past the declared number of unknown calls the black-box verdict leaves a job
// out and says so; the bounded one does not.
func TestTooManyUnknown(t *testing.T) {
	p := newTape()
	p.begin()
	for range 9 {
		p.send(report("n1", 1, 1, store.Failure{}))
	}
	p.do(report("n1", 1, 1, store.Success{}), applied(61, store.Succeeded))
	got := CheckLinear(p.log, LinearOptions{})
	if got.NotAttempted != 1 || got.BlackBox != Held || got.Bounded != Violated {
		t.Errorf("got %+v", got)
	}
}

// Jobs from before the history began are left out on request.
func TestMidway(t *testing.T) {
	l := history.NewLog()
	p := &tape{log: l}
	p.do(claim("n1", 1), claimed(1, lease(7, 1, 1, 3)))
	got := CheckLinear(l, LinearOptions{Midway: true})
	if got.BlackBox != Held || got.Bounded != Held || got.NotAttempted != 1 {
		t.Errorf("got %+v", got)
	}
}
