package postgres

import (
	"errors"
	"fmt"
)

// ErrSavepoint refuses a completion inside a savepoint, whose rollback could
// undo it while the rest of the transaction commits. Nothing was changed.
var ErrSavepoint = errors.New("postgres: a completion must be outside of savepoints")

// ErrNotCommitted says that the commit after a completion failed for certain:
// nothing of the transaction happened.
var ErrNotCommitted = errors.New("postgres: the transaction was rolled back")

// SchemaError says that the program cannot work with the schema: it is older
// than SchemaVersion, or a newer one that has left this version behind.
type SchemaError struct {
	Schema string
	Have   int // version of the schema; 0: there is none
	Want   int // SchemaVersion
	Needs  int // the oldest SchemaVersion that can work with the schema
}

// Error implements error.
func (e *SchemaError) Error() string {
	switch {
	case e.Have == 0:
		return fmt.Sprintf("schema %q has no tables of ours: migrate it first", e.Schema)
	case e.Needs > e.Want:
		return fmt.Sprintf("schema %q has version %d, which programs of version %d and later work with, and this one is of version %d: update the program", e.Schema, e.Have, e.Needs, e.Want)
	}
	return fmt.Sprintf("schema %q has version %d, this program needs %d: migrate it first", e.Schema, e.Have, e.Want)
}

// PoolError says that a pool has too few connections for what is to use it.
type PoolError struct {
	Have, Want int // connections
	Pumps      int // as in Config
	Completing int
}

// Error implements error.
func (e *PoolError) Error() string {
	return fmt.Sprintf("the pool has at most %d connections, but %d pumps and %d handlers in InTx need %d: set pool_max_conns=%[4]d", e.Have, e.Pumps, e.Completing, e.Want)
}

// IsolationError says that the sessions of a pool begin transactions on another
// level than READ COMMITTED, on which the store's statements would decide by
// what is no longer true.
type IsolationError struct{ Have string }

// Error implements error.
func (e *IsolationError) Error() string {
	return fmt.Sprintf("sessions have default_transaction_isolation %q: it must be %q, by the pool's RuntimeParams or by ALTER ROLE", e.Have, isolation)
}
