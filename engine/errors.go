package engine

import (
	"errors"
	"fmt"
	"strings"

	"backwave/engine/pump"
	"backwave/store"
)

// Why the context of a handler ended: context.Cause(ctx) is one of these.
var (
	// ErrCancelRequested says that an operator asked to cancel the job. A
	// handler that returns nil nevertheless has succeeded; anything else ends
	// the job as cancelled.
	ErrCancelRequested = errors.New("engine: the job was asked to be cancelled")
	// ErrDraining says that the process shuts down. What the handler returns
	// is not recorded; another process runs the job again.
	ErrDraining = errors.New("engine: the process shuts down")
	// ErrLeaseLost says that the attempt is, or may be, another worker's by
	// now. An error of the handler is not recorded, and a success only if the
	// store still accepts it.
	ErrLeaseLost = store.ErrLeaseLost
	// ErrHalted says that the pump of the attempt has stopped for good, after
	// a fault that it does not know. What the handler returns is not recorded.
	ErrHalted = errors.New("engine: the pump has halted")
	// ErrHandlerTimeout says that the handler ran longer than the timeout of
	// the job's name.
	ErrHandlerTimeout = errors.New("engine: the handler has timed out")
)

var (
	// ErrStarted says that an Engine was run before; it can be run only once.
	ErrStarted = errors.New("engine: Run was called before")
	// ErrDiffers says that a job of the given id exists and has another name,
	// queue or payload.
	ErrDiffers = errors.New("engine: another job has this id")

	errExpired = errors.New("engine: the operation timeout has long passed")
	errOver    = errors.New("engine: the pump is over")
	errBusy    = errors.New("engine: somebody holds the row")
	errNothing = errors.New("engine: the store gave neither a reply nor an error")
	errIgnored = fmt.Errorf("engine: the store ignores its contexts, %d calls have not returned", maxOpen)
	errExited  = errors.New("engine: the store left its goroutine (runtime.Goexit)")
)

// Cause returns the error with which a handler's context ends for why.
func Cause(why pump.Reason) error {
	switch why {
	case pump.CancelRequested:
		return ErrCancelRequested
	case pump.Draining:
		return ErrDraining
	case pump.LeaseLost:
		return ErrLeaseLost
	case pump.GroupHalted:
		return ErrHalted
	case pump.TimedOut:
		return ErrHandlerTimeout
	}
	return fmt.Errorf("engine: unknown reason %d", why)
}

// AbandonedError says that Run has returned while handlers still ran. Their
// goroutines go on until they return; nothing they do is recorded any more.
type AbandonedError struct{ Jobs []AbandonedJob }

// AbandonedJob is one attempt that was left running.
type AbandonedJob struct {
	Token  store.Token
	Name   string
	Queue  string
	Group  string
	Worker string // the identity under which its lease is held
}

// Error implements error.
func (e *AbandonedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "engine: handlers still running: %d", len(e.Jobs))
	for i, j := range e.Jobs {
		if i == 10 {
			fmt.Fprintf(&b, ", and %d more", len(e.Jobs)-i)
			break
		}
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		fmt.Fprintf(&b, "%s%v (%s)", sep, j.Token, j.Name)
	}
	return b.String()
}

// StorePanicError says that a store panicked in a call.
type StorePanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (e *StorePanicError) Error() string { return "the store panicked: " + safeText(e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *StorePanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// undecodableError marks a payload that its handler's codec cannot read.
type undecodableError struct{ err error }

func (e *undecodableError) Error() string { return "payload: " + safeText(e.err) }
func (e *undecodableError) Unwrap() error { return e.err }
