package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

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
	h := hooks{finished: func(int) {}, started: func(took int64) {
		mu.Lock()
		defer mu.Unlock()
		if start = append(start, time.Duration(took)); len(start) == o.jobs {
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
func idle(ctx context.Context, m *meter, c contender, o *options) (values, error) {
	stop, err := c.work(ctx, hooks{finished: func(int) {}})
	if err != nil {
		return nil, err
	}
	pause(ctx, settle)
	used, err := m.measure(ctx, func() error {
		pause(ctx, o.span/3)
		return ctx.Err()
	})
	if err = errors.Join(err, stop()); err != nil {
		return nil, err
	}
	share := func(d time.Duration) float64 { return 100 * d.Seconds() / used.wall.Seconds() }
	return values{"server, % of a core": share(used.server), "client, % of a core": share(used.client)}, nil
}

// quantile returns, in milliseconds, what percent of at least one duration do
// not exceed.
func quantile(all []time.Duration, percent int) float64 {
	s := slices.Sorted(slices.Values(all))
	return float64(s[(len(s)-1)*percent/100].Nanoseconds()) / 1e6
}
