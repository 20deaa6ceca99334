package memory

import (
	"bytes"
	"context"
	"slices"
	"sync" //det:ok lock for goroutine users

	"backwave/store"
)

var (
	_ store.Store  = (*Locked)(nil)
	_ store.Hinter = (*Locked)(nil)
)

// Locked lets many goroutines use one Store, each call at once and alone. What
// it hands out is the caller's to change; what it is handed stays the store's.
// A call whose context has ended is refused with store.FaultTimeout and does
// nothing.
type Locked struct {
	mu    sync.Mutex
	s     *Store
	hints []*hinter // replaced, never written, so that it can be walked unlocked
}

type hinter struct{ hint func(queue string) }

// NewLocked wraps s, which the caller must not use any more while goroutines
// may use the result.
func NewLocked(s *Store) *Locked { return &Locked{s: s} }

// Claim implements store.Leaser.
func (l *Locked) Claim(ctx context.Context, r *store.Claim) (*store.Claimed, error) {
	out, err := apply[*store.Claimed](ctx, l, r)
	if err != nil {
		return nil, err
	}
	for i := range out.Leases {
		out.Leases[i].Payload = bytes.Clone(out.Leases[i].Payload)
	}
	return out, nil
}

// Renew implements store.Leaser.
func (l *Locked) Renew(ctx context.Context, r *store.Renew) (*store.Renewed, error) {
	return apply[*store.Renewed](ctx, l, r)
}

// Report implements store.Leaser.
func (l *Locked) Report(ctx context.Context, r *store.Report) (*store.Reported, error) {
	return apply[*store.Reported](ctx, l, r)
}

// Sweep implements store.Leaser.
func (l *Locked) Sweep(ctx context.Context, r *store.Sweep) (*store.Swept, error) {
	return apply[*store.Swept](ctx, l, r)
}

// Enqueue implements store.Enqueuer.
func (l *Locked) Enqueue(ctx context.Context, r *store.Enqueue) (*store.Enqueued, error) {
	return apply[*store.Enqueued](ctx, l, r)
}

// Do implements store.Operator.
func (l *Locked) Do(ctx context.Context, r *store.Do) (*store.Done, error) {
	return apply[*store.Done](ctx, l, r)
}

// Job implements store.Reader.
func (l *Locked) Job(ctx context.Context, id store.JobID) (*store.Job, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	j, ok := l.s.Lookup(id)
	if !ok {
		return nil, store.ErrNotFound
	}
	return snapshot(j), nil
}

// Jobs implements store.Reader. It looks at every job of the store.
func (l *Locked) Jobs(ctx context.Context, queue string, states []store.State, limit int) ([]*store.Job, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*store.Job
	for i := range l.s.rows {
		if len(out) >= limit {
			break
		}
		j := &l.s.rows[i]
		if j.Queue == queue && (len(states) == 0 || slices.Contains(states, j.State)) {
			out = append(out, snapshot(j))
		}
	}
	return out, nil
}

// Unfinished implements store.Reader. It is cheap enough to be polled.
func (l *Locked) Unfinished(ctx context.Context, queues []string) (int, error) {
	if err := ended(ctx); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for i, name := range queues {
		q, ok := l.s.queueOf[name]
		if ok && !slices.Contains(queues[:i], name) {
			n += len(l.s.queues[q].waiting) + len(l.s.queues[q].leased)
		}
	}
	return n, nil
}

// Audits returns the recorded actions of operators, oldest first.
func (l *Locked) Audits() []store.Audit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.s.Audits()
}

// Hints implements store.Hinter. A call of hint may still be under way when
// stop returns.
func (l *Locked) Hints(hint func(queue string)) (stop func()) {
	h := &hinter{hint}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hints = append(slices.Clip(l.hints), h)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.hints = slices.DeleteFunc(slices.Clone(l.hints), func(o *hinter) bool { return o == h })
	}
}

// apply carries out one call and then, outside the lock, gives the hints that
// follow from it.
func apply[R store.Reply](ctx context.Context, l *Locked, req store.Request) (none R, _ error) {
	if err := ended(ctx); err != nil {
		return none, err
	}
	l.mu.Lock()
	reply, err := l.s.Apply(req)
	if err != nil {
		l.mu.Unlock()
		return none, err
	}
	hints, woken := l.hints, []string(nil)
	if len(hints) > 0 {
		woken = l.s.woken(req, reply.DecidedAt())
	}
	l.mu.Unlock()
	for _, queue := range woken {
		for _, h := range hints {
			h.hint(queue)
		}
	}
	return reply.(R), nil
}

// woken lists the queues in which the last Apply made work due.
func (s *Store) woken(req store.Request, now store.Instant) (queues []string) {
	if do, ok := req.(*store.Do); ok {
		if resume, ok := do.Command.(store.Resume); ok {
			return []string{resume.Queue}
		}
	}
	for i := range s.changes {
		j := &s.changes[i].After
		if j.State == store.Scheduled && j.Due <= now && !slices.Contains(queues, j.Queue) {
			queues = append(queues, j.Queue)
		}
	}
	return queues
}

// ended refuses a call nobody waits for any more.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &store.TransientError{Fault: store.FaultTimeout, Err: err}
	}
	return nil
}

func snapshot(j *store.Job) *store.Job {
	c := *j
	c.Payload, c.Output, c.Progress = bytes.Clone(j.Payload), bytes.Clone(j.Output), bytes.Clone(j.Progress)
	c.Ends = slices.Clone(j.Ends)
	return &c
}
