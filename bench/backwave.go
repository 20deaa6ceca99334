package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
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
		h.started(job.Args.Sent)
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

// bare is the store without the engine: claims and reports, one after the
// other, of as many workers as the engine has pumps.
type bare struct {
	*backWave
	t tuning
}

func openBare(ctx context.Context, url string, t tuning) (contender, error) {
	b, err := newBackWave(ctx, url, engine.Group{})
	if err != nil {
		return nil, err
	}
	return &bare{b, t}, nil
}

func (b *bare) work(ctx context.Context, h hooks) (func() error, error) {
	errs := make([]error, b.t.pumps)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = b.pump(ctx, fmt.Sprintf("bare.%d", i), h) })
	}
	return func() error {
		all.Wait() // each ends by itself when nothing is left
		return errors.Join(errs...)
	}, nil
}

// pump claims and reports until a claim finds nothing.
func (b *bare) pump(ctx context.Context, worker string, h hooks) error {
	for number := uint64(1); ; number++ {
		claimed, err := b.st.Claim(ctx, &store.Claim{
			Worker: worker, Number: number, Queues: []store.Quota{{Queue: queue, Most: b.t.batch}}, Max: b.t.batch, Lease: time.Minute,
		})
		if err != nil || len(claimed.Leases) == 0 {
			return err
		}
		r := &store.Report{Worker: worker, Rows: make([]store.ReportRow, len(claimed.Leases))}
		for i, l := range claimed.Leases {
			var p payload
			if err := json.Unmarshal(l.Payload, &p); err != nil {
				return fmt.Errorf("decode the payload of %v: %w", l.Key, err)
			}
			h.started(p.Sent)
			r.Rows[i] = store.ReportRow{Key: l.Key, Outcome: store.Success{}}
		}
		reported, err := b.st.Report(ctx, r)
		if err != nil {
			return err
		}
		h.finished(succeeded(reported))
	}
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
