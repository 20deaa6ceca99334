package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"backwave/clockx"
	"backwave/engine/pump"
	"backwave/store"
)

// Call implements Surroundings: the call runs in a goroutine of its own. The
// pump gives it up after the operation timeout. Its context ends only after
// twice as long, since a late answer to a claim is still of use; then it ends,
// or a store that hangs would hold ever more goroutines. Of a store that
// ignores even that, no more than maxOpen calls of a kind are waited for; until
// one of them returns, the others fail at once.
func (h *host) Call(op pump.Op, req store.Request) {
	if h.closing {
		return
	}
	kind := kindOf(req)
	if h.open[kind] >= maxOpen {
		h.tell(func(h *host) {
			if !h.closing {
				h.shell.Answered(op, nil, &store.TransientError{Fault: store.FaultTimeout, Err: errIgnored})
			}
		})
		return
	}
	h.open[kind]++
	ctx, cancel := clockx.WithTimeout(h.calls, h.clock, 2*h.cfg.OperationTimeout, errExpired)
	go func() {
		reply, err := store.Reply(nil), errExited
		defer func() {
			cancel()
			h.tell(func(h *host) {
				h.open[kind]--
				h.answered(op, reply, err)
			})
		}()
		reply, err = call(ctx, h.store, req)
	}()
}

func (h *host) answered(op pump.Op, reply store.Reply, err error) {
	if h.closing {
		return
	}
	if e, ok := err.(*StorePanicError); ok { //nolint:errorlint // as call made it; to look into a store's error may panic
		h.stack = e.Stack
	}
	h.shell.Answered(op, reply, err)
}

// unreturned counts the calls that have not returned.
func (h *host) unreturned() (n int) {
	for _, k := range h.open {
		n += k
	}
	return n
}

// kindOf returns the kind of call that sends req.
func kindOf(req store.Request) pump.Kind {
	switch req.(type) {
	case *store.Renew:
		return pump.Renewing
	case *store.Report:
		return pump.Reporting
	case *store.Claim:
		return pump.Claiming
	case *store.Sweep, *store.Enqueue, *store.Do: // the last two are refused by call
	}
	return pump.Sweeping
}

// call sends req. A panic of the store becomes an error, and an error that
// follows from the end of ctx a transient fault.
func call(ctx context.Context, s store.Leaser, req store.Request) (reply store.Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			reply, err = nil, &StorePanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	switch r := req.(type) {
	case *store.Claim:
		reply, err = given(s.Claim(ctx, r))
	case *store.Renew:
		reply, err = given(s.Renew(ctx, r))
	case *store.Report:
		reply, err = given(s.Report(ctx, r))
	case *store.Sweep:
		reply, err = given(s.Sweep(ctx, r))
	case *store.Enqueue, *store.Do:
		return nil, fmt.Errorf("engine: a pump must not send a %T", req)
	}
	return reply, expired(ctx, err)
}

// given makes a mistake of a store that gives neither a reply nor an error.
func given[R interface {
	comparable
	store.Reply
}](r R, err error) (store.Reply, error) {
	var none R
	if err == nil && r == none {
		return nil, errNothing
	}
	return r, err
}

// expired marks an error as a timeout if it comes from the end of ctx, which
// is then the engine's doing and says nothing of the store.
func expired(ctx context.Context, err error) error {
	if err == nil || store.FaultOf(err).Transient() {
		return err
	}
	ended := ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
	if ended || errors.Is(err, context.DeadlineExceeded) {
		return &store.TransientError{Fault: store.FaultTimeout, Err: err}
	}
	return err
}
