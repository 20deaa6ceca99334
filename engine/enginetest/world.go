package enginetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"backwave/engine"
	"backwave/engine/pump"
	"backwave/store"
)

// world is the surroundings of the kit's shell: what the shell wants is
// queued, and done one by one in the goroutine of the test.
type world struct {
	kit     *Kit
	runner  *engine.Runner
	lease   time.Duration
	start   time.Time
	now     pump.Time
	wake    pump.Time
	cancels map[store.LeaseKey]context.CancelCauseFunc

	mu   sync.Mutex // handlers may tell of progress from goroutines of their own
	todo []func()
}

type worldKey struct{}

func newWorld(k *Kit, r *engine.Runner, lease time.Duration, start time.Time) *world {
	return &world{kit: k, runner: r, lease: lease, start: start, wake: pump.Never, cancels: map[store.LeaseKey]context.CancelCauseFunc{}}
}

func (w *world) time() time.Time { return w.start.Add(time.Duration(w.now)) }

func (w *world) push(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.todo = append(w.todo, f)
}

// settle does what is queued until nothing is left to do at this instant.
func (w *world) settle() {
	for {
		w.mu.Lock()
		if len(w.todo) == 0 {
			w.mu.Unlock()
			return
		}
		f := w.todo[0]
		w.todo = w.todo[1:]
		w.mu.Unlock()
		f()
	}
}

// pass lets d pass, step by step, or until ctx ends.
func (w *world) pass(ctx context.Context, d time.Duration) {
	w.settle() // what the handler has told so far
	until := w.now.Add(max(0, d))
	for ctx.Err() == nil && w.wake <= until {
		w.now = max(w.now, w.wake)
		w.kit.shell.Woken()
		w.settle()
	}
	if ctx.Err() == nil {
		w.now = until
	}
	w.kit.clock.Set(w.time())
}

// handlerTime makes the same time that of engine.Now and engine.Sleep.
type handlerTime struct{ w *world }

// Now implements engine.Time.
func (h handlerTime) Now() time.Time { return h.w.time() }

// Sleep implements engine.Time.
func (h handlerTime) Sleep(ctx context.Context, d time.Duration) error {
	h.w.pass(ctx, d)
	return context.Cause(ctx)
}

// storeClock makes the same time that of the memory store.
type storeClock struct{ w *world }

// Now implements memory.Clock.
func (c storeClock) Now() store.Instant { return store.At(c.w.time()) }

// Now implements engine.Surroundings.
func (w *world) Now() pump.Time { return w.now }

// Wake implements engine.Surroundings.
func (w *world) Wake(at pump.Time) { w.wake = at }

// Call implements engine.Surroundings.
func (w *world) Call(op pump.Op, req store.Request) {
	w.push(func() {
		reply, err := w.call(req)
		w.kit.shell.Answered(op, reply, err)
	})
}

func (w *world) call(req store.Request) (store.Reply, error) {
	ctx := context.Background()
	switch r := req.(type) {
	case *store.Claim:
		return w.kit.store.Claim(ctx, r)
	case *store.Renew:
		return w.kit.store.Renew(ctx, r)
	case *store.Report:
		return w.kit.store.Report(ctx, r)
	case *store.Sweep:
		return w.kit.store.Sweep(ctx, r)
	case *store.Enqueue, *store.Do:
	}
	return nil, fmt.Errorf("enginetest: a pump must not send a %T", req)
}

// Start implements engine.Surroundings. The handler has a goroutine of its own,
// which it may leave, but nothing else happens while it runs.
func (w *world) Start(l store.Lease) {
	w.push(func() {
		ctx, cancel := context.WithCancelCause(engine.WithTime(context.WithValue(context.Background(), worldKey{}, w), handlerTime{w}))
		w.cancels[l.Key] = cancel
		r := &running{world: w, lease: l, done: make(chan struct{})}
		go w.runner.Run(ctx, l, w.kit.shell.Worker(), w.lease, r)
		<-r.done
		cancel(context.Canceled)
	})
}

// Cancel implements engine.Surroundings.
func (w *world) Cancel(key store.LeaseKey, why pump.Reason) {
	if cancel, ok := w.cancels[key]; ok {
		cancel(engine.Cause(why))
	}
}

// Note implements engine.Surroundings.
func (w *world) Note(a pump.Action) {
	if h, ok := a.(pump.Halted); ok {
		w.kit.tb.Errorf("enginetest: the pump halted: %v", h.Cause)
	}
}
