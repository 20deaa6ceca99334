package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"backwave/history"
)

// recordUsage is the help of the flag that several commands have.
const recordUsage = "record every call on the store in the new `FILE`, for bwsim check"

// recording is the file that takes the calls of this process. What cannot be
// written is said once, at once, and does not keep the worker from its work.
type recording struct {
	log *slog.Logger

	mu   sync.Mutex
	file *os.File
	over bool
	err  error
}

// record makes st note its calls in a new file; it does nothing if name is
// empty. end, which comes after the last call, says whether all of them are
// there. A file that exists is refused: it may be the only trace of a fault.
func (st *opened) record(name string, log *slog.Logger) (end func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // payloads are in it
	if err != nil {
		return nil, usageError("--record: %w", err)
	}
	r := &recording{log: log, file: file}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	client := fmt.Sprintf("bwworker %s/%d", host, os.Getpid())
	st.Store = history.NewRecorder(st.Store, history.NewWriter(r).Flushed(), client, neverBack(time.Now))
	return r.end, nil
}

// neverBack reads a wall clock, which may be set back: in one file a call must
// not seem to be answered before it was sent. It is not safe for goroutines; a
// Recorder calls it under its lock.
func neverBack(now func() time.Time) func() int64 {
	var last int64
	return func() int64 {
		last = max(last, now().UnixNano())
		return last
	}
}

// Write implements io.Writer.
func (r *recording) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return 0, os.ErrClosed // by a handler that was left running
	}
	n, err := r.file.Write(p)
	if err != nil {
		r.err = err // the Writer does not come again
		r.log.Error("the recording ends here", "err", err)
	}
	return n, err
}

func (r *recording) end() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if err := errors.Join(r.err, r.file.Close()); err != nil {
		return fmt.Errorf("bwworker: --record: %w", err)
	}
	return nil
}

// orLost is err, or worse if calls were not recorded.
func orLost(err, lost error) error {
	if lost == nil {
		return err
	}
	code := exitFailed
	if e, ok := errors.AsType[*exitError](err); ok {
		code, err = max(code, e.code), e.err
	}
	return &exitError{code, errors.Join(err, lost)}
}
