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

// Listener hears of one attempt that a Runner runs. All but Done may be called
// by any goroutine, several at once, and by one that outlives the handler.
type Listener interface {
	Progressed(fetch func() []byte) // it made progress: what fetch returns, by any goroutine, when it is called
	Completing()                    // it completes in a transaction; to be told to the shell before it returns, or before the shell hears anything else
	Completed(c store.Completion)   // how that ended
	Done(r Result)                  // the handler has returned, panicked or left its goroutine
}

// Run runs the handler of l in the calling goroutine. It calls to.Done exactly
// once; if the handler leaves its goroutine, Run does not return. worker is the
// identity of the pump in the store, and lease the length of the lease.
func (r *Runner) Run(ctx context.Context, l store.Lease, worker string, lease time.Duration, to Listener) {
	h, ok := r.mux.handlers[l.Name]
	if !ok {
		to.Done(Result{Unknown: true})
		return
	}
	job := &RawJob{
		ID: l.Key.Job, Name: l.Name, Queue: l.Queue, Attempt: l.Key.Attempt, Payload: l.Payload, Lease: lease,
		claim: l.Key.Claim, worker: worker, to: to,
	}
	res := Result{Exited: true}
	defer func() {
		if v := recover(); v != nil {
			res = Result{Panicked: true, Panic: v, Stack: debug.Stack()}
		}
		to.Done(res)
	}()
	err := h(ctx, job)
	res = Result{Err: err, Output: job.Output()}
	if e, ok := errors.AsType[*undecodableError](err); ok {
		res = Result{Undecodable: e}
	}
}
