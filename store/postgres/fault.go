package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"backwave/store"
)

// faults is the class of each SQLSTATE that is known to pass. What is not here,
// by its code or by the two characters of its class, is fatal.
var faults = map[string]store.Fault{
	"08":    store.FaultConnection, // connection exceptions of all kinds
	"25006": store.FaultFailover,   // read-only transaction: a standby, or a primary no longer
	"25P03": store.FaultTimeout,    // idle in transaction: this process was frozen in the middle
	"40001": store.FaultSerialization,
	"40P01": store.FaultDeadlock,
	"53300": store.FaultExhausted, // too many connections
	"55P03": store.FaultLockTimeout,
	"57014": store.FaultLockTimeout, // statement timeout, or cancelled by somebody
	"57P01": store.FaultShutdown,    // terminated by an administrator
	"57P02": store.FaultShutdown,    // another backend crashed
	"57P03": store.FaultShutdown,    // starting up, or going down
	"57P05": store.FaultConnection,  // idle session timeout
}

// fault returns the class of an error of the driver.
func fault(err error) store.Fault {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		if f, ok := faults[e.Code]; ok {
			return f
		}
		return faults[e.Code[:min(2, len(e.Code))]] // FaultFatal unless a class
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return store.FaultTimeout
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return store.FaultConnection
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return store.FaultConnection
	}
	for _, lost := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, pgconn.ErrConnClosed} {
		if errors.Is(err, lost) {
			return store.FaultConnection
		}
	}
	return store.FaultFatal
}

// wrap names the operation and marks what is known to pass. Of an error of the
// server nothing else is said than its own words: not at which step of which
// protocol it came, which depends on what the connection had seen before.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && !errors.Is(err, ErrNotCommitted) {
		err = e
	}
	err = fmt.Errorf("postgres: %s: %w", op, err)
	if f := fault(err); f.Transient() {
		return &store.TransientError{Fault: f, Err: err}
	}
	return err
}

// code reports whether err is the server's error of that SQLSTATE.
func code(err error, sqlstate string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == sqlstate
}
