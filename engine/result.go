package engine

import (
	"errors"
	"fmt"
	"time"

	"backwave/store"
)

// Result is how a handler ended, as its surroundings saw it. The zero value is
// a plain success.
type Result struct {
	Err         error  // what it returned
	Panicked    bool   // it panicked with Panic
	Panic       any    // may be nil
	Stack       []byte // of the panic
	Exited      bool   // it left its goroutine (runtime.Goexit)
	Unknown     bool   // the node has no handler of the job's name
	Undecodable error  // the payload could not be read
	Output      []byte // what it set; at most store.MaxOutput bytes
}

// Outcome turns r into what is reported.
func (r Result) Outcome() store.Outcome {
	switch {
	case r.Unknown:
		return store.UnknownName{}
	case r.Undecodable != nil:
		return store.Undecodable{Error: failureText(r.Undecodable)}
	case r.Panicked:
		return store.Failure{Error: clean(fmt.Sprintf("panic: %s\n%s", safeText(r.Panic), r.Stack))}
	case r.Exited:
		return store.Failure{Error: "the handler left its goroutine (runtime.Goexit)"}
	case r.Err == nil:
		return store.Success{Output: r.Output}
	}
	if e, ok := errors.AsType[*snoozeError](r.Err); ok {
		return store.Snooze{Delay: e.after}
	}
	if e, ok := errors.AsType[*discardError](r.Err); ok {
		return store.Discard{Error: failureText(e.err)}
	}
	if e, ok := errors.AsType[*retryError](r.Err); ok {
		return store.Failure{Error: failureText(e.err), HasRetryAfter: true, RetryAfter: e.after}
	}
	return store.Failure{Error: failureText(r.Err)}
}

// Discard wraps err so that the job is dead-lettered at once, whatever is left
// of its attempts. A nil err stands for an error without text.
func Discard(err error) error { return &discardError{err} }

// RetryAfter wraps err so that the job is tried again after d, instead of the
// delay of its retry policy, if it has attempts left. d is moved into
// [0, store.MaxDuration].
func RetryAfter(d time.Duration, err error) error {
	return &retryError{err, store.ClampDuration(d)}
}

// Snooze returns an error that puts the job off by d without using up an
// attempt. d is moved into [store.MinSnooze, store.MaxDuration].
func Snooze(d time.Duration) error {
	return &snoozeError{max(store.MinSnooze, store.ClampDuration(d))}
}

type discardError struct{ err error }

func (e *discardError) Error() string { return "discard: " + safeText(e.err) }
func (e *discardError) Unwrap() error { return e.err }

type retryError struct {
	err   error
	after time.Duration
}

func (e *retryError) Error() string {
	return fmt.Sprintf("retry after %v: %s", e.after, safeText(e.err))
}
func (e *retryError) Unwrap() error { return e.err }

type snoozeError struct{ after time.Duration }

func (e *snoozeError) Error() string { return fmt.Sprintf("snooze for %v", e.after) }

func failureText(err error) string { return clean(safeText(err)) }

func clean(s string) string { return store.CleanText(s, store.MaxError) }

// safeText prints v even if its methods panic: nobody's error value may take a
// pump down.
func safeText(v any) (s string) {
	defer func() {
		if recover() != nil {
			s = fmt.Sprintf("(a %T that panics when printed)", v)
		}
	}()
	switch v := v.(type) {
	case nil:
		return "nil"
	case error:
		return v.Error()
	case string:
		return v
	}
	return fmt.Sprintf("%v", v)
}

// innermostType names the type of the error at the bottom of err's chain: what
// an operator can look up, not the wrapping around it.
func innermostType(err error) string {
	for {
		var next error
		switch e := err.(type) { //nolint:errorlint // walks the chain itself
		case interface{ Unwrap() error }:
			next = e.Unwrap()
		case interface{ Unwrap() []error }:
			if list := e.Unwrap(); len(list) > 0 {
				next = list[0]
			}
		}
		if next == nil {
			return fmt.Sprintf("%T", err)
		}
		err = next
	}
}
