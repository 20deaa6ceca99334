package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// benchmark is what one subcommand measures.
type benchmark struct {
	name    string
	jobs    int    // of a run, if --jobs does not say; 0: it has none
	peer    string // the system that ratios are to
	systems []system
	figures []figure
	measure func(ctx context.Context, m *meter, c contender, o *options) (values, error)
}

// system is one that takes part.
type system struct {
	name string
	open opener
}

func benchmarks() []*benchmark {
	backWave := system{"backwave", openBackWave(tunedGroup)}
	river := system{"river", openRiver(tunedRiver)}
	return []*benchmark{
		{
			name: "drain", jobs: 50_000, peer: "river", measure: drain,
			systems: []system{backWave, river, {"store only", openBare}},
			figures: []figure{
				{"jobs/s", 0}, {"server µs/job", 1}, {"client µs/job", 1}, {"WAL B/job", 0}, {"WAL B/job with its bulk enqueue", 0},
			},
		},
		{
			name: "enqueue", jobs: 20_000, peer: "river", measure: enqueue,
			systems: []system{backWave, river},
			figures: []figure{
				{"one by one: jobs/s", 0},
				{"one by one: server µs/job", 1},
				{"one by one: client µs/job", 1},
				{"one by one: WAL B/job", 0},
				{"bulk: jobs/s", 0},
				{"bulk: server µs/job", 1},
				{"bulk: client µs/job", 1},
				{"bulk: WAL B/job", 0},
			},
		},
		{
			name: "latency", jobs: 2_000, peer: "river tuned", measure: latency,
			systems: []system{{"backwave defaults", openBackWave(defaultGroup)}, {"river tuned", openRiver(tunedRiver)}, {"river defaults", openRiver(defaultRiver)}},
			figures: []figure{{"p50 ms", 2}, {"p99 ms", 2}, {"enqueue call p50 ms", 2}, {"server µs/job", 0}, {"client µs/job", 0}},
		},
		{
			name: "idle", peer: "river defaults", measure: idle,
			systems: []system{{"backwave, 20 pumps", openBackWave(idleGroup)}, {"backwave defaults", openBackWave(defaultGroup)}, {"river defaults", openRiver(defaultRiver)}},
			figures: []figure{{"server, % of a core", 2}, {"client, % of a core", 2}},
		},
	}
}

// once measures one run of one system, on a fresh schema.
func (b *benchmark) once(ctx context.Context, m *meter, s system, o *options, url string) (values, error) {
	if err := m.checkpoint(ctx); err != nil {
		return nil, err
	}
	c, err := s.open(ctx, url, o.tuning)
	if err != nil {
		return nil, fmt.Errorf("set up: %w", err)
	}
	defer c.close()
	return b.measure(ctx, m, c, o)
}

// costs adds what each of n jobs cost to v.
func (v values) costs(prefix string, c cost, n int) {
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(n) }
	v[prefix+"jobs/s"] = float64(n) / c.wall.Seconds()
	v[prefix+"server µs/job"] = each(c.server)
	v[prefix+"client µs/job"] = each(c.client)
	v[prefix+"WAL B/job"] = float64(c.wal) / float64(n)
}

// patience is how long a run may take.
const patience = 5 * time.Minute

// drain loads a queue, and then measures from the start of the workers until
// the end of the last job is recorded.
func drain(ctx context.Context, m *meter, c contender, o *options) (values, error) {
	loading, err := m.measure(ctx, func() error { return c.load(ctx, o.jobs) })
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if _, err := m.conn.Exec(ctx, "analyze"); err != nil {
		return nil, fmt.Errorf("analyze: %w", err)
	}
	var finished atomic.Int64
	all := make(chan struct{})
	h := hooks{started: func(int64) {}, finished: func(n int) {
		if now := finished.Add(int64(n)); now >= int64(o.jobs) && now-int64(n) < int64(o.jobs) {
			close(all)
		}
	}}
	var stop func() error
	draining, err := m.measure(ctx, func() (err error) {
		if stop, err = c.work(ctx, h); err != nil {
			return err
		}
		return wait(ctx, all, func() string { return fmt.Sprintf("%d of %d jobs are finished", finished.Load(), o.jobs) })
	})
	if stop != nil {
		err = errors.Join(err, stop())
	}
	if err != nil {
		return nil, fmt.Errorf("drain: %w", err)
	}
	if err := expect(ctx, m, c, 0); err != nil {
		return nil, err
	}
	v := values{}
	v.costs("", draining, o.jobs)
	v["WAL B/job with its bulk enqueue"] = float64(loading.wal+draining.wal) / float64(o.jobs)
	return v, nil
}

// enqueue adds jobs one by one over all connections, and then in bulk from one
// caller. Nobody works on them.
func enqueue(ctx context.Context, m *meter, c contender, o *options) (values, error) {
	v := values{}
	single, err := m.measure(ctx, func() error {
		var (
			next atomic.Int64
			wg   sync.WaitGroup
			errs = make([]error, connections)
		)
		for i := range errs {
			wg.Go(func() {
				for errs[i] == nil && next.Add(1) <= int64(o.jobs) {
					errs[i] = c.add(ctx, time.Now().UnixNano())
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	})
	if err != nil {
		return nil, fmt.Errorf("one by one: %w", err)
	}
	v.costs("one by one: ", single, o.jobs)
	bulk := 5 * o.jobs // it takes less time for each
	many, err := m.measure(ctx, func() error { return c.load(ctx, bulk) })
	if err != nil {
		return nil, fmt.Errorf("in bulk: %w", err)
	}
	v.costs("bulk: ", many, bulk)
	return v, expect(ctx, m, c, o.jobs+bulk)
}

// expect checks that a run has done what it was measured for.
func expect(ctx context.Context, m *meter, c contender, want int) error {
	n, err := c.left(ctx, m.conn)
	if err == nil && n != want {
		err = fmt.Errorf("%d jobs are not finished, want %d", n, want)
	}
	return err
}

const (
	rate   = 200 // jobs a second, of latency
	settle = 2 * time.Second
)

// latency adds jobs at a fixed rate, each at its instant whether or not the
// one before has been answered, and measures from there to the handler.
func latency(ctx context.Context, m *meter, c contender, o *options) (values, error) {
	var (
		mu           sync.Mutex
		calls, start []time.Duration
		all          = make(chan struct{})
	)
	h := hooks{finished: func(int) {}, started: func(sent int64) {
		took := time.Duration(time.Now().UnixNano() - sent)
		mu.Lock()
		defer mu.Unlock()
		if start = append(start, took); len(start) == o.jobs {
			close(all)
		}
	}}
	stop, err := c.work(ctx, h)
	if err != nil {
		return nil, err
	}
	pause(ctx, settle) // until it listens
	used, err := m.measure(ctx, func() error {
		var (
			wg   sync.WaitGroup
			errs = make([]error, o.jobs)
			tick = time.NewTicker(time.Second / rate)
		)
		defer tick.Stop()
		for i := range errs {
			<-tick.C
			wg.Go(func() {
				sent := time.Now()
				errs[i] = c.add(ctx, sent.UnixNano())
				mu.Lock()
				defer mu.Unlock()
				calls = append(calls, time.Since(sent))
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		return wait(ctx, all, func() string { return "not every job has started" })
	})
	if err = errors.Join(err, stop()); err != nil {
		return nil, err
	}
	v := values{"p50 ms": quantile(start, 50), "p99 ms": quantile(start, 99), "enqueue call p50 ms": quantile(calls, 50)}
	v.costs("", used, o.jobs)
	return v, nil
}

// idle measures workers that have nothing to do.
func idle(ctx context.Context, m *meter, c contender, _ *options) (values, error) {
	stop, err := c.work(ctx, hooks{started: func(int64) {}, finished: func(int) {}})
	if err != nil {
		return nil, err
	}
	pause(ctx, settle)
	const span = 20 * time.Second
	used, err := m.measure(ctx, func() error {
		pause(ctx, span)
		return ctx.Err()
	})
	if err = errors.Join(err, stop()); err != nil {
		return nil, err
	}
	share := func(d time.Duration) float64 { return 100 * d.Seconds() / used.wall.Seconds() }
	return values{"server, % of a core": share(used.server), "client, % of a core": share(used.client)}, nil
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// wait waits for all, and says how far things are if that takes too long.
func wait(ctx context.Context, all <-chan struct{}, far func() string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", far(), ctx.Err())
	}
}

// quantile returns, in milliseconds, what percent of at least one duration do
// not exceed.
func quantile(all []time.Duration, percent int) float64 {
	s := slices.Sorted(slices.Values(all))
	return float64(s[(len(s)-1)*percent/100].Nanoseconds()) / 1e6
}
