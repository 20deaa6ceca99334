//go:build unix

package healthtest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"backwave/engine"
	"backwave/store"
	"backwave/store/postgres"
)

// patience is for what must come, however slow the machine is.
const patience = 2 * time.Minute

// eventually waits until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); !cond(); <-tick.C {
		if time.Since(began) > patience {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func open(t *testing.T, url, schema string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// entries is a log of which tests count the entries.
type entries struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (e *entries) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.Write(b)
}

func (e *entries) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(e, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// of returns the entries of one level that hold a text.
func (e *entries) of(level slog.Level, text string) (lines []string) {
	for line := range strings.Lines(e.all()) {
		if strings.Contains(line, " level="+level.String()+" ") && strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

func (e *entries) all() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.String()
}

// running is an engine that runs, and its health over HTTP.
type running struct {
	*engine.Engine
	t    *testing.T
	log  *entries
	http *httptest.Server
	end  context.CancelFunc
	done chan error // gives what Run returned
}

func run(t *testing.T, s store.Leaser, mux *engine.Mux, groups ...engine.Group) *running {
	t.Helper()
	log := &entries{}
	e, err := engine.New(engine.Config{Store: s, Mux: mux, Groups: groups, Logger: log.logger(), ShutdownTimeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	r := &running{Engine: e, t: t, log: log, http: httptest.NewServer(engine.HealthHandler(e.Health)), end: end, done: make(chan error, 1)}
	go func() { r.done <- e.Run(ctx) }()
	t.Cleanup(func() { end(); r.http.Close() })
	return r
}

// stop ends the engine's context and returns what Run returns.
func (r *running) stop() error {
	r.t.Helper()
	r.end()
	select {
	case err := <-r.done:
		return err
	case <-time.After(patience):
		r.t.Fatalf("Run does not return within %v", patience)
		return nil
	}
}

// stopClean stops an engine that has nothing to complain about.
func (r *running) stopClean() {
	r.t.Helper()
	if err := r.stop(); err != nil {
		r.t.Errorf("Run: %v", err)
	}
	if lines := r.log.of(engine.LevelCritical, ""); len(lines) > 0 {
		r.t.Errorf("logged as critical: %q", lines)
	}
}

// health is what the endpoint says.
func (r *running) health(query string) (code int, body string) {
	r.t.Helper()
	return at(r.t, r.http.URL+query)
}

func at(t *testing.T, url string) (code int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(b))
}

func wantAt(t *testing.T, url string, code int, body string) {
	t.Helper()
	if c, b := at(t, url); c != code || b != body {
		t.Errorf("health is %d %q, want %d %q", c, b, code, body)
	}
}

func (r *running) wantHealth(code int, body string) {
	r.t.Helper()
	wantAt(r.t, r.http.URL, code, body)
}

func (r *running) degraded() bool { return len(r.Health().DegradedGroups()) > 0 }

const fine = "All Worker Groups running."

// watched is a store of which a test knows the calls that wait for an answer.
type watched struct {
	store.Leaser
	sent, answered atomic.Int64
}

func (w *watched) pending() bool { return w.answered.Load() < w.sent.Load() }

func watch[Q, A any](ctx context.Context, w *watched, req Q, call func(context.Context, Q) (A, error)) (A, error) {
	w.sent.Add(1)
	defer w.answered.Add(1)
	return call(ctx, req)
}

func (w *watched) Claim(ctx context.Context, r *store.Claim) (*store.Claimed, error) {
	return watch(ctx, w, r, w.Leaser.Claim)
}

func (w *watched) Renew(ctx context.Context, r *store.Renew) (*store.Renewed, error) {
	return watch(ctx, w, r, w.Leaser.Renew)
}

func (w *watched) Report(ctx context.Context, r *store.Report) (*store.Reported, error) {
	return watch(ctx, w, r, w.Leaser.Report)
}

func (w *watched) Sweep(ctx context.Context, r *store.Sweep) (*store.Swept, error) {
	return watch(ctx, w, r, w.Leaser.Sweep)
}

// load enqueues jobs one by one, whatever the server does, until it is told to
// stop.
type load struct {
	t    *testing.T
	end  chan struct{}
	done chan []store.JobID
}

func start(t *testing.T, s store.Enqueuer, name string) *load {
	l := &load{t: t, end: make(chan struct{}), done: make(chan []store.JobID, 1)}
	client := engine.NewClient(engine.ClientConfig{Store: s, Queue: "q"})
	go func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		var ids []store.JobID
		defer func() { l.done <- ids }()
		for {
			select {
			case <-l.end:
				return
			case <-tick.C:
			}
			r, err := client.Enqueue(t.Context(), name, nil)
			if err != nil {
				t.Error(err)
				return
			}
			ids = append(ids, r.ID)
		}
	}()
	return l
}

// stop returns the jobs that were acknowledged.
func (l *load) stop() []store.JobID {
	close(l.end)
	return <-l.done
}

func add(t *testing.T, s store.Enqueuer, name, queue string) store.JobID {
	t.Helper()
	r, err := engine.NewClient(engine.ClientConfig{Store: s, Queue: queue}).Enqueue(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func job(t *testing.T, s *postgres.Store, id store.JobID) *store.Job {
	t.Helper()
	j, err := s.Job(t.Context(), id)
	if err != nil {
		t.Fatalf("job %v: %v", id, err)
	}
	return j
}

// idle waits until every job of the queue has ended.
func idle(t *testing.T, s *postgres.Store) {
	t.Helper()
	eventually(t, "every job has ended", func() bool {
		n, err := s.Unfinished(t.Context(), []string{"q"})
		return err == nil && n == 0
	})
}

// runs counts how often each job's handler was started.
type runs struct {
	mu sync.Mutex
	of map[store.JobID]int
}

func (r *runs) add(id store.JobID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[store.JobID]int{}
	}
	r.of[id]++
}

func (r *runs) count(id store.JobID) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[id]
}

func (r *runs) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.of)
}
