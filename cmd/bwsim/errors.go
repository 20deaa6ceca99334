package main

import (
	"errors"
	"fmt"
)

// The exit codes of bwsim.
const (
	exitHeld      = 0
	exitViolated  = 1
	exitUsage     = 2 // bad usage or a bad file
	exitCannot    = 3 // could not run, or was interrupted
	exitUndecided = 4
	exitDiffers   = 5 // not deterministic
)

// exitError is how a command ends with a code other than 0.
type exitError struct {
	code int
	text string // for people; "" if everything has been said
}

// Error implements error.
func (e *exitError) Error() string { return e.text }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Sprintf(format, args...)}
}

func cannot(format string, args ...any) error {
	return &exitError{exitCannot, fmt.Sprintf(format, args...)}
}

// verdict ends a command whose output has said everything.
func verdict(code int) error {
	if code == exitHeld {
		return nil
	}
	return &exitError{code: code}
}

// fail tells what went wrong, and returns the exit code for it. What did not
// come from a command of ours is the command line's parser's: bad usage.
func (s *screen) fail(err error) int {
	if err == nil {
		return exitHeld
	}
	code := exitUsage
	if e, ok := errors.AsType[*exitError](err); ok {
		code = e.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(s.err, "bwsim: %s\n", text)
	}
	return code
}
