package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"backwave/engine"
	"backwave/store"
	"backwave/store/memory"
)

// worker is everything that bwworker run wires together.
type worker struct {
	cfg      *config
	log      *slog.Logger
	commands *commands
	store    *memory.Locked
	client   *engine.Client
	engine   *engine.Engine
	web      *http.Server
	queues   []string // served by some group, in the order of the file
	signals  chan os.Signal

	interrupted bool // a signal ended the run
	abandoned   []engine.AbandonedJob
}

// emptyPoll is how often --until-empty looks at the queues.
const emptyPoll = 20 * time.Millisecond

func newWorker(cfg *config, log *slog.Logger, stderr io.Writer) *worker {
	w := &worker{cfg: cfg, log: log, commands: newCommands(stderr), store: memory.NewLocked(memory.New(wallClock{}))}
	for _, g := range cfg.groups {
		for _, q := range g.Queues.Queues() {
			if !slices.Contains(w.queues, q) {
				w.queues = append(w.queues, q)
			}
		}
	}
	w.client = engine.NewClient(engine.ClientConfig{Store: w.store, Queue: w.queues[0]})
	return w
}

// open builds the engine and begins to listen.
func (w *worker) open(addr string) error {
	mux := engine.NewMux()
	mux.Use(w.logAttempts)
	for i := range w.cfg.handlers {
		h := &w.cfg.handlers[i]
		mux.HandleRaw(h.name, func(ctx context.Context, job *engine.RawJob) error { return w.commands.run(ctx, h, job) })
	}
	groups := make([]engine.Group, len(w.cfg.groups))
	for i, g := range w.cfg.groups {
		groups[i] = g.Group
	}
	e, err := engine.New(engine.Config{Store: w.store, Mux: mux, Groups: groups, ShutdownTimeout: w.cfg.shutdown, Logger: w.log})
	if err != nil {
		return err
	}
	w.engine = e
	if addr == "" {
		return nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.Handle("/health", engine.HealthHandler(e.Health))
	routes.HandleFunc("GET /{$}", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(rw, e.Health())
		_ = w.summary(exitDone).write(rw, "text")
	})
	w.web = &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}
	w.log.Info("listening", "addr", l.Addr().String())
	go func() {
		if err := w.web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			w.log.Error("http", "err", err)
		}
	}()
	return nil
}

// heed catches the signals that drain. It comes before anything that tells
// others that the worker is there.
func (w *worker) heed() (stop func()) {
	w.signals = make(chan os.Signal, 2)
	signal.Notify(w.signals, os.Interrupt, syscall.SIGTERM)
	return func() { signal.Stop(w.signals) }
}

func (w *worker) close() {
	if w.web != nil {
		_ = w.web.Close()
	}
}

// logAttempts tells of every attempt: failures at WARN, the rest at DEBUG.
func (w *worker) logAttempts(next engine.Handler) engine.Handler {
	return func(ctx context.Context, job *engine.RawJob) error {
		began := time.Now()
		err := next(ctx, job)
		attrs := []any{"job", job.ID, "name", job.Name, "queue", job.Queue, "attempt", job.Attempt, "took", time.Since(began).Round(time.Millisecond)}
		if err != nil {
			w.log.Warn("attempt failed", append(attrs, "err", err)...)
		} else {
			w.log.Debug("attempt succeeded", attrs...)
		}
		return err
	}
}

// enqueue adds the jobs of the file.
func (w *worker) enqueue(ctx context.Context, jobs []engine.NewJob) error {
	if len(jobs) == 0 {
		return nil
	}
	receipts, err := w.client.EnqueueMany(ctx, jobs)
	if err != nil {
		return err
	}
	for i, r := range receipts {
		if r.Existing {
			w.log.Warn("not enqueued, another job holds its unique key", "index", i, "name", jobs[i].Name, "holder", r.ID)
		}
	}
	w.log.Info("enqueued", "jobs", len(jobs))
	return nil
}

// serve runs the engine until it is to end, and returns the exit code. atOnce
// says that there is no time for a summary.
func (w *worker) serve(untilEmpty bool) (code int, atOnce bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.engine.Run(ctx) }()
	var look <-chan time.Time
	if untilEmpty {
		ticker := time.NewTicker(emptyPoll)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case s := <-w.signals:
			if ctx.Err() != nil && w.interrupted {
				w.log.Warn("exiting at once", "signal", s.String())
				w.commands.killAll()
				return exitAbandoned, true
			}
			w.log.Info("draining", "signal", s.String())
			w.interrupted = true
			cancel()
		case <-look:
			if w.over() {
				look = nil
				cancel()
			}
		case err := <-done:
			return w.ended(err, untilEmpty), false
		}
	}
}

// over reports whether --until-empty has nothing more to wait for: no job is
// left, or every group that serves what is left is wholly halted.
func (w *worker) over() bool {
	halted := w.engine.Health().HaltedGroups()
	left, hope := false, false
	for _, g := range w.cfg.groups {
		if w.unfinished(g.Queues.Queues()) > 0 {
			left = true
			_, dead := halted[g.Name]
			hope = hope || !dead
		}
	}
	return !left || !hope
}

// ended judges the run after the engine has drained.
func (w *worker) ended(err error, untilEmpty bool) int {
	if left, ok := errors.AsType[*engine.AbandonedError](err); ok {
		w.abandoned = left.Jobs
		for _, j := range left.Jobs {
			w.log.Error("handler left running", "job", j.Token.Job, "attempt", j.Token.Attempt, "name", j.Name, "queue", j.Queue, "group", j.Group)
		}
		w.commands.killAll()
		return exitAbandoned
	}
	switch {
	case !w.engine.Health().Healthy():
		return exitHalted
	case untilEmpty && (w.interrupted && w.unfinished(w.queues) > 0 || len(w.summary(exitDone).Failed) > 0):
		return exitFailed
	}
	return exitDone
}

func (w *worker) unfinished(queues []string) int {
	n, _ := w.store.Unfinished(context.Background(), queues) // the memory store refuses nothing but ended contexts
	return n
}

// wallClock is the memory store's clock.
type wallClock struct{}

// Now implements memory.Clock.
func (wallClock) Now() store.Instant { return store.At(time.Now()) }
