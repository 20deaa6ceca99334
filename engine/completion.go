package engine

import (
	"time"

	"backwave/store"
)

var _ store.Attempt = (*RawJob)(nil)

// Key names the attempt and the claim that began it.
func (j *RawJob) Key() store.LeaseKey {
	return store.LeaseKey{Job: j.ID, Attempt: j.Attempt, Claim: j.claim}
}

// Worker returns the identity under which the job is leased.
func (j *RawJob) Worker() string { return j.worker }

// LeaseDuration returns the length of the lease, as the field Lease does.
func (j *RawJob) LeaseDuration() time.Duration { return j.Lease }

// Output returns what the last SetOutput set. It must not be changed.
func (j *RawJob) Output() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.output
}

// Completing is for a store that is about to send the statement which records
// the success of this attempt inside a transaction of the handler. Once it has
// returned, no renewal of the lease is sent, and the handler's context does not
// end on account of the lease; nil from the handler is no success any more.
// Completed ends that. After the handler has returned, or when its pump has
// ended, it does nothing.
func (j *RawJob) Completing() {
	if j.to != nil {
		j.to.Completing()
	}
}

// Completed tells how the transaction ended for which Completing was called.
// Rolled back, the attempt goes on as if nothing had been, and may complete
// again; otherwise its lease is left alone until the handler has returned.
// After that, or when its pump has ended, it does nothing.
func (j *RawJob) Completed(c store.Completion) {
	if j.to != nil {
		j.to.Completed(c)
	}
}
