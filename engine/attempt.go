package engine

import (
	"context"
	"sync/atomic"

	"backwave/engine/pump"
	"backwave/store"
)

// attempt is a handler that has not returned. What it has to tell is posted to
// its host's mailbox.
type attempt struct {
	host  *host
	lease store.Lease
	ctx   context.Context // of the handler
	end   context.CancelCauseFunc
	res   Result      // once it has returned
	over  atomic.Bool // it has; its pump may have ended before
}

var _ Listener = (*attempt)(nil)

// Start implements Surroundings.
func (h *host) Start(l store.Lease) {
	ctx, end := context.WithCancelCause(h.handlers)
	a := &attempt{host: h, lease: l, ctx: ctx, end: end}
	h.attempts[l.Key] = a
	h.crew.add(a)
}

// work runs the handler of a.
func (h *host) work(a *attempt) {
	h.runner.Run(a.ctx, a.lease, h.worker, h.cfg.LeaseDuration, a)
}

// Progressed implements Listener.
func (a *attempt) Progressed(fetch func() []byte) {
	a.host.tell(func(h *host) {
		if !h.closing {
			h.shell.Progressed(a.lease.Key, fetch())
		}
	})
}

// Completing implements Listener.
func (a *attempt) Completing() {
	noted := make(chan struct{})
	a.host.tell(func(h *host) {
		defer close(noted)
		if !h.closing {
			h.shell.Completing(a.lease.Key)
		}
	})
	select {
	case <-noted:
	case <-a.host.box.over: // nothing is renewed any more
	}
}

// Completed implements Listener.
func (a *attempt) Completed(c store.Completion) {
	a.host.tell(func(h *host) {
		if !h.closing {
			h.shell.Completed(a.lease.Key, c)
		}
	})
}

// Done implements Listener.
func (a *attempt) Done(r Result) {
	a.res = r
	a.over.Store(true)
	a.host.box.post(a)
}

// open implements letter: the handler has returned.
func (a *attempt) open(h *host) {
	a.end(context.Canceled)
	delete(h.attempts, a.lease.Key)
	if !h.closing {
		h.shell.Returned(a.lease.Key, a.res)
	}
}

// Cancel implements Surroundings.
func (h *host) Cancel(key store.LeaseKey, why pump.Reason) {
	if a, ok := h.attempts[key]; ok {
		a.end(Cause(why))
	}
}
