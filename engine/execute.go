package engine

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"backwave/store"
)

// Runner runs handlers for whoever surrounds a Shell: this package's Engine,
// the kit for tests, or a simulator.
type Runner struct{ mux *Mux }

// NewRunner returns a Runner of the handlers in m as they are now, or an error
// that lists every mistake made in filling m.
func NewRunner(m *Mux) (*Runner, error) {
	if m == nil {
		return nil, errors.New("field Mux is nil, want the handlers")
	}
	r, err := m.resolved()
	if err != nil {
		return nil, err
	}
	return &Runner{r}, nil
}

// Run runs the handler of l in the calling goroutine. It calls done exactly
// once, when the handler has returned, panicked or left its goroutine; in the
// last case Run does not return. lease is the length of the lease, and
// progressed is told, by any goroutine, that the job returned by its argument
// has made progress; it may be nil.
func (r *Runner) Run(ctx context.Context, l store.Lease, lease time.Duration, progressed func(fetch func() []byte), done func(Result)) {
	h, ok := r.mux.handlers[l.Name]
	if !ok {
		done(Result{Unknown: true})
		return
	}
	job := &RawJob{ID: l.Key.Job, Name: l.Name, Queue: l.Queue, Attempt: l.Key.Attempt, Payload: l.Payload, Lease: lease}
	if progressed != nil {
		job.tell = func() { progressed(job.fetchProgress) }
	}
	res := Result{Exited: true}
	defer func() {
		if v := recover(); v != nil {
			res = Result{Panicked: true, Panic: v, Stack: debug.Stack()}
		}
		done(res)
	}()
	err := h(ctx, job)
	res = Result{Err: err, Output: job.fetchOutput()}
	if e, ok := errors.AsType[*undecodableError](err); ok {
		res = Result{Undecodable: e}
	}
}
