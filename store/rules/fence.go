package rules

import "backwave/store"

// Holds is the fence: whether the worker's lease under key is the row's, and
// alive. A lease that ends at exactly now is dead.
func Holds(j *store.Job, worker string, key store.LeaseKey, now store.Instant) bool {
	return j.State == store.Executing && j.Worker == worker && j.Claim == key.Claim &&
		j.Attempt == key.Attempt && j.LeaseUntil > now
}

// Reported looks for an end that the worker itself brought about under key.
func Reported(j *store.Job, worker string, key store.LeaseKey) (store.EndKind, bool) {
	for i := len(j.Ends) - 1; i >= 0; i-- {
		e := &j.Ends[i]
		if e.Attempt == key.Attempt && e.Claim == key.Claim && e.Worker == worker && e.Kind <= store.EndUndecodable {
			return e.Kind, true
		}
	}
	return 0, false
}
