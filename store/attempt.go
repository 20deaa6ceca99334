package store

import "time"

// Attempt is a running attempt as a store needs it to record its success inside
// a transaction of the handler. engine.RawJob and engine.Job implement it.
type Attempt interface {
	Key() LeaseKey
	Worker() string
	LeaseDuration() time.Duration
	Output() []byte // what the handler has set so far
	// Completing tells the engine that the statement which records the success
	// is about to be sent. From now on the engine neither renews the lease nor
	// ends the handler's context because of it.
	Completing()
	// Completed tells how the transaction ended.
	Completed(Completion)
}

// Completion says how the transaction around a completion ended.
type Completion uint8

// The ways such a transaction can end.
const (
	CompletionCommitted  Completion = iota + 1 // the success is recorded
	CompletionRolledBack                       // nothing is recorded: the attempt goes on
	CompletionUnknown                          // the commit was not answered
)
