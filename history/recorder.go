package history

import (
	"context"
	"sync" //det:ok a Recorder serves real clients; no simulated world makes one

	"backwave/store"
)

// Sink takes what a Recorder sees. *Log and *Writer are sinks.
type Sink interface {
	Sent(at int64, call uint64, client string, req store.Request)
	Answered(at int64, call uint64, reply store.Reply)
	Failed(at int64, call uint64, err error)
}

// Recorder is a store that notes every call on another one: when it was sent,
// and what came back. Reads of single jobs and lists pass through unrecorded.
// It is safe for goroutines, and so is its use of the sink.
type Recorder struct {
	store.Store // what is recorded; Reader's methods go straight to it

	client string
	now    func() int64

	mu   sync.Mutex // guards what is below and orders the records
	sink Sink
	call uint64
}

var (
	_ store.Store  = (*Recorder)(nil)
	_ store.Hinter = (*Recorder)(nil)
)

// NewRecorder returns a Recorder of s. client names the caller of sweeps,
// enqueues and commands, which carry no worker; now gives the time of a record
// in nanoseconds and is called under a lock.
func NewRecorder(s store.Store, sink Sink, client string, now func() int64) *Recorder {
	return &Recorder{Store: s, sink: sink, client: client, now: now}
}

// Claim implements store.Leaser.
func (r *Recorder) Claim(ctx context.Context, q *store.Claim) (*store.Claimed, error) {
	return record(ctx, r, q.Worker, q, r.Store.Claim)
}

// Renew implements store.Leaser.
func (r *Recorder) Renew(ctx context.Context, q *store.Renew) (*store.Renewed, error) {
	return record(ctx, r, q.Worker, q, r.Store.Renew)
}

// Report implements store.Leaser.
func (r *Recorder) Report(ctx context.Context, q *store.Report) (*store.Reported, error) {
	return record(ctx, r, q.Worker, q, r.Store.Report)
}

// Sweep implements store.Leaser.
func (r *Recorder) Sweep(ctx context.Context, q *store.Sweep) (*store.Swept, error) {
	return record(ctx, r, r.client, q, r.Store.Sweep)
}

// Enqueue implements store.Enqueuer.
func (r *Recorder) Enqueue(ctx context.Context, q *store.Enqueue) (*store.Enqueued, error) {
	return record(ctx, r, r.client, q, r.Store.Enqueue)
}

// Do implements store.Operator.
func (r *Recorder) Do(ctx context.Context, q *store.Do) (*store.Done, error) {
	return record(ctx, r, r.client, q, r.Store.Do)
}

// Hints implements store.Hinter. Hints are no calls, and are not recorded; there
// are none if the store beneath gives none.
func (r *Recorder) Hints(hint func(queue string)) (stop func()) {
	if h, ok := r.Store.(store.Hinter); ok {
		return h.Hints(hint)
	}
	return func() {}
}

func (r *Recorder) sent(client string, req store.Request) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.call++
	r.sink.Sent(r.now(), r.call, client, req)
	return r.call
}

// record notes one call around f. A nil answer without an error counts as an
// error, so that a broken store cannot break its recorder.
func record[Q store.Request, P interface {
	store.Reply
	comparable
}](ctx context.Context, r *Recorder, client string, q Q, f func(context.Context, Q) (P, error)) (P, error) {
	call := r.sent(client, q)
	reply, err := f(ctx, q)
	r.mu.Lock()
	defer r.mu.Unlock()
	var none P
	switch {
	case err != nil:
		r.sink.Failed(r.now(), call, err)
	case reply == none:
		r.sink.Failed(r.now(), call, errNoReply)
	default:
		r.sink.Answered(r.now(), call, reply)
	}
	return reply, err
}
