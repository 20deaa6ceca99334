package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const riverSchema = "bench_river"

// Kind implements river.JobArgs.
func (payload) Kind() string { return jobName }

// riverQueue is River over its driver for pgx.
type riverQueue struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	worker *riverWorker
}

// riverWorker is the handler. River takes it before hooks are known.
type riverWorker struct {
	river.WorkerDefaults[payload]
	hooks hooks
}

// Work implements river.Worker.
func (w *riverWorker) Work(_ context.Context, job *river.Job[payload]) error {
	w.hooks.begin(job.Args.Sent)
	return nil
}

// tunedRiver fetches as often as River allows for throughput and latency:
// its docs name many workers and a low cooldown.
func tunedRiver(t tuning) *river.Config {
	return &river.Config{
		FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: t.workers}},
	}
}

// defaultRiver has no default for its workers; 100 is what its docs show.
func defaultRiver(tuning) *river.Config {
	return &river.Config{Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 100}}}
}

func openRiver(config func(tuning) *river.Config) opener {
	return func(ctx context.Context, url string, t tuning) (contender, error) {
		if err := fresh(ctx, url, riverSchema); err != nil {
			return nil, err
		}
		pool, err := pgxpool.New(ctx, pooled(url))
		if err != nil {
			return nil, err
		}
		r, err := newRiver(ctx, pool, config(t))
		if err != nil {
			pool.Close()
			return nil, err
		}
		return r, nil
	}
}

func newRiver(ctx context.Context, pool *pgxpool.Pool, cfg *river.Config) (*riverQueue, error) {
	driver := riverpgxv5.New(pool)
	cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	cfg.Schema = riverSchema
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Schema: riverSchema, Logger: cfg.Logger})
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	worker := &riverWorker{}
	cfg.Workers = river.NewWorkers()
	river.AddWorker(cfg.Workers, worker)
	client, err := river.NewClient(driver, cfg)
	if err != nil {
		return nil, err
	}
	return &riverQueue{pool: pool, client: client, worker: worker}, nil
}

func (r *riverQueue) close() { r.pool.Close() }

func (r *riverQueue) load(ctx context.Context, n int) error {
	return inParts(n, func(part int) error {
		jobs := make([]river.InsertManyParams, part)
		for i := range jobs {
			jobs[i].Args = payload{Sent: time.Now().UnixNano(), Fill: fill}
		}
		_, err := r.client.InsertManyFast(ctx, jobs)
		return err
	})
}

func (r *riverQueue) add(ctx context.Context, sent int64) error {
	_, err := r.client.Insert(ctx, payload{Sent: sent, Fill: fill}, nil)
	return err
}

func (r *riverQueue) left(ctx context.Context, conn *pgx.Conn) (n int, err error) {
	err = conn.QueryRow(ctx, "select count(*) from "+riverSchema+".river_job where state <> 'completed'").Scan(&n)
	return n, err
}

func (r *riverQueue) work(ctx context.Context, h hooks) (func() error, error) {
	r.worker.hooks = h
	events, cancel := r.client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: 1 << 20, // it drops what does not fit
		Kinds:    []river.EventKind{river.EventKindJobCompleted},
	})
	if err := r.client.Start(ctx); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		for range events { // until cancel closes it
			h.finished(1)
		}
	}()
	return func() error {
		defer cancel()
		return r.client.Stop(ctx)
	}, nil
}
