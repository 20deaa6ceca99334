package store

import "time"

// Outcome is what a worker reports of an attempt it holds. Only this package
// can add to it.
//
//sumtype:decl
type Outcome interface {
	// Kind is the end that a store records when it accepts the outcome.
	Kind() EndKind
	outcome()
}

// Success ends the job.
type Success struct {
	Output []byte // at most MaxOutput bytes; nil for none
}

// Failure is tried again after the delay of its terms, or dead-lettered when
// the ceiling of its terms is reached.
type Failure struct {
	Error         string
	HasRetryAfter bool          // RetryAfter replaces the delay of the terms
	RetryAfter    time.Duration // clamped to [0, MaxDuration]
}

// Discard is a failure that is never tried again.
type Discard struct{ Error string }

// Snooze puts the job off; the attempt does not count towards the ceiling.
type Snooze struct {
	Delay time.Duration // moved into [1s, MaxDuration]
}

// Released gives the lease back: the job is due again at once and the attempt
// does not count towards the ceiling.
type Released struct{}

// UnknownName says that the node has no handler of the job's name. The job is
// put off, and quarantined once UnknownNameGrace attempts of its life have
// ended so.
type UnknownName struct{}

// Undecodable quarantines a job whose payload, or whose row, cannot be read.
type Undecodable struct{ Error string }

// Kind implements Outcome.
func (Success) Kind() EndKind { return EndSuccess }

// Kind implements Outcome.
func (Failure) Kind() EndKind { return EndFailure }

// Kind implements Outcome.
func (Discard) Kind() EndKind { return EndDiscard }

// Kind implements Outcome.
func (Snooze) Kind() EndKind { return EndSnooze }

// Kind implements Outcome.
func (Released) Kind() EndKind { return EndRelease }

// Kind implements Outcome.
func (UnknownName) Kind() EndKind { return EndUnknownName }

// Kind implements Outcome.
func (Undecodable) Kind() EndKind { return EndUndecodable }

func (Success) outcome()     {}
func (Failure) outcome()     {}
func (Discard) outcome()     {}
func (Snooze) outcome()      {}
func (Released) outcome()    {}
func (UnknownName) outcome() {}
func (Undecodable) outcome() {}
