package rules

import "backwave/store"

// Lapse disposes of the lapsed lease of a row.
func Lapse(j *store.Job, now store.Instant) store.Lapse {
	e := retry(j, store.EndLapse, j.RetryDelay)
	end(j, e, now)
	return store.Lapse{
		Key:    store.LeaseKey{Job: j.ID, Attempt: j.Attempt, Claim: j.Claim},
		Worker: j.Worker, Queue: j.Queue, ExpiredAt: j.LeaseUntil, To: e.to,
	}
}

// LongLapsed reports whether a lease lapsed at least its stamped length ago,
// so that a sweep of any queue may dispose of it.
func LongLapsed(j *store.Job, now store.Instant) bool { return j.LeaseUntil.Add(j.LeaseFor) <= now }

// Cut returns where a lease must end that was stamped when the clock stood
// further ahead: ok if it runs longer than now + its stamped length.
func Cut(j *store.Job, now store.Instant) (end store.Instant, ok bool) {
	end = now.Add(j.LeaseFor)
	return end, j.LeaseUntil > end
}
