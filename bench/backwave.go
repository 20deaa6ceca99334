package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"backwave/engine"
	"backwave/store"
	"backwave/store/postgres"
)

const (
	backWaveSchema = "bench_backwave"
	queue          = "default"
	jobName        = "noop"
)

// backWave is the engine over store/postgres.
type backWave struct {
	st     *postgres.Store
	client *engine.Client
	group  engine.Group
}

// openBackWave returns an opener of BackWave with a group as shape says.
func openBackWave(shape func(tuning) engine.Group) opener {
	return func(ctx context.Context, url string, t tuning) (contender, error) {
		return newBackWave(ctx, url, shape(t))
	}
}

func newBackWave(ctx context.Context, url string, g engine.Group) (*backWave, error) {
	if err := fresh(ctx, url, backWaveSchema); err != nil {
		return nil, err
	}
	st, err := postgres.Open(ctx, postgres.Config{URL: pooled(url), Schema: backWaveSchema})
	if err != nil {
		return nil, err
	}
	if err := st.Migrate(ctx); err != nil {
		st.Close()
		return nil, err
	}
	g.Name, g.Queues = queue, engine.Strict(queue)
	return &backWave{st: st, client: engine.NewClient(engine.ClientConfig{Store: st, Queue: queue}), group: g}, nil
}

// tunedGroup drains as fast as it can.
func tunedGroup(t tuning) engine.Group {
	return engine.Group{Pumps: t.pumps, PoolSize: t.poolSize, ClaimBatch: t.batch, ReportBatch: t.batch}
}

// defaultGroup leaves everything as it is shipped.
func defaultGroup(tuning) engine.Group { return engine.Group{} }

// idleGroup is the group of the gate on idle cost.
func idleGroup(tuning) engine.Group { return engine.Group{Pumps: 20} }

func (b *backWave) close() { b.st.Close() }

func (b *backWave) load(ctx context.Context, n int) error {
	return inParts(n, func(part int) error {
		jobs := make([]engine.NewJob, part)
		for i := range jobs {
			jobs[i] = engine.NewJob{Name: jobName, Args: payload{Sent: time.Now().UnixNano(), Fill: fill}}
		}
		_, err := b.client.EnqueueMany(ctx, jobs)
		return err
	})
}

func (b *backWave) add(ctx context.Context, sent int64) error {
	_, err := b.client.Enqueue(ctx, jobName, payload{Sent: sent, Fill: fill})
	return err
}

func (b *backWave) left(ctx context.Context, _ *pgx.Conn) (int, error) {
	return b.st.Unfinished(ctx, []string{queue})
}

// told is the store, telling how many successes were recorded.
type told struct {
	*postgres.Store
	finished func(n int)
}

func (s told) Report(ctx context.Context, r *store.Report) (*store.Reported, error) {
	out, err := s.Store.Report(ctx, r)
	if err == nil {
		s.finished(succeeded(out))
	}
	return out, err
}

// succeeded counts what a report has recorded as successes.
func succeeded(r *store.Reported) (n int) {
	for _, a := range r.Rows {
		if a.Status == store.ReportApplied && a.To == store.Succeeded {
			n++
		}
	}
	return n
}

func (b *backWave) work(ctx context.Context, h hooks) (func() error, error) {
	mux := engine.NewMux()
	engine.Handle(mux, jobName, func(_ context.Context, job *engine.Job[payload]) error {
		h.begin(job.Args.Sent)
		return nil
	})
	e, err := engine.New(engine.Config{
		Store: told{b.st, h.finished}, Mux: mux, Groups: []engine.Group{b.group},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	return func() error {
		cancel()
		err := <-ended
		for _, why := range e.Health().HaltedGroups() {
			err = errors.Join(err, fmt.Errorf("the engine has halted: %s", why))
		}
		return err
	}, nil
}

// inParts hands n to add in parts of 5000, as a caller with many jobs would.
func inParts(n int, add func(part int) error) error {
	for ; n > 0; n -= 5000 {
		if err := add(min(n, 5000)); err != nil {
			return err
		}
	}
	return nil
}

// hotTable implements hotTabled.
func (b *backWave) hotTable() string { return backWaveSchema + ".job" }
