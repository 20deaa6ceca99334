package engine

import (
	"bytes"
	"sync"
	"time"

	"backwave/store"
)

// Job is what a handler is given: one attempt of a job, its payload decoded.
type Job[T any] struct {
	*RawJob
	Args T // the decoded payload; the zero value if the payload is empty
}

// RawJob is one attempt of a job whatever its payload. Its fields must not be
// changed; its methods may be called by any goroutine of the handler.
type RawJob struct {
	ID      store.JobID
	Name    string
	Queue   string
	Attempt int           // from 1; never used twice for one job
	Payload []byte        // as it is stored
	Lease   time.Duration // length of the lease: how soon after a crash another worker takes over

	claim  uint64 // claim number of the lease
	worker string
	to     Listener // nil if a test made the job by hand

	mu       sync.Mutex
	output   []byte
	progress []byte
	told     bool // progress waits to be fetched
}

// Token names this attempt. It grows with every attempt, so a system that
// remembers the highest attempt of a job can refuse writes of older ones.
func (j *RawJob) Token() store.Token { return store.Token{Job: j.ID, Attempt: j.Attempt} }

// SetOutput sets what the job keeps as its output if this attempt succeeds;
// the last call counts, and nil takes it back. More than store.MaxOutput bytes
// are refused with a *store.BoundError. A call after the handler has returned
// does nothing.
func (j *RawJob) SetOutput(b []byte) error {
	if len(b) > store.MaxOutput {
		return &store.BoundError{Field: "output of " + j.Token().String(), Got: int64(len(b)), Bound: store.MaxOutput, Unit: "bytes"}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.output = bytes.Clone(b)
	return nil
}

// SetProgress sets what the job shows as its progress; the next renewal of its
// lease, about a third of the lease away, takes it to the store. More than
// store.MaxProgress bytes are refused with a *store.BoundError. A call after
// the handler has returned does nothing.
func (j *RawJob) SetProgress(b []byte) error {
	if len(b) > store.MaxProgress {
		return &store.BoundError{Field: "progress of " + j.Token().String(), Got: int64(len(b)), Bound: store.MaxProgress, Unit: "bytes"}
	}
	j.mu.Lock()
	first := !j.told
	j.progress, j.told = bytes.Clone(b), true
	j.mu.Unlock()
	if first && j.to != nil { // a handler that calls in a loop is told of once
		j.to.Progressed(j.fetchProgress)
	}
	return nil
}

// fetchProgress returns the last progress set.
func (j *RawJob) fetchProgress() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.told = false
	return j.progress
}
