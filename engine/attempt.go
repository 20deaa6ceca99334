package engine

import (
	"context"

	"backwave/engine/pump"
	"backwave/store"
)

// attempt is a handler that has not returned.
type attempt struct {
	name, queue string
	end         context.CancelCauseFunc
}

// Start implements Surroundings: the handler runs in a goroutine of its own.
func (h *host) Start(l store.Lease) {
	ctx, end := context.WithCancelCause(h.handlers)
	h.attempts[l.Key] = attempt{name: l.Name, queue: l.Queue, end: end}
	progressed := func(fetch func() []byte) {
		h.box.post(func(h *host) {
			if !h.closing {
				h.shell.Progressed(l.Key, fetch())
			}
		})
	}
	done := func(r Result) {
		h.box.post(func(h *host) { h.returned(l.Key, r) })
	}
	go h.runner.Run(ctx, l, h.cfg.LeaseDuration, progressed, done)
}

func (h *host) returned(key store.LeaseKey, r Result) {
	h.attempts[key].end(context.Canceled)
	delete(h.attempts, key)
	if !h.closing {
		h.shell.Returned(key, r)
	}
}

// Cancel implements Surroundings.
func (h *host) Cancel(key store.LeaseKey, why pump.Reason) {
	if a, ok := h.attempts[key]; ok {
		a.end(Cause(why))
	}
}
