package checker

import (
	"time"

	"backwave/store"
)

// want is what must become of an attempt that has ended.
type want struct {
	kind   store.EndKind
	to     store.State
	lo, hi time.Duration // bounds of the rest until the job is due, if it is scheduled
	free   bool          // the attempt does not count towards the ceiling
	rule   rule          // whose breach another state is
}

// wanted is what the outcome of the job's live lease must lead to.
func (w *Watch) wanted(j *jobBook, o store.Outcome) want {
	n := want{kind: o.Kind(), rule: ruleCeiling}
	switch o := o.(type) {
	case store.Success:
		n.to, n.rule = store.Succeeded, ruleLegal
		if j.cancel {
			n.rule = ruleNoClaimAfterCancel
		}
		return n
	case store.Failure:
		n = w.retried(j, n)
		if o.HasRetryAfter {
			n.lo = max(0, min(o.RetryAfter, store.MaxDuration))
			n.hi = n.lo
		}
	case store.Discard:
		n.to = store.DeadLettered
	case store.Snooze:
		n.lo = max(time.Second, min(o.Delay, store.MaxDuration))
		n.to, n.hi, n.free = store.Scheduled, n.lo, true
	case store.Released:
		n.to, n.free = store.Scheduled, true
	case store.UnknownName:
		j.unknown++
		n.to, n.free = store.Scheduled, true
		n.lo = 300 * time.Second
		if j.unknown <= 8 {
			n.lo = time.Second << j.unknown
		}
		n.hi = n.lo
		if j.unknown > 10 {
			n.to = store.Quarantined
		}
	case store.Undecodable:
		n.to = store.Quarantined
	}
	return w.unlessCancelled(j, n)
}

// wantedLapse is what the lapse of the job's live lease must lead to.
func (w *Watch) wantedLapse(j *jobBook) want {
	return w.unlessCancelled(j, w.retried(j, want{kind: store.EndLapse, rule: ruleCeiling}))
}

// retried is tried again below base + max of the terms of the pump that
// claimed; what the row was stamped with is not asked.
func (w *Watch) retried(j *jobBook, n want) want {
	l := w.lease(j.live)
	var p store.Policy
	if pump := w.pump(l.pump); pump != nil {
		p = policyOf(pump.info.Terms, j.name)
	} else {
		p = policyOf(nil, j.name)
	}
	most := p.MaxAttempts
	if j.own > 0 {
		most = j.own
	}
	if l.attempt >= j.base+most {
		n.to = store.DeadLettered
		return n
	}
	n.to = store.Scheduled
	n.lo, n.hi = rests(p, l.attempt-j.base)
	return n
}

// unlessCancelled lets a cancel that was asked win over everything but success.
func (w *Watch) unlessCancelled(j *jobBook, n want) want {
	if j.cancel {
		n.to, n.rule = store.Cancelled, ruleNoClaimAfterCancel
	}
	return n
}

// judged checks what became of an attempt: state, rest and base.
func (w *Watch) judged(c *Commit, j *jobBook, ch *Change, n want) {
	a := ch.After
	if a.State != n.to {
		w.breach(n.rule, j, "attempt %d ended as %v with base %d, cancel asked %t: it must lead to %v, not %v", a.Attempt, n.kind, j.base, j.cancel, n.to, a.State)
		j.base = a.Base
		return
	}
	if n.to != store.Scheduled {
		return
	}
	// Instants are in microseconds; what is below is dropped.
	if rest := a.Due.Sub(c.StoreNow); rest < n.lo.Truncate(time.Microsecond) || rest > n.hi {
		w.breach(ruleCeiling, j, "attempt %d ended as %v at %s and is due after %v, want %s", a.Attempt, n.kind, w.clock(c.StoreNow), rest, between(n.lo, n.hi))
	}
	if n.free {
		j.base++
	}
	if a.Base != j.base {
		w.breach(ruleCeiling, j, "attempt %d ended as %v and leaves base %d, want %d", a.Attempt, n.kind, a.Base, j.base)
		j.base = a.Base
	}
}

// requeuedRow checks that a requeue begins a life with a ceiling of its own.
func (w *Watch) requeuedRow(c *Commit, j *jobBook, ch *Change) {
	if a := ch.After; a.Base != j.claims || a.Due != c.StoreNow || a.UnknownNames != 0 {
		w.breach(ruleCeiling, j, "requeued after %d attempts at %s with base %d, due %s, %d unknown names counted", j.claims, w.clock(c.StoreNow), a.Base, w.clock(a.Due), a.UnknownNames)
	}
	j.base, j.unknown = j.claims, 0
}

func between(lo, hi time.Duration) string {
	if lo == hi {
		return lo.String()
	}
	return lo.String() + " to " + hi.String()
}

// policyOf is what terms say of a name, with the documented defaults.
func policyOf(t *store.Terms, name string) store.Policy {
	var p store.Policy
	if t != nil {
		p = t.Default
		for i := range t.ByName {
			if t.ByName[i].Name == name {
				p = t.ByName[i].Policy
			}
		}
	}
	setDefault(&p.MaxAttempts, 10)
	setDefault(&p.First, 2*time.Second)
	setDefault(&p.Factor, 2)
	setDefault(&p.Cap, max(300*time.Second, p.First))
	setDefault(&p.Jitter, 10)
	if p.NoJitter {
		p.Jitter = 0
	}
	return p
}

func setDefault[T ~int | ~int64](p *T, v T) {
	if *p == 0 {
		*p = v
	}
}

// rests bounds the rest after the n-th attempt that counts: First × Factorⁿ⁻¹,
// spread by Jitter percent, Cap at most, to the microsecond.
func rests(p store.Policy, n int) (lo, hi time.Duration) {
	most := p.Cap.Microseconds()
	us := p.First.Microseconds()
	for i := 1; i < n && us < 2*most && p.Factor > 1; i++ {
		us *= int64(p.Factor) // below 2 × 10 years × 1000: no overflow
	}
	spread := int64(0)
	if p.Jitter > 0 {
		spread = (us/100 + 1) * int64(p.Jitter)
	}
	low, high := max(1, min(us-spread, most)), max(1, min(us+spread, most))
	return time.Duration(low) * time.Microsecond, time.Duration(high) * time.Microsecond
}
