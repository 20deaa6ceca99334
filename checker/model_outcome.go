package checker

import (
	"math"
	"time"

	"backwave/store"
)

// next returns the states that may follow when the attempt of s ends as kind:
// one, or two when the ceiling that applies is not known.
func (m *model) next(s *jobState, kind store.EndKind) (a, b store.State) {
	switch {
	case kind == store.EndSuccess:
		return store.Succeeded, 0
	case s.cancel, kind == store.EndCancel, kind == store.EndForce:
		return store.Cancelled, 0
	}
	switch kind {
	case store.EndDiscard:
		return store.DeadLettered, 0
	case store.EndSnooze, store.EndRelease:
		return store.Scheduled, 0
	case store.EndUndecodable:
		return store.Quarantined, 0
	case store.EndUnknownName:
		switch {
		case s.looseBase: // a life may have begun that nobody saw
			return store.Scheduled, store.Quarantined
		case s.unknown >= store.UnknownNameGrace:
			return store.Quarantined, 0
		}
		return store.Scheduled, 0
	case store.EndFailure, store.EndLapse:
		ceiling, ok := m.ceiling(s)
		switch {
		case !ok || s.loose || s.looseBase:
			return store.Scheduled, store.DeadLettered
		case int64(s.attempt) < int64(s.base)+ceiling:
			return store.Scheduled, 0
		}
		return store.DeadLettered, 0
	case store.EndSuccess, store.EndCancel, store.EndForce: // above
	}
	return 0, 0
}

// ceiling returns the number of attempts that count: the job's own, else that
// of the stamped terms.
func (m *model) ceiling(s *jobState) (n int64, ok bool) {
	if own := m.job.rows[s.row].MaxAttempts; own > 0 {
		return int64(own), true
	}
	if s.policy == noPolicy {
		return 0, false
	}
	return int64(m.policies[s.policy].MaxAttempts), true
}

// ended returns s after its attempt ended as kind and the job went to state
// to. at is the store's instant, noInstant if not known; o is the outcome
// reported, nil for a lapse, a cancel or a force.
func (m *model) ended(s jobState, kind store.EndKind, to store.State, at store.Instant, o store.Outcome) jobState {
	if s.worker != hidden { // nobody can ask for the end of a lease that nobody knew
		s.ends = &ending{prev: s.ends, attempt: s.attempt, worker: s.worker, number: s.number, kind: kind, at: at, length: s.length}
	}
	if to == store.Scheduled {
		s.due = noInstant
		if rest, ok := m.rest(&s, kind, o); ok && at != noInstant {
			s.due = at.Add(rest)
		}
	}
	if kind == store.EndSnooze || kind == store.EndRelease || kind == store.EndUnknownName {
		s.base++
	}
	if kind == store.EndUnknownName {
		s.unknown++
	}
	if to == store.Cancelled {
		s.cancel = true
	}
	s.state = to
	s.worker, s.policy, s.number, s.until, s.sure, s.length, s.set = 0, 0, 0, 0, 0, 0, 0
	return s
}

// rest returns the least time a job rests after an attempt that ended as kind;
// ok is false when the job may be due at once.
func (m *model) rest(s *jobState, kind store.EndKind, o store.Outcome) (d time.Duration, ok bool) {
	if z, ok := o.(store.Snooze); ok {
		return min(max(z.Delay, store.MinSnooze), store.MaxDuration), true
	}
	if f, ok := o.(store.Failure); ok && f.HasRetryAfter {
		return min(max(f.RetryAfter, 0), store.MaxDuration), true
	}
	n := s.attempt - s.base
	if s.loose || s.looseBase {
		n = 1
	}
	switch {
	case kind == store.EndUnknownName && s.looseBase:
		return 2 * time.Second, true
	case kind == store.EndUnknownName:
		return min(time.Duration(1)<<min(s.unknown+1, 10)*time.Second, 300*time.Second), true
	case (kind == store.EndFailure || kind == store.EndLapse) && s.policy != noPolicy:
		return leastDelay(&m.policies[s.policy], int64(n)), true
	}
	return 0, false
}

// leastDelay returns the shortest rest that p allows after the n-th attempt
// that counts: first × factorⁿ⁻¹ less the jitter, at most the cap. It is
// written from the rule and not from the function the stores use; p has its
// defaults filled in.
func leastDelay(p *store.Policy, n int64) time.Duration {
	first, limit := p.First.Microseconds(), p.Cap.Microseconds()
	us := first
	for i := int64(1); i < n && us < 4*limit && p.Factor > 1; i++ {
		if us > math.MaxInt64/1000/int64(p.Factor) {
			us = 4 * limit
			break
		}
		us *= int64(p.Factor)
	}
	us = min(us, 4*limit) // far enough past the cap that no jitter leads back below it
	us -= us/100*int64(p.Jitter) + int64(p.Jitter)
	return time.Duration(max(0, min(us, limit))) * time.Microsecond
}

// filled returns p with defaults in place of zero fields, as the rules state
// them: 10 attempts, 2 s doubled every time up to 300 s, ± 10 %.
func filled(p store.Policy) store.Policy {
	if p.MaxAttempts == 0 {
		p.MaxAttempts = 10
	}
	if p.First == 0 {
		p.First = 2 * time.Second
	}
	if p.Factor == 0 {
		p.Factor = 2
	}
	if p.Cap == 0 {
		p.Cap = max(300*time.Second, p.First)
	}
	switch {
	case p.NoJitter:
		p.Jitter = 0
	case p.Jitter == 0:
		p.Jitter = 10
	}
	return p
}

// termsFor returns the policy that terms give a job name.
func termsFor(t *store.Terms, name string) store.Policy {
	if t == nil {
		return filled(store.Policy{})
	}
	for i := range t.ByName {
		if t.ByName[i].Name == name {
			return filled(t.ByName[i].Policy)
		}
	}
	return filled(t.Default)
}
