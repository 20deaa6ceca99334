package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"backwave/engine"
	"backwave/store"
	"backwave/store/memory"
)

// bubbleClock lets a memory store live in the time of a synctest bubble.
type bubbleClock struct{}

func (bubbleClock) Now() store.Instant { return store.At(time.Now()) }

// faulty is a memory store between which and its user something can go wrong.
type faulty struct {
	*memory.Locked
	mu     sync.Mutex
	before func(ctx context.Context, verb string) error // nil error: go on
	after  func(ctx context.Context, verb string) error
	calls  map[string]int
}

func newFaulty() *faulty {
	return &faulty{Locked: memory.NewLocked(memory.New(bubbleClock{})), calls: map[string]int{}}
}

// errMute makes a store answer with neither a reply nor an error.
var errMute = errors.New("mute")

// peer returns a way to the same jobs without the faults.
func (f *faulty) peer() *faulty { return &faulty{Locked: f.Locked, calls: map[string]int{}} }

// set replaces what goes wrong.
func (f *faulty) set(before, after func(ctx context.Context, verb string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func (f *faulty) count(verb string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[verb]
}

func through[Q, R any](ctx context.Context, f *faulty, verb string, q Q, call func(context.Context, Q) (R, error)) (none R, _ error) {
	f.mu.Lock()
	f.calls[verb]++
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil {
		if err := before(ctx, verb); err == errMute { //nolint:errorlint // some errors must not be looked into
			return none, nil
		} else if err != nil {
			return none, err
		}
	}
	r, err := call(ctx, q)
	if err != nil {
		return none, err
	}
	if after != nil {
		if err := after(ctx, verb); err != nil {
			return none, err
		}
	}
	return r, nil
}

func (f *faulty) Claim(ctx context.Context, q *store.Claim) (*store.Claimed, error) {
	return through(ctx, f, "claim", q, f.Locked.Claim)
}

func (f *faulty) Renew(ctx context.Context, q *store.Renew) (*store.Renewed, error) {
	return through(ctx, f, "renew", q, f.Locked.Renew)
}

func (f *faulty) Report(ctx context.Context, q *store.Report) (*store.Reported, error) {
	return through(ctx, f, "report", q, f.Locked.Report)
}

func (f *faulty) Sweep(ctx context.Context, q *store.Sweep) (*store.Swept, error) {
	return through(ctx, f, "sweep", q, f.Locked.Sweep)
}

func (f *faulty) Enqueue(ctx context.Context, q *store.Enqueue) (*store.Enqueued, error) {
	return through(ctx, f, "enqueue", q, f.Locked.Enqueue)
}

// only makes fn apply to one verb.
func only(verb string, fn func(context.Context) error) func(context.Context, string) error {
	return func(ctx context.Context, v string) error {
		if v != verb {
			return nil
		}
		return fn(ctx)
	}
}

// hang answers nothing until the caller has given up.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// journal keeps log entries.
type journal struct {
	mu      sync.Mutex
	entries []string          // level, message and attributes
	slow    func(line string) // what logging takes; nil: nothing
}

func (j *journal) Enabled(context.Context, slog.Level) bool { return true }
func (j *journal) WithGroup(string) slog.Handler            { return j }
func (j *journal) WithAttrs(attrs []slog.Attr) slog.Handler { return with{j, attrs} }
func (j *journal) Handle(_ context.Context, r slog.Record) error {
	line := fmt.Sprintf("%v %s", r.Level, r.Message)
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	if j.slow != nil {
		j.slow(line)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, line)
	return nil
}

type with struct {
	*journal
	attrs []slog.Attr
}

func (w with) Handle(ctx context.Context, r slog.Record) error {
	r.AddAttrs(w.attrs...)
	return w.journal.Handle(ctx, r)
}

// at returns the entries of a level.
func (j *journal) at(level slog.Level) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.entries), func(e string) bool { return !strings.HasPrefix(e, level.String()+" ") })
}

// world is an engine in a bubble.
type world struct {
	t      *testing.T
	store  *faulty
	client *engine.Client
	logs   *journal
	mux    *engine.Mux
}

// inBubble runs fn in a synctest bubble, which fails the test if any goroutine
// is left that cannot end.
func inBubble(t *testing.T, fn func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty()
		fn(&world{t: t, store: st, client: engine.NewClient(engine.ClientConfig{Store: st.peer()}), logs: &journal{}, mux: engine.NewMux()})
	})
}

// inherited is a value of the context of Run.
type inherited struct{}

// running is an engine that runs in the background.
type running struct {
	*engine.Engine
	cancel context.CancelFunc
	done   chan error
}

// start runs an engine with one group on the queue "default", or those given.
func (w *world) start(st store.Leaser, groups ...engine.Group) *running {
	w.t.Helper()
	return w.startFor(st, 0, groups...)
}

func (w *world) startFor(st store.Leaser, shutdown time.Duration, groups ...engine.Group) *running {
	w.t.Helper()
	if len(groups) == 0 {
		groups = []engine.Group{{Name: "main", Queues: engine.Strict("default")}}
	}
	e, err := engine.New(engine.Config{Store: st, Mux: w.mux, Groups: groups, Logger: slog.New(w.logs), ShutdownTimeout: shutdown})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), inherited{}, "yes"))
	r := &running{Engine: e, cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- e.Run(ctx) }()
	return r
}

// stop ends Run and returns what it returned.
func (r *running) stop() error {
	r.cancel()
	return <-r.done
}

// stopClean expects a clean drain.
func (w *world) stopClean(r *running) {
	w.t.Helper()
	if err := r.stop(); err != nil {
		w.t.Errorf("Run returned %v, want nil", err)
	}
}

func (w *world) enqueue(name string, args any, opts ...engine.EnqueueOption) store.JobID {
	w.t.Helper()
	r, err := w.client.Enqueue(w.t.Context(), name, args, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.ID
}

func (w *world) job(id store.JobID) *store.Job {
	w.t.Helper()
	j, err := w.store.Job(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// ends returns how the attempts of a job ended.
func ends(j *store.Job) (out []store.EndKind) {
	for _, e := range j.Ends {
		out = append(out, e.Kind)
	}
	return out
}

func (w *world) wantEnds(id store.JobID, state store.State, want ...store.EndKind) *store.Job {
	w.t.Helper()
	j := w.job(id)
	if j.State != state || !slices.Equal(ends(j), want) {
		w.t.Errorf("job %s is %v after %v, want %v after %v", j.Name, j.State, ends(j), state, want)
	}
	return j
}

// wantCause expects the context of a handler to have ended for want.
func wantCause(ctx context.Context, t *testing.T, want error) {
	t.Helper()
	if got := context.Cause(ctx); !errors.Is(got, want) {
		t.Errorf("the handler's context ended with %v, want %v", got, want)
	}
}
