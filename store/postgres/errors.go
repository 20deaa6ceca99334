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

// SchemaError says that the schema is not of the version this program needs.
type SchemaError struct {
	Schema string
	Have   int // 0: there is none
	Want   int
}

// Error implements error.
func (e *SchemaError) Error() string {
	switch {
	case e.Have == 0:
		return fmt.Sprintf("schema %q has no tables of ours: migrate it first", e.Schema)
	case e.Have > e.Want:
		return fmt.Sprintf("schema %q has version %d, this program knows versions up to %d: update the program", e.Schema, e.Have, e.Want)
	}
	return fmt.Sprintf("schema %q has version %d, this program needs %d: migrate it first", e.Schema, e.Have, e.Want)
}
