package engine

import (
	"time"

	"backwave/store"
)

// NewJob describes a job to be added.
type NewJob struct {
	Name    string // routes the job to its handler; 1 to store.MaxName bytes
	Args    any    // the payload: encoded by the client's codec; []byte and json.RawMessage are taken as they are, nil is no payload
	Options []EnqueueOption
}

// EnqueueOption says more about a job to be added. Of options that contradict
// each other the last one counts.
type EnqueueOption func(*store.NewJob)

// In makes the job due d after it was added, by the store's clock; d is moved
// into [0, store.MaxDuration]. Default: at once.
func In(d time.Duration) EnqueueOption {
	return func(j *store.NewJob) { j.HasAt, j.At, j.Delay = false, 0, store.ClampDuration(d) }
}

// At makes the job due at t, by the store's clock; at once if t has passed.
func At(t time.Time) EnqueueOption {
	return func(j *store.NewJob) { j.HasAt, j.At, j.Delay = true, store.At(t), 0 }
}

// Queue puts the job into a queue; default ClientConfig.Queue.
func Queue(name string) EnqueueOption { return func(j *store.NewJob) { j.Queue = name } }

// ID gives the job its id, so that the program may repeat the enqueue after a
// restart of its own; default: a new one.
func ID(id store.JobID) EnqueueOption { return func(j *store.NewJob) { j.ID = id } }

// Unique makes the job hold a key, of at most store.MaxName bytes, until it
// has ended: while it does, no other job with that key is added.
func Unique(key string) EnqueueOption { return func(j *store.NewJob) { j.UniqueKey = key } }

// MaxAttempts sets how many attempts that count the job has, at most
// store.MaxCeiling; default 0: what the group that runs it says.
func MaxAttempts(n int) EnqueueOption { return func(j *store.NewJob) { j.MaxAttempts = n } }

// Receipt says what became of an enqueue.
type Receipt struct {
	ID       store.JobID // of the job; or of the live one that holds its unique key
	Existing bool        // that one holds the key: nothing was added
}
