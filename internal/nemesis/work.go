//go:build unix

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"backwave/clockx"
	"backwave/engine"
	"backwave/history"
	"backwave/store"
)

// The exit codes of a worker process, as those of bwworker.
const (
	ExitDone      = 0
	ExitFailed    = 1
	ExitStore     = 3 // the store cannot be used
	ExitHalted    = 4 // the group has halted
	ExitAbandoned = 5 // handlers had to be abandoned
)

// The names of jobs, by what their handlers do. All work for a while first.
const (
	rest   = "rest"    // returns
	plain  = "plain"   // writes an effect, then returns
	tx     = "tx"      // writes an effect together with its success
	flaky  = "flaky"   // fails at every third attempt
	long   = "long"    // plain, after up to two leases of work
	longTx = "long-tx" // tx, after as much
)

// names are in the order in which jobs take turns.
var names = [...]string{
	tx, plain, rest, tx, flaky, plain, tx, long, rest, tx,
	tx, plain, rest, tx, flaky, plain, tx, longTx, rest, tx,
}

// Work is the life of a worker process: it works until ctx ends, or in, which it
// reads. Its arguments are those that Config.Worker was given. It returns the
// code to exit with, and writes what went wrong to log. A group that has halted
// ends it.
func Work(ctx context.Context, args []string, in io.Reader, log io.Writer) int {
	fail := func(code int, err error) int {
		fmt.Fprintln(log, "worker:", err)
		return code
	}
	if len(args) != 4 {
		return fail(ExitFailed, fmt.Errorf("%d arguments, want 4: the store, its schema, the file of the history, a name", len(args)))
	}
	clock := clockx.Wall{}
	s, err := open(ctx, args[0], args[1])
	for store.FaultOf(err).Transient() && clockx.Sleep(ctx, clock, poll) == nil {
		s, err = open(ctx, args[0], args[1])
	}
	if err != nil && ctx.Err() != nil {
		return ExitDone // it was asked to stop before it had begun
	}
	if err != nil {
		return fail(ExitStore, err)
	}
	file, err := os.Create(args[2])
	if err != nil {
		return fail(ExitFailed, err)
	}
	rec := history.NewRecorder(s.Store, history.NewWriter(file).Flushed(), args[3], func() int64 { return clock.Now().UnixNano() })
	e, err := engine.New(engine.Config{
		Store: rec, Mux: s.mux(), ShutdownTimeout: shutdown,
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Groups: []engine.Group{{
			Name: "real", Queues: engine.Strict(queue), PoolSize: poolSize, LeaseDuration: lease,
			PollInterval: poll, MaintenanceInterval: maintenance,
			RetryPolicy: engine.RetryPolicy{MaxAttempts: 10_000, First: poll, Cap: retryCap},
		}},
	})
	if err != nil {
		return fail(ExitFailed, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	go func() {
		for e.Health().Healthy() && clockx.Sleep(ctx, clock, poll/2) == nil {
		}
		stop()
	}()
	err = e.Run(ctx)
	if h := e.Health(); !h.Healthy() {
		return fail(ExitHalted, errors.New(strings.TrimSpace(h.String())))
	}
	if _, left := errors.AsType[*engine.AbandonedError](err); left {
		return ExitAbandoned // they hold connections, for which nobody waits
	}
	if err != nil {
		return fail(ExitFailed, err)
	}
	s.close()
	return ExitDone
}

// mux has the handlers. How long one works, and whether it listens to being told
// to stop, its job decides.
func (s *shop) mux() *engine.Mux {
	mux := engine.NewMux()
	pause := func(ctx context.Context, job *engine.RawJob, d time.Duration) {
		if job.ID[14]%2 == 0 {
			ctx = context.WithoutCancel(ctx) // it ignores what it is told
		}
		_ = clockx.Sleep(ctx, clockx.Wall{}, d) // the store decides what its work is worth
	}
	short := func(ctx context.Context, job *engine.RawJob) {
		pause(ctx, job, time.Duration(5+int(job.ID[15])%60)*time.Millisecond)
	}
	mux.HandleRaw(rest, func(ctx context.Context, job *engine.RawJob) error {
		short(ctx, job)
		return nil
	})
	lengthy := func(ctx context.Context, job *engine.RawJob) {
		pause(ctx, job, lease/2+lease*time.Duration(job.ID[15])/170)
	}
	write := func(work func(context.Context, *engine.RawJob)) engine.Handler {
		return func(ctx context.Context, job *engine.RawJob) error {
			work(ctx, job)
			return s.write(context.WithoutCancel(ctx), effect{job.ID.String(), job.Attempt})
		}
	}
	complete := func(work func(context.Context, *engine.RawJob)) engine.Handler {
		return func(ctx context.Context, job *engine.RawJob) error {
			work(ctx, job)
			return s.inTx(context.WithoutCancel(ctx), job, effect{job.ID.String(), job.Attempt})
		}
	}
	mux.HandleRaw(plain, write(short))
	mux.HandleRaw(long, write(lengthy))
	mux.HandleRaw(tx, complete(short))
	mux.HandleRaw(longTx, complete(lengthy))
	mux.HandleRaw(flaky, func(ctx context.Context, job *engine.RawJob) error {
		short(ctx, job)
		if (int(job.ID[15])+job.Attempt)%3 == 0 {
			return errors.New("every third attempt fails")
		}
		return nil
	})
	return mux
}
