package store

import "time"

// Reply is a store's answer to one Request. Every reply carries the instant on
// the store's clock at which it was decided; it is for recorders and checkers,
// and the engine passes it to no pump.
//
//sumtype:decl
type Reply interface {
	// DecidedAt returns the store's instant of the answer.
	DecidedAt() Instant
	reply()
}

// Claimed answers a Claim.
type Claimed struct {
	At      Instant
	Leases  []Lease       // in the order of the claim
	HasNext bool          // Next is known
	Next    time.Duration // how long until a job of the listed queues may next become due; 0 = now, which a claim that got its maximum may answer without looking
}

// Lease is the right to run and to report one attempt. The key and the worker
// are the fence; the rest is what a handler needs.
type Lease struct {
	Key       LeaseKey
	Name      string
	Queue     string
	Payload   []byte
	Damage    string // not "": the row cannot be read, and this says why
	Base      int    // attempts before this one that do not count towards the ceiling
	ExpiresAt Instant
}

// Renewed answers a Renew, row by row.
type Renewed struct {
	At   Instant
	Rows []RenewAnswer
}

// RenewAnswer is the fate of one RenewRow.
type RenewAnswer struct {
	Status    RenewStatus
	Cancel    bool    // an operator asked to cancel; meaningful with RenewOK
	ExpiresAt Instant // meaningful with RenewOK
}

// RenewStatus says what became of one renewal.
type RenewStatus uint8

// The answers to a renewal.
const (
	RenewOK   RenewStatus = iota + 1 // the lease was prolonged
	RenewLost                        // the lease is not, or no longer, the caller's
	RenewBusy                        // somebody holds the row; nothing is known or changed
)

// Reported answers a Report, row by row.
type Reported struct {
	At   Instant
	Rows []ReportAnswer
}

// ReportAnswer is the fate of one ReportRow.
type ReportAnswer struct {
	Status  ReportStatus
	Already EndKind // how the attempt ended; meaningful with ReportAlready
	To      State   // the state that followed; meaningful with ReportApplied
	Reason  string  // meaningful with ReportRejected
}

// ReportStatus says what became of one reported outcome.
type ReportStatus uint8

// The answers to a report.
const (
	ReportApplied  ReportStatus = iota + 1 // recorded, with all that follows from it
	ReportAlready                          // this lease's outcome was recorded before
	ReportStale                            // the fence refused it: nothing changed
	ReportBusy                             // somebody holds the row; nothing is known or changed
	ReportRejected                         // the outcome breaks a bound; report a plain failure instead
)

// Swept answers a Sweep.
type Swept struct {
	At       Instant
	Disposed []Lapse // at most Max; exactly Max means there may be more
}

// Lapse is one lease that a sweep disposed of.
type Lapse struct {
	Key       LeaseKey
	Worker    string
	Queue     string
	ExpiredAt Instant
	To        State
}

// Enqueued answers an Enqueue, row by row.
type Enqueued struct {
	At   Instant
	Rows []EnqueueAnswer
}

// EnqueueAnswer is the fate of one NewJob.
type EnqueueAnswer struct {
	Status EnqueueStatus
	Holder JobID // the live job that holds the unique key; meaningful with EnqueueHeld
}

// EnqueueStatus says what became of one enqueue.
type EnqueueStatus uint8

// The answers to an enqueue.
const (
	EnqueueAdded     EnqueueStatus = iota + 1 // the job exists from now on
	EnqueueDuplicate                          // a job of that id exists, with the same name, queue and payload
	EnqueueDiffers                            // a job of that id exists, with another name, queue or payload
	EnqueueHeld                               // a live job holds the unique key: nothing was added
	EnqueueBusy                               // the id or key sits in somebody's open transaction; ask again
)

// Done answers a Do.
type Done struct {
	At     Instant
	Result DoResult
	Repeat bool // the request id was seen before: this is the result of then
}

// DoResult says what became of an operator's command.
type DoResult uint8

// The answers to a command.
const (
	DoChanged   DoResult = iota + 1 // rows changed, and the action was audited
	DoUnchanged                     // it was so already
	DoNotFound                      // no such job
	DoRefused                       // the job's state, or another holder of its unique key, does not allow it
	DoBusy                          // somebody holds the row; ask again
)

// DecidedAt implements Reply.
func (r *Claimed) DecidedAt() Instant { return r.At }

// DecidedAt implements Reply.
func (r *Renewed) DecidedAt() Instant { return r.At }

// DecidedAt implements Reply.
func (r *Reported) DecidedAt() Instant { return r.At }

// DecidedAt implements Reply.
func (r *Swept) DecidedAt() Instant { return r.At }

// DecidedAt implements Reply.
func (r *Enqueued) DecidedAt() Instant { return r.At }

// DecidedAt implements Reply.
func (r *Done) DecidedAt() Instant { return r.At }

func (*Claimed) reply()  {}
func (*Renewed) reply()  {}
func (*Reported) reply() {}
func (*Swept) reply()    {}
func (*Enqueued) reply() {}
func (*Done) reply()     {}
