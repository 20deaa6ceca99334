package rules

import "backwave/store"

// Grant starts the next attempt of a row and stamps it with the terms of the
// claim.
func Grant(j *store.Job, c *store.Claim, now store.Instant) {
	policy := c.Terms.For(j.Name)
	j.State = store.Executing
	j.Attempt++
	j.Worker, j.Claim = c.Worker, c.Number
	j.LeaseFor, j.LeaseUntil = c.Lease, now.Add(c.Lease)
	j.Ceiling = policy.MaxAttempts
	if j.MaxAttempts > 0 {
		j.Ceiling = j.MaxAttempts
	}
	j.RetryDelay = policy.Delay(store.Token{Job: j.ID, Attempt: j.Attempt}, j.Attempt-j.Base)
}

// Lease is what a claim answers of a row it leased. It shares the payload.
func Lease(j *store.Job) store.Lease {
	l := store.Lease{
		Key:  store.LeaseKey{Job: j.ID, Attempt: j.Attempt, Claim: j.Claim},
		Name: j.Name, Queue: j.Queue, Payload: j.Payload, Damage: j.Damage,
		Base: j.Base, ExpiresAt: j.LeaseUntil,
	}
	if l.Damage != "" {
		l.Payload = nil
	}
	return l
}

// Rank is the place of a queue in the list of a claim; those not listed come
// last.
func Rank(queues []store.Quota, name string) int {
	for i := range queues {
		if queues[i].Queue == name {
			return i
		}
	}
	return len(queues)
}

// Renew prolongs the lease of row if it is the worker's and alive. The job is
// changed if the answer is RenewOK.
func Renew(j *store.Job, r *store.Renew, row *store.RenewRow, now store.Instant) store.RenewAnswer {
	if !Holds(j, r.Worker, row.Key, now) {
		return store.RenewAnswer{Status: store.RenewLost}
	}
	j.LeaseFor, j.LeaseUntil = r.Lease, now.Add(r.Lease)
	if row.Progress != nil {
		j.Progress = row.Progress
	}
	return store.RenewAnswer{Status: store.RenewOK, Cancel: j.CancelRequested, ExpiresAt: j.LeaseUntil}
}
