package simtest

import (
	"context"
	"fmt"
	"sync/atomic"

	"backwave/engine"
	"backwave/engine/pump"
	"backwave/sim"
)

// crew is all handlers of one run. At most one of them runs at a time, and only
// while the world waits for it.
type crew struct {
	world     *World
	build     func() *engine.Mux
	processes map[int]*engine.Runner    // by number; looked up only
	current   atomic.Pointer[coroutine] // the one that runs; nil = the world does
	calls     []string                  // of all handlers, in order
	made      map[string]int            // most calls of one attempt that faults can hit, by name of the handler
	foul      *foul                     // what makes it impossible to go on
	dog       *watchdog
}

// newCrew makes the world of one run, and its handlers. close must be called.
func newCrew(s *setting) *crew {
	w := &World{set: s, ledger: &Ledger{}}
	c := &crew{world: w, processes: map[int]*engine.Runner{}, made: map[string]int{}, dog: newWatchdog(s.Patience)}
	w.crew, w.ledger.world = c, w
	c.build = s.Setup(w)
	if c.build == nil {
		panic("simtest: Setup returned nil, want a function that returns the handlers")
	}
	return c
}

// Start implements sim.Handlers.
func (c *crew) Start(a sim.Attempt) sim.Coroutine {
	return newCoroutine(c, a, c.runner(a.Process))
}

// runner returns the handlers of a process, which are made when its first one
// starts.
func (c *crew) runner(process int) *engine.Runner {
	if r, ok := c.processes[process]; ok {
		return r
	}
	r, err := engine.NewRunner(c.build())
	if err != nil {
		panic(fmt.Sprintf("simtest: the handlers that Setup returned: %v", err))
	}
	c.processes[process] = r
	return r
}

// note adds a call to those by which two runs are compared.
func (c *crew) note(format string, args ...any) {
	c.calls = append(c.calls, fmt.Sprintf(format, args...))
}

// caller returns the handler that runs, for a fake that was called; ctx need not
// be the handler's. what is the name of the fake.
func (c *crew) caller(what string) *coroutine {
	co := c.current.Load()
	if co == nil {
		if c.dog.dying.Load() == goroutine() {
			exit()
		}
		panic(fmt.Sprintf("simtest: %s was called while no handler runs: it is for handlers only", what))
	}
	return co
}

// coroutine is the handler of one attempt.
type coroutine struct {
	crew    *crew
	attempt sim.Attempt
	runner  *engine.Runner
	ctx     context.Context
	end     context.CancelCauseFunc

	needs  chan sim.Need // from the handler to the world
	resume chan error    // back
	id     atomic.Uint64 // of its goroutine
	wait   context.Context
	made   int // calls that faults can hit
	began  bool
	dying  bool // its process is dead
	over   bool // its goroutine is at its end
	result engine.Result
}

var (
	_ sim.Coroutine   = (*coroutine)(nil)
	_ engine.Listener = (*coroutine)(nil)
	_ engine.Time     = (*coroutine)(nil)
)

func newCoroutine(c *crew, a sim.Attempt, r *engine.Runner) *coroutine {
	co := &coroutine{crew: c, attempt: a, runner: r, needs: make(chan sim.Need, 1), resume: make(chan error, 1)}
	ctx, end := context.WithCancelCause(context.Background())
	co.ctx, co.end = engine.WithTime(ctx, co), end
	return co
}

// name is what people call the attempt.
func (co *coroutine) name() string {
	return fmt.Sprintf("%s#%d", co.attempt.Job, co.attempt.Lease.Key.Attempt)
}

// Resume implements sim.Coroutine.
func (co *coroutine) Resume(err error) sim.Need {
	c := co.crew
	if c.foul != nil {
		return sim.NeedStop{}
	}
	c.current.Store(co)
	if co.began {
		co.resume <- err
	} else {
		co.began = true
		go co.run()
	}
	need, ok := c.dog.wait(co)
	c.current.Store(nil)
	if !ok {
		c.foul = c.dog.blocked(co)
		co.over = true // it is left where it is
		return sim.NeedStop{}
	}
	if _, ended := need.(sim.NeedEnd); ended {
		co.over = true
		co.end(context.Canceled)
	}
	if c.foul = c.dog.stranger(); c.foul != nil {
		return sim.NeedStop{}
	}
	return need
}

// run is the goroutine of the handler.
func (co *coroutine) run() {
	co.id.Store(goroutine())
	defer func() {
		co.crew.note("%s returns", co.name())
		co.needs <- sim.NeedEnd{Result: co.result}
	}()
	a := co.attempt
	co.runner.Run(co.ctx, a.Lease, a.Worker, a.Length, co)
}

// Cancel implements sim.Coroutine.
func (co *coroutine) Cancel(why pump.Reason) bool {
	co.end(engine.Cause(why))
	return co.wait != nil && co.wait.Err() != nil
}

// Drop implements sim.Coroutine: the goroutine leaves where it stands. Functions
// that it has deferred run, for Go cannot do without, but the fakes are dead to
// them.
func (co *coroutine) Drop() {
	if co.over {
		return
	}
	co.over = true
	co.end(context.Canceled)
	if !co.began {
		return
	}
	co.dying = true
	c := co.crew
	c.dog.dying.Store(co.id.Load())
	co.resume <- nil
	if _, ok := c.dog.wait(co); !ok && c.foul == nil {
		c.foul = c.dog.blocked(co)
	}
	c.dog.dying.Store(0)
}

// need makes the world do something for the handler, and waits for it.
func (co *coroutine) need(n sim.Need) error {
	co.needs <- n
	err := <-co.resume
	if co.dying {
		exit()
	}
	return err
}

// call is need for what a fault can hit. The end of ctx ends the wait.
func (co *coroutine) call(ctx context.Context, n sim.Need) error {
	name := co.attempt.Lease.Name
	co.made++
	co.crew.made[name] = max(co.crew.made[name], co.made)
	co.wait = ctx
	defer func() { co.wait = nil }()
	return co.need(n)
}

// mine makes sure that the handler's own goroutine calls, and that its process
// is alive. what is the name of what was called.
func (co *coroutine) mine(what string) {
	if goroutine() != co.id.Load() {
		co.crew.dog.bite(co, what)
		exit()
	}
	if co.dying {
		exit()
	}
}

// Progressed implements engine.Listener.
func (co *coroutine) Progressed(fetch func() []byte) {
	co.mine("Job.SetProgress")
	_ = co.need(sim.NeedProgress{Fetch: fetch})
}

// Completing implements engine.Listener.
func (co *coroutine) Completing() {
	co.mine("Job.Completing")
	_ = co.need(sim.NeedCompleting{})
}

// Completed implements engine.Listener.
func (co *coroutine) Completed(how completion) {
	co.mine("Job.Completed")
	_ = co.need(sim.NeedCompleted{How: how})
}

// Done implements engine.Listener.
func (co *coroutine) Done(r engine.Result) { co.result = r }
