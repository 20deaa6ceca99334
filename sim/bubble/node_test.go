package bubble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"backwave/engine"
	"backwave/engine/pump"
	"backwave/sim"
	"backwave/store"
)

// node is a machine on which one process after another runs.
type node struct {
	w     *world
	spec  *sim.Node
	clock *nodeClock

	// Guarded by w.mu:
	proc     *process // nil while none is up
	cut      [2]int   // requests, replies
	slowness time.Duration
	made     map[pumpCall]int // calls so far, over all starts

	mu    sync.Mutex
	stops int           // pauses under way
	goes  chan struct{} // closed when the last of them ends
	from  time.Time     // of the pause under way
	stood time.Duration // how long it stood still so far
	went  time.Time     // when the last pause ended
}

// stand waits while the node stands still.
func (n *node) stand() {
	for {
		n.mu.Lock()
		stops, goes := n.stops, n.goes
		n.mu.Unlock()
		if stops == 0 {
			return
		}
		<-goes
	}
}

func (n *node) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stops++; n.stops == 1 {
		n.goes, n.from = make(chan struct{}), time.Now()
	}
}

func (n *node) resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stops--; n.stops == 0 {
		n.stood += time.Since(n.from)
		n.went = time.Now()
		close(n.goes)
	}
}

// stoodStill returns how long the node has stood still so far.
func (n *node) stoodStill() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stood
}

// process is one start of an engine.
type process struct {
	w      *world
	n      *node
	number int
	engine *engine.Engine
	page   http.Handler       // of its health
	wire   *wire              // its store
	stop   context.CancelFunc // SIGTERM
	done   chan struct{}      // closed when Run has returned
	died   chan struct{}      // closed by a crash

	// Guarded by w.mu:
	hint    func(queue string)
	running []*attempt
	over    bool      // Run has returned
	ended   time.Time // when it did
	asked   time.Time
	stood   time.Duration // of the node, when it was asked
}

// dead reports whether p has crashed.
func (p *process) dead() bool {
	select {
	case <-p.died:
		return true
	default:
		return false
	}
}

// boot starts the process of n, if none is up.
func (w *world) boot(n *node) {
	n.stand()
	w.mu.Lock()
	w.procs++
	p := &process{w: w, n: n, number: w.procs, done: make(chan struct{}), died: make(chan struct{})}
	w.mu.Unlock()
	p.wire = newWire(p)
	groups, shutdown := w.groupsOf(n)
	mux := engine.NewMux()
	for _, name := range w.names {
		engine.Handle(mux, name, func(ctx context.Context, job *engine.Job[struct{}]) error { return p.handle(ctx, job.RawJob) })
	}
	mux.Use(p.spoil)
	var word [8]byte
	binary.BigEndian.PutUint64(word[:], uint64(p.number))
	e, err := engine.New(engine.Config{
		Store: p.wire, Mux: mux, Groups: groups, ShutdownTimeout: shutdown,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Clock: n.clock,
		Random: bytes.NewReader(bytes.Repeat(word[:], 64)),
	})
	if err != nil {
		w.breach("engine.New: %v", err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	p.engine, p.stop, p.page = e, stop, engine.HealthHandler(e.Health)
	w.mu.Lock()
	if n.proc != nil || w.closing {
		w.mu.Unlock()
		stop()
		return
	}
	n.proc = p
	w.begin(p)
	w.mu.Unlock()
	go func() {
		defer close(p.done)
		w.returnedFrom(p, e.Run(ctx))
	}()
}

// groupsOf returns what a process on n is configured with.
func (w *world) groupsOf(n *node) (out []engine.Group, shutdown time.Duration) {
	for i := range w.sc.Groups {
		g := &w.sc.Groups[i]
		if len(n.spec.Groups) > 0 && !slices.Contains(n.spec.Groups, g.Name) {
			continue
		}
		shutdown = max(shutdown, g.Config.Resolved().ShutdownTimeout)
		out = append(out, groupOf(g))
	}
	return out, shutdown
}

// groupOf turns a group of a plan into what a user would write.
func groupOf(g *sim.Group) engine.Group {
	c := &g.Config
	out := engine.Group{
		Name: g.Name, Queues: dispatch(c), Pumps: g.Pumps, PoolSize: c.PoolSize,
		LeaseDuration: c.LeaseDuration, HeartbeatInterval: c.HeartbeatInterval, MaintenanceInterval: c.MaintenanceInterval,
		PollInterval: c.PollInterval, MaxPollInterval: c.MaxPollInterval, OperationTimeout: c.OperationTimeout, AbandonAfter: c.AbandonAfter,
		ClaimBatch: c.ClaimBatch, ReportBatch: c.ReportBatch, SweepBatch: c.SweepBatch,
		ReleaseOnDrain: c.ReleaseOnDrain, FinishTimeout: c.FinishTimeout,
		RetryPolicies: map[string]engine.RetryPolicy{}, Timeouts: map[string]time.Duration{},
	}
	if c.Terms != nil {
		out.RetryPolicy = c.Terms.Default
		for _, p := range c.Terms.ByName {
			out.RetryPolicies[p.Name] = p.Policy
		}
	}
	for _, t := range c.Timeouts {
		out.Timeouts[t.Name] = t.After
	}
	return out
}

func dispatch(c *pump.Config) engine.Dispatch {
	names, weights := []string(nil), map[string]int{}
	for _, q := range c.Queues {
		names = append(names, q.Name)
		weights[q.Name] = max(1, q.Weight)
	}
	if c.Weighted {
		return engine.Weighted(weights)
	}
	return engine.Strict(names...)
}

// crash ends the process of n: what it sends and hears from now on comes to
// nothing, and its handlers are gone. Its goroutines then wind down unheard.
func (w *world) crash(n *node, p *process, restart time.Duration) bool {
	w.mu.Lock()
	if p == nil {
		p = n.proc
	}
	if p == nil || n.proc != p {
		w.mu.Unlock()
		return false
	}
	n.proc, p.hint = nil, nil
	for _, a := range p.running {
		a.gone = true
	}
	w.mu.Unlock()
	close(p.died)
	p.stop()
	if restart > 0 {
		w.task(func() {
			if w.sleep(restart) {
				w.boot(n)
			}
		})
	}
	return true
}

// drains is longer than any drain may take.
const drains = 2 * time.Hour

// wait waits until Run has returned. One that never does cannot be stopped, and
// would let virtual time go on for ever.
func (p *process) wait() {
	select {
	case <-p.done:
	case <-time.After(drains):
		panic(fmt.Sprintf("%s, seed %d: Run of process %d has not returned %v after it was asked to", p.w.sc.Name, p.w.seed, p.number, drains))
	}
}

// drain asks the process of n to shut down, and waits until it has.
func (w *world) drain(n *node) bool {
	n.stand()
	w.mu.Lock()
	p := n.proc
	if p == nil {
		w.mu.Unlock()
		return false
	}
	if p.asked.IsZero() {
		p.asked = time.Now()
		p.stood = n.stoodStill()
	}
	w.mu.Unlock()
	p.stop()
	p.wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.proc == p {
		n.proc = nil
	}
	return true
}

// returnedFrom judges the end of Run: it names the handlers that still run,
// and comes within the time that the configuration gives a drain.
func (w *world) returnedFrom(p *process, err error) {
	ended := time.Now()
	p.n.stand()
	w.mu.Lock()
	defer w.mu.Unlock()
	p.over, p.ended, p.hint = true, ended, nil
	if p.dead() {
		return
	}
	if p.asked.IsZero() {
		w.breachLocked("Run of process %d returned, and nobody had asked it to", p.number)
	}
	var left []engine.AbandonedJob
	if a, ok := errors.AsType[*engine.AbandonedError](err); ok {
		left = a.Jobs
	} else if err != nil {
		w.breachLocked("Run of process %d returned %v", p.number, err)
	}
	now := time.Now()
	for _, a := range p.running {
		named := slices.ContainsFunc(left, func(j engine.AbandonedJob) bool { return j.Token == a.token })
		if !named && a.began.Before(now) {
			w.breachLocked("Run of process %d returned while the handler of %s ran, and did not say so", p.number, w.token(a.token))
		}
	}
	groups, limit := w.groupsOf(p.n)
	w.hits["abandoned"] += len(left)
	if !p.asked.IsZero() && ended.Sub(p.asked) < limit/2 {
		w.hit("drained early")
	}
	w.patient(p, left, ended)
	for _, j := range left {
		a := w.attempts[j.Token]
		if a == nil || a.done && a.returned.Before(ended) {
			w.breachLocked("Run of process %d named the handler of %s, which did not run", p.number, w.token(j.Token))
		}
	}
	finish := time.Duration(0)
	for _, g := range groups {
		finish = max(finish, g.FinishTimeout)
	}
	limit += finish + time.Second // for calls that are told to end
	if !p.asked.IsZero() && p.n.stoodStill() == p.stood && now.Sub(p.asked) > limit+limit/1000+time.Millisecond {
		w.breachLocked("the drain of process %d took %v, want at most %v", p.number, now.Sub(p.asked), limit)
	}
}

// patient judges that Run has waited for the handlers that it left running as
// long as its configuration says.
func (w *world) patient(p *process, left []engine.AbandonedJob, ended time.Time) {
	groups, shutdown := w.groupsOf(p.n)
	health := p.engine.Health()
	for _, j := range left {
		wait := shutdown
		_, halted := health.HaltedGroups()[j.Group]
		_, partly := health.PartiallyHaltedGroups()[j.Group]
		if i := slices.IndexFunc(groups, func(g engine.Group) bool { return g.Name == j.Group }); i >= 0 && !halted && !partly {
			wait += groups[i].FinishTimeout
		}
		if took := ended.Sub(p.asked); took < wait-wait/1000-time.Millisecond {
			w.breachLocked("Run of process %d left the handler of %s running after %v, and had to wait %v", p.number, w.token(j.Token), took, wait)
		}
	}
}

// token is what people call an attempt.
func (w *world) token(t store.Token) string { return fmt.Sprintf("%s#%d", w.jobName(t.Job), t.Attempt) }
