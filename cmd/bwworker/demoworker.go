package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"backwave/engine"
)

// What a worker of the demo logs, beside what the engine does.
const (
	demoStarted  = "started"
	demoFinished = "finished"
	demoDropped  = "outcome dropped, its lease is over" // the engine's own
)

// demoWorkerCommand is what the demo runs three times.
func (a *app) demoWorkerCommand() *cobra.Command {
	var name, dsn string
	var lease time.Duration
	c := &cobra.Command{
		Use:    "demo-worker",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return a.demoWorker(ctx, name, dsn, lease)
		},
	}
	c.Flags().StringVar(&name, "name", "", "letter")
	c.Flags().StringVar(&dsn, "store", "", "store")
	c.Flags().DurationVar(&lease, "lease", 0, "lease")
	return c
}

func (a *app) demoWorker(ctx context.Context, name, dsn string, lease time.Duration) error {
	log := slog.New(slog.NewJSONHandler(a.stdout, nil))
	a.stderr.hideDSN(dsn)
	s, err := reach(ctx, a.open, target{dsn: dsn, pumps: 1}, 5*time.Second, log)
	if err != nil {
		return err
	}
	defer s.close()
	mux := engine.NewMux()
	engine.Handle(mux, demoQueue, func(_ context.Context, job *engine.Job[map[string]int64]) error {
		log.Info(demoStarted, "job", job.ID.String(), "attempt", job.Attempt)
		// Work that cannot be interrupted: like most that hurts when it is
		// done twice, it does not look at its context.
		time.Sleep(time.Duration(job.Args["micros"]) * time.Microsecond)
		log.Info(demoFinished, "job", job.ID.String(), "attempt", job.Attempt)
		return nil
	})
	e, err := engine.New(engine.Config{
		Store: s.Store, Mux: mux, Logger: log, ShutdownTimeout: time.Second,
		Groups: []engine.Group{{
			Name: name, Queues: engine.Strict(demoQueue), PoolSize: 1, LeaseDuration: lease,
			PollInterval: lease / 20, MaintenanceInterval: lease / 6,
			RetryPolicy: engine.RetryPolicy{First: lease / 6, NoJitter: true},
		}},
	})
	if err != nil {
		return &exitError{exitFailed, err}
	}
	err = e.Run(ctx)
	if _, ok := errors.AsType[*engine.AbandonedError](err); ok {
		return &exitError{exitAbandoned, nil}
	}
	return err
}
