package bubble

import (
	"context"
	"errors"

	"backwave/history"
	"backwave/store"
)

var errDown = &store.TransientError{Fault: store.FaultConnection, Err: errors.New("the process is gone")}

// wire is the store as one process, or the people, see it: above is the
// recorder, beneath it the network.
type wire struct {
	p   *process // nil: people
	rec *history.Recorder
}

var (
	_ store.Leaser   = (*wire)(nil)
	_ store.Enqueuer = (*wire)(nil)
	_ store.Hinter   = (*wire)(nil)
)

// newWire returns the store of a process.
func newWire(p *process) *wire {
	return &wire{p, history.NewRecorder(&network{w: p.w, p: p}, &sink{p.w, uint64(p.number) << 32}, p.n.spec.Name, p.w.time)}
}

// newPeople returns the store of clients and operators.
func newPeople(w *world) *wire {
	return &wire{nil, history.NewRecorder(&network{w: w}, &sink{w, 0}, "people", w.time)}
}

// Claim implements store.Leaser.
func (x *wire) Claim(ctx context.Context, q *store.Claim) (*store.Claimed, error) {
	return through(ctx, x, q, x.rec.Claim)
}

// Renew implements store.Leaser.
func (x *wire) Renew(ctx context.Context, q *store.Renew) (*store.Renewed, error) {
	return through(ctx, x, q, x.rec.Renew)
}

// Report implements store.Leaser.
func (x *wire) Report(ctx context.Context, q *store.Report) (*store.Reported, error) {
	return through(ctx, x, q, x.rec.Report)
}

// Sweep implements store.Leaser.
func (x *wire) Sweep(ctx context.Context, q *store.Sweep) (*store.Swept, error) {
	return through(ctx, x, q, x.rec.Sweep)
}

// Enqueue implements store.Enqueuer.
func (x *wire) Enqueue(ctx context.Context, q *store.Enqueue) (*store.Enqueued, error) {
	return through(ctx, x, q, x.rec.Enqueue)
}

// Do implements store.Operator.
func (x *wire) Do(ctx context.Context, q *store.Do) (*store.Done, error) {
	return through(ctx, x, q, x.rec.Do)
}

// Hints implements store.Hinter.
func (x *wire) Hints(hint func(queue string)) (stop func()) {
	w := x.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	x.p.hint = hint
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		x.p.hint = nil
	}
}

// through carries one call. The recorder gets a copy of the request, whose
// address is then a name for this one send. What a process has sent before its
// crash goes on; what it sends after that nobody knows of.
func through[Q any, P any](ctx context.Context, x *wire, q *Q, send func(context.Context, *Q) (*P, error)) (*P, error) {
	if x.p != nil {
		x.p.n.stand()
		if x.p.dead() {
			return nil, errDown
		}
	}
	c := *q
	reply, err := send(ctx, &c)
	if x.p != nil && x.p.dead() {
		return nil, errDown
	}
	return reply, err
}

// sink numbers the calls of one recorder apart from those of all others.
type sink struct {
	w    *world
	base uint64
}

// Sent implements history.Sink.
func (s *sink) Sent(at int64, call uint64, client string, req store.Request) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.ids[req] = s.base + call
	s.w.log.Sent(at, s.base+call, client, req)
}

// Answered implements history.Sink.
func (s *sink) Answered(at int64, call uint64, reply store.Reply) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.log.Answered(at, s.base+call, reply)
}

// Failed implements history.Sink.
func (s *sink) Failed(at int64, call uint64, err error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.log.Failed(at, s.base+call, err)
}
