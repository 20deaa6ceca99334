package pump_test

import (
	"time"

	"pgregory.net/rapid"

	"backwave/engine/pump"
	"backwave/store"
)

// pick returns one of the calls, mostly the newest.
func pick(t *rapid.T, calls []pump.Call) (pump.Call, bool) {
	if len(calls) == 0 {
		return pump.Call{}, false
	}
	back := rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5}).Draw(t, "back")
	return calls[max(0, len(calls)-1-back)], true
}

func (m *machine) soon(t *rapid.T) pump.Time {
	return m.now + m.span(rapid.SampledFrom([]int{0, 0, 1, 1, 5}).Draw(t, "percent"))
}

func (m *machine) answerClaim(t *rapid.T) {
	c, ok := pick(t, m.claims)
	if !ok {
		return
	}
	r := c.Req.(*store.Claim)
	leases, repeat := m.granted[r.Number], false
	if len(leases) > 0 {
		repeat = rapid.IntRange(0, 9).Draw(t, "repeat") > 0
	}
	if !repeat {
		leases = nil
		for range rapid.IntRange(0, r.Max%5+1).Draw(t, "leases") { // may be one too many
			leases = append(leases, m.lease(t, r.Number))
		}
		m.granted[r.Number] = leases
	}
	ev := pump.Claimed{Op: c.Op, Leases: leases, HasNext: rapid.Bool().Draw(t, "hasNext")}
	if ev.HasNext {
		ev.Next = rapid.SampledFrom([]time.Duration{0, time.Microsecond, 900 * time.Millisecond, time.Hour}).Draw(t, "next")
	}
	m.do(t, m.soon(t), ev)
}

// lease grants the next attempt of one of a few jobs, also while an earlier
// one runs; rarely it is one under a foreign number, or one granted before.
func (m *machine) lease(t *rapid.T, number uint64) store.Lease {
	j := rapid.IntRange(0, len(m.attempts)-1).Draw(t, "job")
	odd := rapid.IntRange(0, 19).Draw(t, "odd")
	if odd > 0 {
		m.attempts[j]++
	}
	if odd == 1 {
		number += 3
	}
	l := store.Lease{
		Key:   store.LeaseKey{Job: jobID(j + 1), Attempt: max(1, m.attempts[j]), Claim: number},
		Name:  rapid.SampledFrom([]string{"fast", "slow"}).Draw(t, "name"),
		Queue: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue"),
	}
	if odd == 2 {
		l.Damage = "bad row"
	}
	return l
}

func (m *machine) answerRenew(t *rapid.T) {
	c, ok := pick(t, m.renewals)
	if !ok {
		return
	}
	ev := pump.Renewed{Op: c.Op}
	for range c.Req.(*store.Renew).Rows {
		ev.Rows = append(ev.Rows, store.RenewAnswer{
			Status: rapid.SampledFrom([]store.RenewStatus{store.RenewOK, store.RenewOK, store.RenewOK, store.RenewBusy, store.RenewLost}).Draw(t, "status"),
			Cancel: rapid.IntRange(0, 5).Draw(t, "cancel") == 0,
		})
	}
	m.do(t, m.soon(t), ev)
}

func (m *machine) answerReport(t *rapid.T) {
	c, ok := pick(t, m.reports)
	if !ok {
		return
	}
	ev := pump.Reported{Op: c.Op}
	for range c.Req.(*store.Report).Rows {
		ev.Rows = append(ev.Rows, store.ReportAnswer{
			Status: store.ReportStatus(rapid.IntRange(int(store.ReportApplied), int(store.ReportRejected)).Draw(t, "status")),
			Reason: "output is too large",
		})
	}
	m.do(t, m.soon(t), ev)
}

func (m *machine) answerSweep(t *rapid.T) {
	c, ok := pick(t, m.sweeps)
	if !ok {
		return
	}
	n := rapid.SampledFrom([]int{0, 1, c.Req.(*store.Sweep).Max}).Draw(t, "disposed")
	m.do(t, m.soon(t), pump.Swept{Op: c.Op, Disposed: n})
}

// fail answers a call, or one that was never sent, with an error. An error of
// an unknown kind halts the pump, so it is rare.
func (m *machine) fail(t *rapid.T) {
	f := store.Fault(rapid.IntRange(1, int(store.FaultBusy)).Draw(t, "fault"))
	if rapid.IntRange(0, 79).Draw(t, "fatal") == 79 {
		f = store.FaultFatal
	}
	op := m.ghost.lastOp + 1 - pump.Op(rapid.IntRange(0, 6).Draw(t, "op"))
	if len(m.claims) > 0 && rapid.Bool().Draw(t, "claim") {
		op = m.claims[len(m.claims)-1].Op
	}
	text := rapid.SampledFrom([]string{"connection refused", ""}).Draw(t, "text")
	m.do(t, m.soon(t), pump.Failed{Op: op, Fault: f, Type: "*net.OpError", Text: text})
}

func (m *machine) key(t *rapid.T) store.LeaseKey {
	if len(m.started) == 0 || rapid.IntRange(0, 19).Draw(t, "unknown") == 19 {
		return store.LeaseKey{Job: jobID(1), Attempt: 99, Claim: 1}
	}
	return m.started[rapid.IntRange(0, len(m.started)-1).Draw(t, "which")]
}

func (m *machine) handlerReturns(t *rapid.T) {
	outcome := rapid.SampledFrom([]store.Outcome{
		store.Success{},
		store.Success{Output: []byte("42")},
		store.Failure{Error: "boom"},
		store.Failure{Error: "later", HasRetryAfter: true, RetryAfter: time.Minute},
		store.Discard{Error: "no"},
		store.Snooze{Delay: time.Minute},
		store.UnknownName{},
		store.Undecodable{Error: "not JSON"},
	}).Draw(t, "outcome")
	m.do(t, m.soon(t), pump.Returned{Key: m.key(t), Outcome: outcome})
}

func (m *machine) progress(t *rapid.T) {
	data := rapid.SampledFrom([]string{"", "10%", "90%"}).Draw(t, "data")
	m.do(t, m.now, pump.Progressed{Key: m.key(t), Data: []byte(data)})
}

// complete is a handler's own transaction, or a part of one: told of a handler
// that has begun none, or has returned, it means nothing.
func (m *machine) complete(t *rapid.T) {
	k := m.key(t)
	if rapid.Bool().Draw(t, "begins") {
		m.do(t, m.soon(t), pump.Completing{Key: k})
		return
	}
	end := store.Completion(rapid.IntRange(0, int(store.CompletionUnknown)).Draw(t, "end"))
	m.do(t, m.soon(t), pump.Completed{Key: k, End: end})
}

func (m *machine) wait(t *rapid.T) {
	m.do(t, m.now+m.span(rapid.IntRange(0, 20).Draw(t, "percent")), pump.Woken{})
}

// freeze is a node that stands still, far past its deadlines; what it hears
// first when it wakes may be anything.
func (m *machine) freeze(t *rapid.T) {
	m.now += m.span(rapid.SampledFrom([]int{17, 34, 98, 99, 300}).Draw(t, "percent"))
	switch rapid.IntRange(0, 3).Draw(t, "first") {
	case 0:
		m.answerClaim(t)
	case 1:
		m.answerRenew(t)
	case 2:
		m.handlerReturns(t)
	case 3:
		m.do(t, m.now, pump.Woken{})
	}
}

// giveUp waits until calls in flight are given up and sent again.
func (m *machine) giveUp(t *rapid.T) {
	c := m.cfg.Resolved()
	m.do(t, m.now.Add(c.OperationTimeout), pump.Woken{})
	m.do(t, m.now.Add(c.PollInterval), pump.Woken{})
}

func (m *machine) wallJump(t *rapid.T) {
	m.do(t, m.now+m.span(rapid.SampledFrom([]int{0, 1, 40, 120}).Draw(t, "percent")), pump.WallJumped{})
}

// rarely is what ends a pump. A drain may take long, and much can happen in it.
func (m *machine) rarely(t *rapid.T) {
	switch rapid.IntRange(0, 39).Draw(t, "what") {
	case 33:
		m.do(t, m.now, pump.Broke{Cause: pump.Cause{Type: "*errors.errorString", Message: "bang"}})
	case 34, 35, 36, 37, 38, 39:
		m.do(t, m.now, pump.Drained{})
	default:
		m.wait(t)
	}
}
