package store

import (
	"context"
	"time"
)

// MinLease is the shortest lease a claim or renewal may ask for.
const MinLease = time.Second

// MinSnooze is the shortest delay of a Snooze.
const MinSnooze = time.Second

// Bounds on what callers hand in, in bytes. What is over a bound is refused
// with a *BoundError, never cut; failure texts are the exception, see
// CleanText.
const (
	MaxName     = 255      // a name, queue, unique key, actor or request id
	MaxPayload  = 1 << 20  // a job's payload
	MaxOutput   = 64 << 10 // a job's output
	MaxProgress = 4 << 10  // a job's progress
	MaxError    = 16 << 10 // a failure text, cut at a rune boundary
	MaxBatch    = 10_000   // rows of one request
)

// Leaser is all that a pump needs of a store. The four calls are atomic per
// row and linearizable per job; every row gets its own answer, and one bad row
// never costs its neighbours. An error means that nothing is known of the
// call: it may have happened, or happen later. See FaultOf for what kinds of
// errors there are.
type Leaser interface {
	Claim(context.Context, *Claim) (*Claimed, error)
	Renew(context.Context, *Renew) (*Renewed, error)
	Report(context.Context, *Report) (*Reported, error)
	Sweep(context.Context, *Sweep) (*Swept, error)
}

// Enqueuer adds jobs.
type Enqueuer interface {
	// Enqueue adds the jobs it can and answers for each. A request with a
	// value over its bound is refused as a whole, before anything is written,
	// with a *BoundError. A call with the same ids can be repeated safely.
	Enqueue(context.Context, *Enqueue) (*Enqueued, error)
}

// Operator carries out commands of people.
type Operator interface {
	// Do carries out the command once, however often it is sent.
	Do(context.Context, *Do) (*Done, error)
}

// Reader answers questions of people and programs. What it returns is a
// snapshot and may be out of date at once.
type Reader interface {
	// Job returns the job, or ErrNotFound.
	Job(context.Context, JobID) (*Job, error)
	// Jobs lists at most limit jobs of the queue in the given states (none =
	// any), oldest enqueue first; of those enqueued at one instant, in the
	// order of enqueue or of their ids.
	Jobs(ctx context.Context, queue string, states []State, limit int) ([]*Job, error)
	// Unfinished counts the jobs of the queues that are not terminal.
	Unfinished(ctx context.Context, queues []string) (int, error)
	// Queues lists the queues that hold a job, finished ones included, or are
	// paused, in byte order of their names. It may look at every job.
	Queues(context.Context) ([]QueueView, error)
}

// QueueView is one queue as a Reader shows it.
type QueueView struct {
	Name   string
	Paused bool
	Jobs   map[State]int // jobs by state; states without jobs are not in it, and it is not nil
}

// Hinter tells of work that may have become due, so that a poll can come
// early. A hint may be lost, late or doubled; nothing depends on it.
type Hinter interface {
	// Hints calls hint with a queue's name whenever work may have become due
	// in it, until stop is called. hint must not block.
	Hints(hint func(queue string)) (stop func())
}

// Store is everything at once, for those who wire a process.
type Store interface {
	Leaser
	Enqueuer
	Operator
	Reader
}

// Job is a job as a store keeps it. Of one that has succeeded a store may forget
// what nobody decides by any more, and show it as 0: Seq, Due, LeaseUntil,
// LeaseFor, Ceiling, RetryDelay and the Lease of its last end.
type Job struct {
	ID          JobID
	Seq         uint64 // order of enqueue within the store
	Name        string
	Queue       string
	Payload     []byte
	Damage      string // not "": the row cannot be read, and this says why
	MaxAttempts int    // the job's own ceiling; 0 = that of its terms
	UniqueKey   string

	State           State
	Due             Instant
	Attempt         int // attempts so far; the number of the running one while Executing
	Base            int // attempts that do not count towards the ceiling
	UnknownNames    int // attempts of this life that found no handler
	CancelRequested bool
	Output          []byte
	Progress        []byte

	// The lease; kept as it was when the attempt has ended.
	Worker     string
	Claim      uint64
	LeaseUntil Instant
	LeaseFor   time.Duration // stamped length
	Ceiling    int           // max of the stamped terms: tried again while Attempt < Base + Ceiling
	RetryDelay time.Duration // of the stamped terms, for this attempt

	Ends               []End  // recorded ends, oldest first; the oldest may be gone
	EndsCut            int    // how many were dropped
	LastErr            string // text of the last failure
	Enqueued, Finished Instant
}

// Audit is one recorded action of an operator that changed something.
type Audit struct {
	At        Instant
	Actor     string
	RequestID string
	Command   Command
}
