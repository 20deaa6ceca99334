package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"backwave/engine"
	"backwave/store"
)

const (
	benchQueue = "bench"
	benchName  = "noop"
	benchWarm  = 20 // jobs that run, one after the other, before latency is measured
	benchLook  = 100 * time.Millisecond
	benchTell  = 2 * time.Second // from one line of progress to the next
)

// benchPayload is that of every job, about 100 bytes of JSON.
type benchPayload struct {
	Sent int64  `json:"sent"` // when it was to be enqueued, Unix nanoseconds
	Fill string `json:"fill"`
}

// benchmark measures one store.
type benchmark struct {
	o      *benchOptions
	st     store.Store
	client *engine.Client
	group  engine.Group
	tell   io.Writer    // progress
	done   atomic.Int64 // jobs of this step so far
}

// newBenchmark refuses options that the engine does not take.
func newBenchmark(st store.Store, o *benchOptions, tell io.Writer) (*benchmark, error) {
	b := &benchmark{
		o: o, st: st, tell: tell,
		client: engine.NewClient(engine.ClientConfig{Store: st, Queue: benchQueue}),
		group: engine.Group{
			Name: "bench", Queues: engine.Strict(benchQueue),
			Pumps: o.pumps, PoolSize: o.pool, ClaimBatch: o.batch, ReportBatch: o.batch,
		},
	}
	if _, err := b.engine(nil, nil); err != nil {
		return nil, err
	}
	return b, nil
}

// run takes the steps one after the other.
func (b *benchmark) run(ctx context.Context) ([]figure, error) {
	var out []figure
	for _, step := range []struct {
		name string
		does string
		run  func(context.Context) (figure, error)
	}{
		{"enqueue", fmt.Sprintf("%d jobs in bulk", b.o.jobs), b.enqueue},
		{"drain", fmt.Sprintf("%d jobs that do nothing", b.o.jobs), b.drain},
		{"start", fmt.Sprintf("%d jobs a second for %v, until their handlers start", b.o.rate, b.o.length), b.start},
	} {
		fmt.Fprintf(b.tell, "bench: %s: %s\n", step.name, step.does)
		stop := b.progress(step.name)
		f, err := step.run(ctx)
		stop()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
		f.Step = step.name
		out = append(out, f)
	}
	return out, nil
}

// progress tells from time to time how far a step has come.
func (b *benchmark) progress(step string) (stop func()) {
	b.done.Store(0)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(benchTell)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				fmt.Fprintf(b.tell, "bench: %s: %d so far\n", step, b.done.Load())
			}
		}
	}()
	return func() { close(end); <-ended }
}

func newBenchJob(due time.Time) engine.NewJob {
	return engine.NewJob{Name: benchName, Args: benchPayload{due.UnixNano(), strings.Repeat("x", 60)}}
}

// pace returns the figure of n jobs that took so long.
func pace(n int, took time.Duration) figure {
	return figure{Jobs: n, Seconds: took.Seconds(), Rate: float64(n) / took.Seconds()}
}

// enqueue adds all jobs, in parts so that memory is bounded.
func (b *benchmark) enqueue(ctx context.Context) (figure, error) {
	const part = 5000
	began := time.Now()
	for left := b.o.jobs; left > 0; left -= part {
		jobs := make([]engine.NewJob, min(part, left))
		for i := range jobs {
			jobs[i] = newBenchJob(began)
		}
		if _, err := b.client.EnqueueMany(ctx, jobs); err != nil {
			return figure{}, err
		}
		b.done.Add(int64(len(jobs)))
	}
	return pace(b.o.jobs, time.Since(began)), nil
}

// drain measures from the start of the worker until the last outcome is
// recorded.
func (b *benchmark) drain(ctx context.Context) (figure, error) {
	all := make(chan struct{})
	began := time.Now()
	err := b.work(ctx, func(int64) {}, func(n int) {
		if now := b.done.Add(int64(n)); now >= int64(b.o.jobs) && now-int64(n) < int64(b.o.jobs) {
			close(all)
		}
	}, func(wait func(<-chan struct{}) error) error { return wait(all) })
	return pace(b.o.jobs, time.Since(began)), err
}

// start adds jobs at the rate, each at its instant whether or not the one before
// has been answered, and measures from that instant to the handler.
func (b *benchmark) start(ctx context.Context) (figure, error) {
	var (
		mu      sync.Mutex
		waits   []time.Duration
		started = make(chan struct{}, 1)
		n       = max(1, int(b.o.length.Seconds()*float64(b.o.rate)))
		f       figure
	)
	begun := func(sent int64) {
		wait := time.Duration(time.Now().UnixNano() - sent)
		mu.Lock()
		waits = append(waits, wait)
		full := len(waits) <= benchWarm || len(waits) == benchWarm+n
		mu.Unlock()
		if full {
			started <- struct{}{}
		}
	}
	err := b.work(ctx, begun, func(n int) { b.done.Add(int64(n)) }, func(wait func(<-chan struct{}) error) error {
		for range benchWarm { // until the worker listens and plans are made
			if _, err := b.client.EnqueueMany(ctx, []engine.NewJob{newBenchJob(time.Now())}); err != nil {
				return err
			}
			if err := wait(started); err != nil {
				return err
			}
		}
		began := time.Now()
		if err := b.send(ctx, n, began); err != nil {
			return err
		}
		err := wait(started)
		f = pace(n, time.Since(began))
		return err
	})
	if err != nil {
		return f, err
	}
	measured := waits[benchWarm:]
	slices.Sort(measured)
	at := func(percent int) float64 { return float64(measured[(len(measured)-1)*percent/100]) / 1e6 }
	f.P50, f.P99, f.Max = at(50), at(99), at(100)
	return f, nil
}

// send adds n jobs at the rate, and returns when all are added.
func (b *benchmark) send(ctx context.Context, n int, began time.Time) error {
	var sending sync.WaitGroup
	errs := make([]error, n)
	for i := range errs {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(b.o.rate))
		if err := pause(ctx, time.Until(due)); err != nil {
			sending.Wait()
			return err
		}
		sending.Go(func() { _, errs[i] = b.client.EnqueueMany(ctx, []engine.NewJob{newBenchJob(due)}) })
	}
	sending.Wait()
	return errors.Join(errs...)
}

// pause waits, or ends with ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// engine returns a worker that tells when handlers start, and how many successes
// are recorded.
func (b *benchmark) engine(started func(sent int64), recorded func(n int)) (*engine.Engine, error) {
	mux := engine.NewMux()
	engine.Handle(mux, benchName, func(_ context.Context, job *engine.Job[benchPayload]) error {
		started(job.Args.Sent)
		return nil
	})
	return engine.New(engine.Config{
		Store: &counted{passer{b.st}, recorded}, Mux: mux, Groups: []engine.Group{b.group},
		Logger: slog.New(slog.DiscardHandler),
	})
}

// work lets a worker run while do does its part. wait waits for a channel, and
// gives up when ctx ends or the worker has halted.
func (b *benchmark) work(ctx context.Context, started func(sent int64), recorded func(n int), do func(wait func(<-chan struct{}) error) error) error {
	e, err := b.engine(started, recorded)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- e.Run(running) }()
	err = do(func(what <-chan struct{}) error {
		look := time.NewTicker(benchLook)
		defer look.Stop()
		for {
			select {
			case <-what:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-look.C:
				for _, why := range e.Health().HaltedGroups() {
					return fmt.Errorf("the worker has halted: %v", why)
				}
			}
		}
	})
	stop()
	return errors.Join(err, <-ended)
}

// counted tells how many successes a store has recorded.
type counted struct {
	passer
	recorded func(n int)
}

// Report implements store.Leaser.
func (c *counted) Report(ctx context.Context, r *store.Report) (*store.Reported, error) {
	out, err := c.Store.Report(ctx, r)
	if err == nil {
		n := 0
		for _, a := range out.Rows {
			if a.Status == store.ReportApplied && a.To == store.Succeeded {
				n++
			}
		}
		c.recorded(n)
	}
	return out, err
}
