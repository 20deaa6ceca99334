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
// or a store that hangs would hold ever more goroutines.
func (h *host) Call(op pump.Op, req store.Request) {
	if h.closing {
		return
	}
	h.open++
	ctx, cancel := clockx.WithTimeout(h.calls, h.clock, 2*h.cfg.OperationTimeout, errExpired)
	go func() {
		reply, err := store.Reply(nil), errExited
		defer func() {
			cancel()
			h.box.post(func(h *host) { h.answered(op, reply, err) })
		}()
		reply, err = call(ctx, h.store, req)
	}()
}

func (h *host) answered(op pump.Op, reply store.Reply, err error) {
	h.open--
	if h.closing {
		return
	}
	if e, ok := errors.AsType[*StorePanicError](err); ok {
		h.stack = e.Stack
	}
	h.shell.Answered(op, reply, err)
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
		reply, err = s.Claim(ctx, r)
	case *store.Renew:
		reply, err = s.Renew(ctx, r)
	case *store.Report:
		reply, err = s.Report(ctx, r)
	case *store.Sweep:
		reply, err = s.Sweep(ctx, r)
	case *store.Enqueue, *store.Do:
		return nil, fmt.Errorf("engine: a pump must not send a %T", req)
	}
	return reply, expired(ctx, err)
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
