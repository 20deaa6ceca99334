package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"backwave/clockx"
	"backwave/engine/pump"
	"backwave/store"
)

// Config describes an Engine. A zero field means the default at the end of its
// comment.
type Config struct {
	Store  store.Leaser // required; a store.Hinter is listened to
	Mux    *Mux         // required: the handlers, as they are when New is called
	Groups []Group      // required; at least one, no two names alike

	ShutdownTimeout time.Duration // how long Run waits for handlers once its context has ended, and each group's FinishTimeout is over; at least 1ms; default 30s

	Logger *slog.Logger // default slog.Default()
	Clock  clockx.Clock // default clockx.Wall{}
	Random io.Reader    // of worker identities; default the operating system's
}

// Engine runs worker groups.
type Engine struct {
	hosts   []*host
	store   store.Leaser
	started atomic.Bool
}

// New returns an Engine, or an error that lists every mistake in cfg.
func New(cfg Config) (*Engine, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Clock == nil {
		cfg.Clock = clockx.Wall{}
	}
	var errs []error
	if cfg.Store == nil {
		errs = append(errs, errors.New("field Store is nil, want a store"))
	}
	if d := cfg.ShutdownTimeout; d != 0 && (d < time.Millisecond || d > store.MaxDuration) {
		errs = append(errs, fmt.Errorf("field ShutdownTimeout is %v, want %v to %v", d, time.Millisecond, store.MaxDuration))
		cfg.ShutdownTimeout = 0 // said once; not again for every group
	}
	runner, err := NewRunner(cfg.Mux)
	errs = append(errs, mistakes(err)...)
	pumps, err := pumpConfigs(&cfg)
	errs = append(errs, mistakes(err)...)
	if len(errs) > 0 {
		return nil, &ConfigError{errs}
	}
	e := &Engine{store: cfg.Store}
	for i, g := range cfg.Groups {
		if err := e.host(&cfg, g, pumps[i], runner); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// pumpConfigs returns the configuration of the pumps of each group.
func pumpConfigs(cfg *Config) (out []pump.Config, err error) {
	if len(cfg.Groups) == 0 {
		return nil, errors.New("field Groups is empty, want at least one group")
	}
	for i, g := range cfg.Groups {
		p, bad := g.PumpConfig(cfg.ShutdownTimeout)
		for _, m := range mistakes(bad) {
			err = errors.Join(err, fmt.Errorf("group %q: %w", g.Name, m))
		}
		if slices.ContainsFunc(cfg.Groups[:i], func(o Group) bool { return o.Name == g.Name }) {
			err = errors.Join(err, fmt.Errorf("group %q: another group has the same name", g.Name))
		}
		out = append(out, p)
	}
	return out, err
}

// host adds the pumps of a group, each with an identity of its own.
func (e *Engine) host(cfg *Config, g Group, p pump.Config, r *Runner) error {
	source := newChance(cfg.Random)
	machine, err := os.Hostname()
	if err != nil {
		machine = "unknown"
	}
	for i := range g.pumps() {
		worker, err := source.worker(machine, os.Getpid(), g.Name, i)
		if err != nil {
			return err
		}
		e.hosts = append(e.hosts, newHost(cfg, g.Name, worker, p, r))
	}
	return nil
}

// ConfigError lists the mistakes in a Config.
type ConfigError struct{ Mistakes []error }

// Error implements error.
func (e *ConfigError) Error() string {
	var b strings.Builder
	b.WriteString("engine: config:")
	for _, m := range e.Mistakes {
		b.WriteString("\n\t" + m.Error())
	}
	return b.String()
}

// Unwrap returns the mistakes.
func (e *ConfigError) Unwrap() []error { return e.Mistakes }

// Health returns the state of all groups. It reads memory only, and before and
// after Run it is that of groups that run.
func (e *Engine) Health() Health {
	groups := map[string][]Mark{}
	for _, h := range e.hosts {
		groups[h.group] = append(groups[h.group], *h.mark.Load())
	}
	return NewHealth(groups)
}

// Run runs all groups until ctx ends, and then drains them: nothing more is
// claimed, and what handlers that have returned had to report is delivered.
// Groups with a FinishTimeout let their handlers go on for so long; then every
// other handler's context ends with ErrDraining, and Run waits for them for up
// to ShutdownTimeout. It always returns: nil if all handlers have returned, an
// *AbandonedError that names those still running if not, and ErrStarted if it
// was called before.
//
// A group that halts does not end Run, for its siblings go on; Health tells.
// Handlers see the values of ctx, but not its end; Now and Sleep go by the
// engine's clock in them.
func (e *Engine) Run(ctx context.Context) error {
	if !e.started.CompareAndSwap(false, true) {
		return ErrStarted
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was told to stop, and has
	}
	var pumps sync.WaitGroup
	for _, h := range e.hosts {
		h.handlers = WithTime(context.WithoutCancel(ctx), clockTime{h.clock})
		pumps.Go(h.run)
	}
	deaf := e.listen()
	<-ctx.Done()
	deaf()
	for _, h := range e.hosts {
		h.tell((*host).drain)
	}
	pumps.Wait()
	var left []AbandonedJob
	for _, h := range e.hosts {
		left = append(left, h.abandoned()...)
	}
	if len(left) > 0 {
		return &AbandonedError{left}
	}
	return nil
}

// listen passes the store's hints on to the pumps that serve the queue.
func (e *Engine) listen() (stop func()) {
	s, ok := e.store.(store.Hinter)
	if !ok {
		return func() {}
	}
	return s.Hints(func(queue string) {
		for _, h := range e.hosts {
			if h.serves(queue) {
				h.hint()
			}
		}
	})
}
