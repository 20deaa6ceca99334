package engine

import (
	"context"

	"backwave/engine/pump"
	"backwave/store"
)

// attempt is a handler that has not returned. What it has to tell is posted to
// its host's mailbox.
type attempt struct {
	host        *host
	key         store.LeaseKey
	name, queue string
	end         context.CancelCauseFunc
}

var _ Listener = (*attempt)(nil)

// Start implements Surroundings: the handler runs in a goroutine of its own.
func (h *host) Start(l store.Lease) {
	ctx, end := context.WithCancelCause(h.handlers)
	a := &attempt{host: h, key: l.Key, name: l.Name, queue: l.Queue, end: end}
	h.attempts[l.Key] = a
	go h.runner.Run(ctx, l, h.worker, h.cfg.LeaseDuration, a)
}

// Progressed implements Listener.
func (a *attempt) Progressed(fetch func() []byte) {
	a.host.box.post(func(h *host) {
		if !h.closing {
			h.shell.Progressed(a.key, fetch())
		}
	})
}

// Completing implements Listener.
func (a *attempt) Completing() {
	noted := make(chan struct{})
	a.host.box.post(func(h *host) {
		defer close(noted)
		if !h.closing {
			h.shell.Completing(a.key)
		}
	})
	select {
	case <-noted:
	case <-a.host.box.over: // nothing is renewed any more
	}
}

// Completed implements Listener.
func (a *attempt) Completed(c store.Completion) {
	a.host.box.post(func(h *host) {
		if !h.closing {
			h.shell.Completed(a.key, c)
		}
	})
}

// Done implements Listener.
func (a *attempt) Done(r Result) {
	a.host.box.post(func(h *host) {
		a.end(context.Canceled)
		delete(h.attempts, a.key)
		if !h.closing {
			h.shell.Returned(a.key, r)
		}
	})
}

// Cancel implements Surroundings.
func (h *host) Cancel(key store.LeaseKey, why pump.Reason) {
	if a, ok := h.attempts[key]; ok {
		a.end(Cause(why))
	}
}
