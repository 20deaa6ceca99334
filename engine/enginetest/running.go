package enginetest

import (
	"backwave/engine"
	"backwave/store"
)

// running is a handler at work. What it tells is queued, in order.
type running struct {
	world *world
	lease store.Lease
	done  chan struct{}
}

var _ engine.Listener = (*running)(nil)

// Progressed implements engine.Listener.
func (r *running) Progressed(fetch func() []byte) {
	r.world.push(func() { r.world.kit.shell.Progressed(r.lease.Key, fetch()) })
}

// Completing implements engine.Listener. Time passes, and leases are renewed,
// in Take only, which hears of this first.
func (r *running) Completing() {
	r.world.push(func() { r.world.kit.shell.Completing(r.lease.Key) })
}

// Completed implements engine.Listener.
func (r *running) Completed(c store.Completion) {
	r.world.push(func() { r.world.kit.shell.Completed(r.lease.Key, c) })
}

// Done implements engine.Listener.
func (r *running) Done(res engine.Result) {
	r.world.push(func() {
		w, l := r.world, r.lease
		delete(w.cancels, l.Key)
		w.kit.runs = append(w.kit.runs, Run{ID: l.Key.Job, Name: l.Name, Queue: l.Queue, Attempt: l.Key.Attempt})
		w.kit.shell.Returned(l.Key, res)
	})
	close(r.done)
}
