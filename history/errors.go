package history

import (
	"errors"
	"fmt"
)

// errNoReply stands in a history for an answer that was neither a reply nor an
// error.
var errNoReply = errors.New("history: the store gave neither a reply nor an error")

// ErrEmpty says that a file has no header line.
var ErrEmpty = errors.New("history: the file is empty, want a header line")

// LineError says which line of a file is wrong, and what was expected there.
type LineError struct {
	Line int    // from 1
	Want string // what was expected
	Text string // the line, cut to a readable length
	Err  error  // why it is not that; may be nil
}

// Error implements error.
func (e *LineError) Error() string {
	s := fmt.Sprintf("history: line %d: want %s, got %q", e.Line, e.Want, e.Text)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }
