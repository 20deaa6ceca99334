package main

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"backwave/checker"
	"backwave/history"
	"backwave/sim"
)

// outcome is what came of one task.
type outcome struct {
	task
	res       *sim.Result
	linear    bool          // linearizability was checked
	simulated time.Duration // spent simulating and checking invariants
	judged    time.Duration // spent on linearizability
	wall      time.Duration
	story     []sim.Line
	whole     bool   // the story is to be told in full
	stack     string // of a crash
	files     []string
	err       error  // a file could not be written
	second    string // trace hash of a second run that differed; "" if none did
	twin      string // trace hash in the twin; "" if there was none to compare
	twinErr   error
}

// hash prints a trace hash.
func hash(h uint64) string { return fmt.Sprintf("%016x", h) }

// player makes runs.
type player struct {
	linear bool
	story  bool // of every run
	tails  bool // the story of a run that did not hold, made by a second run
	files  fileNames
	logs   []*history.Log // one per worker
	stop   func() bool    // asked during a run; nil = never
}

// newPlayer returns a player for so many workers.
func newPlayer(workers int) *player {
	p := &player{linear: true}
	for range workers {
		p.logs = append(p.logs, history.NewLog())
	}
	return p
}

func (p *player) play(worker int, t task) *outcome {
	began := time.Now()
	o := &outcome{task: t, whole: p.story}
	opts := sim.Options{Seed: t.seed, Stop: p.stop}
	if p.linear || p.files.history != "" {
		opts.Log = p.logs[worker]
		opts.Log.Reset()
	}
	if p.story {
		opts.Story = o.tell
	}
	out, err := p.files.open(&t)
	if err != nil {
		o.err = err
	}
	opts.Trace = out.traceLine()
	o.run(opts)
	if p.linear && o.stack == "" {
		o.check(opts.Log)
	}
	o.files, err = out.close(opts.Log)
	if o.err == nil {
		o.err = err
	}
	if name := p.files.pages.name(o); name != "" && o.err == nil {
		o.err = o.draw(name, opts.Log)
	}
	if p.tails && !p.story && o.res.Verdict != sim.Held {
		o.again()
	}
	o.wall = time.Since(began)
	return o
}

func (o *outcome) tell(l sim.Line) { o.story = append(o.story, l) }

// run simulates. A panic in a world is a finding, not the end of bwsim.
func (o *outcome) run(opts sim.Options) {
	began := time.Now()
	defer func() {
		o.simulated = time.Since(began)
		if v := recover(); v != nil {
			o.stack = string(debug.Stack())
			o.res = &sim.Result{Scenario: o.sc, Seed: o.seed, Verdict: sim.Violated, Violations: []checker.Violation{{Invariant: crash, Message: fmt.Sprintf("panic: %v, in %s", v, panicked(o.stack))}}}
		}
	}()
	o.res = sim.Run(o.sc, opts)
}

// panicked returns the function of ours that a stack says panicked, so that two
// bugs with one text are told apart.
func panicked(stack string) string {
	_, below, _ := strings.Cut(stack, "\npanic(")
	for line := range strings.Lines(below) {
		if name, ok := strings.CutPrefix(line, "backwave/"); ok {
			return name[:max(0, strings.LastIndexByte(name, '('))]
		}
	}
	return "code of others"
}

func (o *outcome) check(log *history.Log) {
	began := time.Now()
	o.res.CheckLinear(log)
	o.linear = true
	o.judged = time.Since(began)
}

// again makes the run a second time for its story. It had better be the same.
func (o *outcome) again() {
	second := &outcome{task: o.task}
	second.run(sim.Options{Seed: o.seed, Story: second.tell})
	o.story = second.story
	if second.res.TraceHash != o.res.TraceHash {
		o.second = hash(second.res.TraceHash)
	}
}
