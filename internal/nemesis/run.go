//go:build unix

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"backwave/clockx"
)

// run is one run under way.
type run struct {
	cfg     Config
	ground  *ground
	nodes   []*node
	clocks  *clocks
	trouble context.Context // ends when the trouble does

	enqueued atomic.Int64

	mu     sync.Mutex // guards what is below
	report *Report
	faults int
	err    error // why it cannot go on
}

func (r *run) now() time.Time { return clockx.Wall{}.Now() }

// find notes something that did not hold.
func (r *run) find(check, job, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report.Found(check) >= mostFindings {
		r.report.More[check]++
		return
	}
	r.report.Findings = append(r.report.Findings, Finding{check, job, fmt.Sprintf(format, args...)})
}

// fail notes that the run itself has broken.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
}

func (r *run) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Run makes a run and judges it. An error says that it could not be made, or not
// to its end; what had been found by then is in the report, which is not nil. If
// ctx ends the report says that the run was interrupted, and nothing of it was
// judged but what was seen on the way. When Run returns, all processes and
// servers that it has started are gone.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	r := &run{report: &Report{More: map[string]int{}, Ends: map[string]int{}}}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return r.report, fmt.Errorf("nemesis: %w", err)
	}
	r.cfg = cfg
	r.report.Store, r.report.Seed, r.report.Workers = cfg.Store, cfg.Seed, cfg.Workers
	if err := r.whole(ctx); err != nil {
		return r.report, fmt.Errorf("nemesis: %w", err)
	}
	return r.report, nil
}

func (r *run) whole(ctx context.Context) (err error) {
	if r.ground, err = makeGround(ctx, &r.cfg); err != nil {
		return err
	}
	defer r.ground.close()
	r.report.Ground = r.ground.what
	r.clocks = watchClocks()
	defer r.clocks.stop()
	s, err := r.open(ctx, client)
	if err != nil {
		return err
	}
	defer s.close()
	defer r.stop(true)
	e, err := r.newEnqueuer(s)
	if err != nil {
		return err
	}
	if err := r.act(ctx, e); err != nil {
		return err
	}
	e.close()
	if ctx.Err() == nil {
		// The client's own way may have been harmed: judge by the direct one.
		direct, err := open(ctx, r.ground.dsn, r.ground.schema)
		if err != nil {
			return err
		}
		defer direct.close()
		left := r.heal(ctx, direct)
		r.stop(false)
		if ctx.Err() == nil && r.failed() == nil {
			err = r.judge(ctx, direct, e, left)
			r.report.Checked = err == nil
		}
		if err != nil {
			r.fail(err)
		}
	}
	r.report.Interrupted = ctx.Err() != nil
	r.clean(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return r.failed()
}

// open opens the store by the way of who.
func (r *run) open(ctx context.Context, who string) (*shop, error) {
	dsn, err := r.ground.dsnOf(who)
	if err != nil {
		return nil, err
	}
	return open(ctx, dsn, r.ground.schema)
}

// act starts the workers, and then lets the plan and the enqueues go on side by
// side until the trouble is over.
func (r *run) act(ctx context.Context, e *enqueuer) error {
	trouble, over := clockx.WithTimeout(ctx, clockx.Wall{}, r.cfg.For, context.DeadlineExceeded)
	defer over()
	r.trouble = trouble
	for i := range r.cfg.Workers {
		n := &node{name: nodeName(i), run: r}
		dsn, err := r.ground.dsnOf(n.name)
		if err != nil {
			return err
		}
		n.args = [2]string{dsn, r.ground.schema}
		r.nodes = append(r.nodes, n)
		if err := n.start(); err != nil {
			return err
		}
	}
	r.report.Began = r.now()
	var all sync.WaitGroup
	byTarget := map[string][]Fault{}
	plan := r.cfg.plan()
	for _, f := range plan {
		byTarget[f.Target] = append(byTarget[f.Target], f)
	}
	for target, faults := range byTarget {
		all.Go(func() { r.harm(trouble, target, faults) })
	}
	all.Go(func() { e.enqueue(trouble) })
	for clockx.Sleep(trouble, clockx.Wall{}, tellEvery) == nil && r.failed() == nil {
		r.tell("trouble", r.report.Began, r.cfg.For, -1)
	}
	over()
	all.Wait()
	r.report.Trouble = r.now().Sub(r.report.Began)
	slices.SortFunc(r.report.Done, func(a, b Done) int { return a.Began.Compare(b.Began) })
	return r.failed()
}

// tellEvery is the time from one word on the progress to the next.
const tellEvery = 200 * time.Millisecond

func (r *run) tell(phase string, began time.Time, of time.Duration, left int) {
	r.mu.Lock()
	p := Progress{Phase: phase, Past: r.now().Sub(began), Of: of, Enqueued: int(r.enqueued.Load()), Left: left, Faults: r.faults, Findings: len(r.report.Findings)}
	for _, n := range r.report.More {
		p.Findings += n
	}
	r.mu.Unlock()
	r.cfg.Tell(p)
}

// harm does to one target what the plan says, one thing after the other. What is
// late because the one before took long is done at once.
func (r *run) harm(ctx context.Context, target string, faults []Fault) {
	for _, f := range faults {
		if clockx.Sleep(ctx, clockx.Wall{}, f.At-r.now().Sub(r.report.Began)) != nil {
			return
		}
		r.mu.Lock()
		r.faults++
		r.mu.Unlock()
		d := Done{Fault: f, Began: r.now()}
		err := r.suffer(ctx, target, f)
		d.Ended = r.now()
		if err != nil {
			d.Err = err.Error()
			r.fail(fmt.Errorf("%s of %s: %w", f.Kind, target, err))
		}
		r.mu.Lock()
		r.report.Done = append(r.report.Done, d)
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (r *run) suffer(ctx context.Context, target string, f Fault) error {
	if who, ok := strings.CutPrefix(target, "connection of "); ok {
		r.ground.sufferWay(ctx, who, f)
		return nil
	}
	switch f.Kind.Target() {
	case onServer:
		return r.ground.sufferServer(ctx, f)
	case onFile:
		return r.ground.sufferFile(ctx, f)
	}
	i := slices.IndexFunc(r.nodes, func(n *node) bool { return n.name == target })
	return r.nodes[i].suffer(ctx, f)
}

// stop ends all workers.
func (r *run) stop(kill bool) {
	var all sync.WaitGroup
	for _, n := range r.nodes {
		all.Go(func() { n.stop(kill) })
	}
	all.Wait()
	if r.report.Processes == nil {
		for _, n := range r.nodes {
			r.report.Processes = append(r.report.Processes, n.past...)
		}
	}
}

// clean removes what is on a server of somebody's, unless there is something to
// be looked at.
func (r *run) clean(ctx context.Context) {
	if r.cfg.URL == "" {
		return
	}
	if len(r.report.Findings) > 0 {
		r.report.Ground += ", schema " + r.ground.schema + ", which is still there"
		return
	}
	if err := drop(context.WithoutCancel(ctx), r.ground.dsn, r.ground.schema); err != nil {
		r.fail(err)
	}
}
