package sqlite

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"backwave/store"
)

// Result codes of SQLite, without their extensions.
const (
	codeBusy      = 5  // another connection has the lock
	codeLocked    = 6  // another statement of this process has it
	codeInterrupt = 9  // our own context
	codeProtocol  = 15 // lost a race for the WAL's locks, which is worth repeating
)

// SchemaError says that a file was migrated by a newer version of BackWave, and
// that this one cannot work with it. Nothing in it was changed.
type SchemaError struct {
	Found int // version of the tables
	Needs int // the oldest version of the program that can work with them
	Known int // SchemaVersion
}

// Error implements error.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("the file has tables of version %d, which programs of version %d and later work with, and this one is of version %d: use a newer program", e.Found, e.Needs, e.Known)
}

// errClosed answers calls after Close.
var errClosed = errors.New("the store is closed")

// wrap names the operation and marks what is known to pass. Only a busy file
// and the end of the caller's own context are: a full disk, a damaged or
// read-only file and a missing table stay until somebody does something.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	f := faultOf(err)
	err = fmt.Errorf("sqlite: %s: %w", op, err)
	if f == store.FaultFatal {
		return err
	}
	return &store.TransientError{Fault: f, Err: err}
}

func faultOf(err error) store.Fault {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return store.FaultTimeout
	}
	if t, ok := errors.AsType[*store.TransientError](err); ok {
		return t.Fault
	}
	switch code(err) {
	case codeBusy, codeLocked, codeProtocol:
		return store.FaultBusy
	case codeInterrupt:
		return store.FaultTimeout
	}
	return store.FaultFatal
}

// code returns the primary result code of SQLite in err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}
