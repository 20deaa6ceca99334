package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

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
	h := hooks{finished: func(n int) {
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
	single, err := m.measure(ctx, func() error { return addEach(ctx, c, o.jobs) })
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

// addEach adds n jobs one by one over all connections.
func addEach(ctx context.Context, c contender, n int) error {
	if e, ok := c.(eachAdder); ok {
		return e.addEach(ctx, n, connections)
	}
	var (
		next atomic.Int64
		wg   sync.WaitGroup
		errs = make([]error, connections)
	)
	for i := range errs {
		wg.Go(func() {
			for errs[i] == nil && next.Add(1) <= int64(n) {
				errs[i] = c.add(ctx, time.Now().UnixNano())
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
