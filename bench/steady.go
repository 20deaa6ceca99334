package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Jobs are added in bulk by some producers for as long as fewer than so many
// wait, and worked on at the same time.
const (
	producers = 2
	part      = 1000
	backlog   = 20_000
)

// warmUp is how long both go on before it is measured, of long runs.
const warmUp = 2 * time.Second

// flow counts jobs in and out.
type flow struct {
	mu       sync.Mutex
	changed  *sync.Cond
	asked    int // handed to the system, whether it has answered or not
	added    int
	finished int
	over     bool
}

func newFlow() *flow {
	f := &flow{}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// take waits until there is room for another part. It reports false at the end.
func (f *flow) take() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.over && f.asked-f.finished > backlog-part {
		f.changed.Wait()
	}
	if !f.over {
		f.asked += part
	}
	return !f.over
}

// change does something with the counts.
func (f *flow) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	f.changed.Broadcast()
}

func (f *flow) counts() (added, finished int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.added, f.finished
}

// produce adds jobs until the flow is over.
func (f *flow) produce(ctx context.Context, c contender) error {
	for f.take() {
		if err := c.load(ctx, part); err != nil {
			f.change(func() { f.over = true })
			return fmt.Errorf("add: %w", err)
		}
		f.change(func() { f.added += part })
	}
	return nil
}

// steady adds jobs and works on them at once.
func steady(ctx context.Context, m *meter, c contender, o *options) (values, error) {
	f := newFlow()
	stop, err := c.work(ctx, hooks{finished: func(n int) { f.change(func() { f.finished += n }) }})
	if err != nil {
		return nil, err
	}
	errs := make([]error, producers)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = f.produce(ctx, c) })
	}
	v, err := f.during(ctx, m, c, o.span)
	f.change(func() { f.over = true })
	all.Wait()
	if err = errors.Join(err, errors.Join(errs...), stop()); err != nil {
		return nil, err
	}
	return v, f.settle(ctx, m, c)
}

// during measures what goes in and out meanwhile, and the hot table at the end.
func (f *flow) during(ctx context.Context, m *meter, c contender, span time.Duration) (values, error) {
	pause(ctx, min(warmUp, span/5))
	added, finished := f.counts()
	used, err := m.measure(ctx, func() error {
		pause(ctx, span)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	in, out := f.counts()
	in, out = in-added, out-finished
	if out == 0 {
		return nil, fmt.Errorf("no job was finished in %v", span)
	}
	v := values{}
	v.costs("", used, out)
	v["finished jobs/s"], v["added jobs/s"] = v["jobs/s"], float64(in)/used.wall.Seconds()
	if h, ok := c.(hotTabled); ok {
		var bytes int64
		if err := m.conn.QueryRow(ctx, "select pg_total_relation_size($1::regclass)", h.hotTable()).Scan(&bytes); err != nil {
			return nil, fmt.Errorf("measure the hot table: %w", err)
		}
		v["hot table MB"] = float64(bytes) / 1e6
	}
	return v, nil
}

// hotTabled is a contender that keeps finished jobs elsewhere.
type hotTabled interface{ hotTable() string }

// settle checks that the jobs that were added are those that are finished and
// those that are left. The last ends may be told a little later.
func (f *flow) settle(ctx context.Context, m *meter, c contender) error {
	for try := 0; ; try++ {
		left, err := c.left(ctx, m.conn)
		if err != nil {
			return err
		}
		added, finished := f.counts()
		if added == finished+left {
			return nil
		}
		if try == 100 {
			return fmt.Errorf("of %d jobs that were added %d are finished and %d left", added, finished, left)
		}
		pause(ctx, 50*time.Millisecond)
	}
}
