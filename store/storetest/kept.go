package storetest

import (
	"slices"

	"backwave/store"
)

// Kept is j without what a store may forget of a job that has succeeded.
func Kept(j store.Job) store.Job {
	if j.State != store.Succeeded {
		return j
	}
	j.Seq, j.Due, j.LeaseUntil, j.LeaseFor, j.Ceiling, j.RetryDelay = 0, 0, 0, 0, 0, 0
	if n := len(j.Ends); n > 0 {
		j.Ends = slices.Clone(j.Ends)
		j.Ends[n-1].Lease = 0
	}
	return j
}
