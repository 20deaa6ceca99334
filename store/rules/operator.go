package rules

import "backwave/store"

// Cancel carries out an operator's cancel. The job is changed if the answer is
// DoChanged.
func Cancel(j *store.Job, c store.Cancel, now store.Instant) store.DoResult {
	switch {
	case j.State.Terminal():
		return store.DoRefused
	case j.State == store.Scheduled:
		j.State, j.Finished = store.Cancelled, now
	case j.LeaseUntil <= now:
		end(j, ending{kind: store.EndCancel, to: store.Cancelled}, now)
	case c.Force:
		end(j, ending{kind: store.EndForce, to: store.Cancelled}, now)
	case j.CancelRequested:
		return store.DoUnchanged
	default:
		j.CancelRequested = true
	}
	return store.DoChanged
}

// MayRequeue reports whether the state of the job allows a requeue. Whether
// another job holds its unique key is for the store to find out.
func MayRequeue(j *store.Job) bool {
	return j.State == store.DeadLettered || j.State == store.Quarantined
}

// Requeue starts a new life of a job for which MayRequeue.
func Requeue(j *store.Job, now store.Instant) {
	j.State, j.Due, j.Finished = store.Scheduled, now, 0
	j.Base, j.UnknownNames = j.Attempt, 0
}
