package main

import (
	"context"
	"errors"
	"time"

	"backwave/engine"
)

// serve runs the engine until it is to end, and returns the exit code. atOnce
// says that there is no time for a summary.
func (w *worker) serve(untilEmpty bool) (code int, atOnce bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.engine.Run(ctx) }()
	var empty <-chan struct{}
	if untilEmpty {
		empty = w.watchEmpty(ctx)
	}
	look := time.NewTicker(haltPoll)
	defer look.Stop()
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
		case <-empty:
			empty = nil
			cancel()
		case <-look.C:
			if w.cfg.exitOnHalt && !w.halted && !w.engine.Health().Healthy() {
				w.log.Info("draining", "cause", "a group has halted")
				w.halted = true
				cancel()
			}
		case err := <-done:
			return w.ended(err, untilEmpty), false
		}
	}
}

// watchEmpty returns a channel that closes once --until-empty has nothing more
// to wait for. It asks in a goroutine of its own, so that a store that hangs
// does not keep signals from being heard.
func (w *worker) watchEmpty(ctx context.Context) <-chan struct{} {
	pause := farPoll
	if w.store.local {
		pause = emptyPoll
	}
	empty := make(chan struct{})
	go func() {
		defer close(empty)
		ticker := time.NewTicker(pause)
		defer ticker.Stop()
		for !w.over(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return empty
}

// over reports whether no job is left, or every group that serves what is left
// is wholly halted. While the store does not answer, nothing is over.
func (w *worker) over(ctx context.Context) bool {
	halted := w.engine.Health().HaltedGroups()
	left, hope := false, false
	for _, g := range w.cfg.groups {
		n, err := w.unfinished(ctx, g.Queues.Queues())
		if err != nil {
			return false
		}
		if n > 0 {
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
	if !w.engine.Health().Healthy() {
		return exitHalted
	}
	if !untilEmpty {
		return exitDone
	}
	n, err := w.unfinished(context.Background(), w.queues)
	if err != nil {
		w.log.Error("what is left in the queues cannot be told", "err", err)
		return exitFailed
	}
	failed, err := w.failures(context.Background())
	if err != nil {
		w.log.Error("what has failed cannot be told", "err", err)
		return exitFailed
	}
	if w.interrupted && n > 0 || failed > w.failed {
		return exitFailed
	}
	return exitDone
}

func (w *worker) unfinished(ctx context.Context, queues []string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return w.store.Unfinished(ctx, queues)
}
