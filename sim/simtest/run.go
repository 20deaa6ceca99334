package simtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"backwave/history"
	"backwave/sim"
	"backwave/sim/timeline"
)

// What is reported beside the invariants of the engine and of the author.
const (
	deterministic = "deterministic handlers"
	runnable      = "runnable handlers"
)

// Failure is a timeline in which something was violated.
type Failure struct {
	Invariant string        // the one that was violated first: the engine's name for its own, or that given to Always or AtEnd
	Message   string        // how
	At        time.Duration // true time since the start of the world
	Timeline  []sim.Fault   // what went wrong and led to it
	Tried     int           // timelines that were played until it was found, this one included; 0 if it was not searched for
	Story     []sim.Line    // what happened, with the violation in its place
	Plan      []byte        // the run as a plan file

	stack string // of a handler that could not be run
	rapid string // what rapid said of it
	page  *timeline.Page
}

// Run plays the one timeline of sc, and fails the test with a story if an
// invariant is violated. With BW_PLAN=FILE in the environment it plays that plan
// instead, and plans in testdata/simtest/<name of the test> it plays as well.
func Run(t testing.TB, sc Scenario) {
	t.Helper()
	s := ready(t, sc)
	if replayed(t, s) {
		return
	}
	if f := s.judge(nil, true); f != nil {
		s.tell(f, nil)
		fail(t, f)
	}
}

// ready makes sc ready for the test t, or ends it.
func ready(t testing.TB, sc Scenario) *setting {
	t.Helper()
	s, err := sc.resolve(t.Name())
	if err != nil {
		t.Fatalf("simtest: scenario:\n%v", err)
	}
	return s
}

// outcome is one run.
type outcome struct {
	res   *sim.Result
	log   *history.Log
	calls []string
	foul  *foul
	made  map[string]int // most calls of one attempt that faults can hit, by name of the handler
}

// world is the world with what goes wrong beside the faults of the scenario.
func (s *setting) world(more []sim.Fault) *sim.Scenario {
	sc := s.sim
	sc.Timeline = slices.Concat(s.sim.Timeline, more)
	return &sc
}

// play runs the world once. Of opts it uses who listens.
func (s *setting) play(more []sim.Fault, opts sim.Options) *outcome {
	c := newCrew(s)
	o := &outcome{log: &history.Log{}}
	opts.Seed, opts.Log, opts.Handlers = s.Seed, o.log, c
	o.res = sim.Run(s.world(more), opts)
	o.calls, o.foul, o.made = c.calls, c.foul, c.made
	if o.foul == nil {
		o.foul = c.dog.stranger()
	}
	if o.foul == nil {
		o.res.CheckLinear(o.log)
	}
	return o
}

// judge plays a timeline, twice if it is to be compared with itself, and returns
// what is wrong with it; nil if nothing is.
func (s *setting) judge(more []sim.Fault, twice bool) *Failure {
	o := s.play(more, sim.Options{})
	f := o.failure()
	if twice && (f == nil || f.Invariant != runnable) {
		if how := differs(o, s.play(more, sim.Options{})); how != "" {
			f = &Failure{Invariant: deterministic, Message: how, At: o.res.Virtual}
		}
	}
	return f
}

// failure returns what is wrong with a run; nil if nothing is.
func (o *outcome) failure() *Failure {
	if o.foul != nil {
		return &Failure{Invariant: runnable, Message: o.foul.text, At: o.res.Virtual, stack: o.foul.stack}
	}
	var f *Failure
	for _, v := range o.res.Violations {
		if at := time.Duration(v.At); f == nil || at < f.At {
			f = &Failure{Invariant: v.Invariant, Message: named(o.res, v.Message), At: at}
		}
	}
	return f
}

// differs says in what two runs of one timeline differ; "" if in nothing.
func differs(a, b *outcome) string {
	n := min(len(a.calls), len(b.calls))
	for i := range n {
		if a.calls[i] != b.calls[i] {
			return fmt.Sprintf("played twice from one seed, call %d of the handlers was first\n    %s\nand then\n    %s\nHandlers may depend on their job, on the answers they get and on what their process keeps; not on package time, chance, the order of maps, or variables outside of Setup", i+1, a.calls[i], b.calls[i])
		}
	}
	if len(a.calls) != len(b.calls) {
		return fmt.Sprintf("played twice from one seed, the handlers made %d calls at first and then %d", len(a.calls), len(b.calls))
	}
	if a.res.TraceHash != b.res.TraceHash {
		return "played twice from one seed, the world went another way although the handlers made the same calls: servers or invariants differ, or what handlers returned"
	}
	return ""
}
