package store

import (
	"errors"
	"fmt"
)

// ErrNotFound says that a store has no such job.
var ErrNotFound = errors.New("store: no such job")

// BoundError says that a value handed in is over its bound. Nothing of the
// call was carried out.
type BoundError struct {
	Field string // such as "payload of job 3"
	Got   int64
	Bound int64
	Unit  string // "bytes", "rows"
}

// Error implements error.
func (e *BoundError) Error() string {
	return fmt.Sprintf("store: %s has %d %s, at most %d are allowed", e.Field, e.Got, e.Unit, e.Bound)
}

// InvalidError says that a value handed in makes no sense. Nothing of the call
// was carried out.
type InvalidError struct {
	Field  string
	Reason string
}

// Error implements error.
func (e *InvalidError) Error() string { return fmt.Sprintf("store: %s %s", e.Field, e.Reason) }

// Fault is a class of errors of a store. Only classes that an adapter knows
// for certain to pass are transient; whatever it does not know is FaultFatal.
type Fault uint8

// The classes of faults.
const (
	FaultFatal         Fault = iota // unknown: the pump fail-stops
	FaultConnection                 // lost or refused
	FaultFailover                   // the server is read-only or changes its role
	FaultShutdown                   // the server is going down or coming up
	FaultDeadlock                   // chosen as a deadlock victim
	FaultSerialization              // serialization failure
	FaultLockTimeout                // a lock or statement timeout of the server
	FaultExhausted                  // too many connections
	FaultTimeout                    // the operation timeout of the caller
	FaultBusy                       // SQLite: another process writes
)

var faultNames = [...]string{FaultFatal: "fatal", FaultConnection: "connection", FaultFailover: "failover", FaultShutdown: "shutdown", FaultDeadlock: "deadlock", FaultSerialization: "serialization", FaultLockTimeout: "lock-timeout", FaultExhausted: "exhausted", FaultTimeout: "timeout", FaultBusy: "busy"}

// Transient reports whether a call that met f is worth repeating.
func (f Fault) Transient() bool { return f != FaultFatal && int(f) < len(faultNames) }

// String returns the name used in files, logs and pages.
func (f Fault) String() string {
	if int(f) < len(faultNames) {
		return faultNames[f]
	}
	return fmt.Sprintf("fault(%d)", f)
}

// ParseFault reads a name as String prints it.
func ParseFault(s string) (Fault, error) {
	for i, n := range faultNames {
		if n == s {
			return Fault(i), nil
		}
	}
	return 0, fmt.Errorf("store: unknown fault class %q, want one of %q", s, faultNames)
}

// TransientError is how an adapter marks an error that it knows to pass.
type TransientError struct {
	Fault Fault
	Err   error
}

// Error implements error.
func (e *TransientError) Error() string { return fmt.Sprintf("%v: %v", e.Fault, e.Err) }

// Unwrap returns the error of the driver.
func (e *TransientError) Unwrap() error { return e.Err }

// FaultOf returns the class of a store's error: FaultFatal unless the adapter
// marked it as transient.
func FaultOf(err error) Fault {
	if e, ok := errors.AsType[*TransientError](err); ok {
		return e.Fault
	}
	return FaultFatal
}

// ErrLeaseLost says that a lease is, or may be, another worker's by now. A store
// answers it to a completion inside a transaction: nothing of that transaction
// was, or can be, committed.
var ErrLeaseLost = errors.New("the lease is lost")
