package main

import (
	"context"
	"errors"
	"fmt"
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
)

// worker is everything that bwworker run wires together.
type worker struct {
	cfg      *config
	log      *slog.Logger
	commands *commands
	hide     func(secret string)
	store    *opened
	client   *engine.Client
	lapses   *lapses
	engine   *engine.Engine
	web      *http.Server
	queues   []string // served by some group, in the order of the file
	signals  chan os.Signal

	counts      bool                 // jobs are counted, which may read all of a store
	before      map[store.Token]bool // attempts that had failed their jobs when the worker came
	failed      int                  // how many jobs had failed then
	interrupted bool                 // a signal ended the run
	halted      bool                 // a halt did
	abandoned   []engine.AbandonedJob
}

const (
	haltPoll  = 100 * time.Millisecond // how often --exit-on-halt looks
	emptyPoll = 20 * time.Millisecond  // how often --until-empty looks at the queues of a memory store
	farPoll   = 250 * time.Millisecond // … and of another
	askLimit  = 30 * time.Second       // of a question to the store
)

func newWorker(cfg *config, st *opened, log *slog.Logger, out *masker) *worker {
	w := &worker{cfg: cfg, log: log, commands: newCommands(out, log), hide: out.hide, store: st, counts: st.local}
	for _, g := range cfg.groups {
		for _, q := range g.Queues.Queues() {
			if !slices.Contains(w.queues, q) {
				w.queues = append(w.queues, q)
			}
		}
	}
	w.client = engine.NewClient(engine.ClientConfig{Store: st, Queue: w.queues[0]})
	return w
}

// mux returns the handlers of the configuration.
func (w *worker) mux() *engine.Mux {
	mux := engine.NewMux()
	mux.Use(w.logAttempts)
	for i := range w.cfg.handlers {
		h := &w.cfg.handlers[i]
		if h.request.url != nil {
			mux.HandleRaw(h.name, newRequester(&h.request, w.hide).run)
			continue
		}
		mux.HandleRaw(h.name, func(ctx context.Context, job *engine.RawJob) error { return w.commands.run(ctx, &h.command, job) })
	}
	return mux
}

// open builds the engine and begins to listen.
func (w *worker) open(addr string) error {
	groups := make([]engine.Group, len(w.cfg.groups))
	for i, g := range w.cfg.groups {
		groups[i] = g.Group
	}
	w.lapses = &lapses{passer: passer{w.store.Store}, log: w.log}
	e, err := engine.New(engine.Config{Store: w.lapses, Mux: w.mux(), Groups: groups, ShutdownTimeout: w.cfg.shutdown, Logger: w.log})
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
	routes.HandleFunc("GET /{$}", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(rw, e.Health())
		s, err := w.summary(r.Context(), exitDone)
		if err != nil {
			fmt.Fprintf(rw, "jobs: the store does not answer: %v\n", err)
			return
		}
		_ = s.write(rw, "table")
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
func heed() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return signals, func() { signal.Stop(signals) }
}

// unlessTold lets do work until it is done; a signal ends its context. If do was
// faster, the signal is left for whoever comes next.
func unlessTold(signals chan os.Signal, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	var told os.Signal
	for {
		select {
		case err := <-done:
			if told != nil && err == nil {
				select {
				case signals <- told:
				default: // others wait there
				}
			}
			return err
		case told = <-signals:
			cancel()
		}
	}
}

func (w *worker) close() {
	w.lapses.telling.Wait()
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
