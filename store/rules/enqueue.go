package rules

import (
	"bytes"

	"backwave/store"
)

// New is the row of a job that is added now, but for its sequence.
func New(n *store.NewJob, now store.Instant) store.Job {
	due := now.Add(store.ClampDuration(n.Delay))
	if n.HasAt {
		due = n.At
	}
	return store.Job{
		ID: n.ID, Name: n.Name, Queue: n.Queue, Payload: n.Payload,
		MaxAttempts: n.MaxAttempts, UniqueKey: n.UniqueKey,
		State: store.Scheduled, Due: due, Enqueued: now,
	}
}

// Again is the answer to an enqueue of an id that exists.
func Again(j *store.Job, n *store.NewJob) store.EnqueueStatus {
	if j.Name != n.Name || j.Queue != n.Queue || !bytes.Equal(j.Payload, n.Payload) {
		return store.EnqueueDiffers
	}
	return store.EnqueueDuplicate
}
