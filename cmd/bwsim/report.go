package main

import (
	"slices"
	"strings"
	"time"

	"backwave/checker"
	"backwave/sim"
	"backwave/store"
)

// What is reported beside the invariants of package checker.
const (
	linearizable = "linearizable"
	expectation  = "expectation" // of a scenario's author
	crash        = "crash"       // a panic of a simulated world
	progress     = "progress"    // a world whose time did not go on
)

// reporter prints what came of runs, in one format.
type reporter interface {
	run(o *outcome)
	end(t *totals) error
}

// totals adds up the runs of a command.
type totals struct {
	asked       int // runs
	runs        int
	held        int
	violated    int
	undecided   int
	differ      int // runs that were not the same twice
	events      uint64
	virtual     time.Duration
	simulated   time.Duration // over all runs, so per core
	judged      time.Duration
	jobs        int // of the runs whose linearizability was checked
	decided     int // jobs among them that the black-box verdict decided
	minDecided  int // percent
	interrupted bool
	compared    bool // with a twin
}

func (t *totals) add(o *outcome) {
	t.runs++
	switch o.res.Verdict {
	case sim.Held:
		t.held++
	case sim.Violated:
		t.violated++
	case sim.Undecided:
		t.undecided++
	}
	if o.differs() {
		t.differ++
	}
	t.events += o.res.Events
	t.virtual += o.res.Virtual
	t.simulated += o.simulated
	t.judged += o.judged
	if o.linear {
		t.jobs += o.res.Linear.Jobs
		t.decided += o.res.Linear.Jobs - o.res.Linear.NotAttempted - o.res.Linear.Undecided
	}
}

// tooFewDecided reports whether the black-box verdict left out more than the
// command allows.
func (t *totals) tooFewDecided() bool { return 100*t.decided < t.minDecided*t.jobs }

// exit returns the exit code: the worst thing that was seen.
func (t *totals) exit() int {
	switch {
	case t.differ > 0:
		return exitDiffers
	case t.violated > 0:
		return exitViolated
	case t.interrupted:
		return exitCannot
	case t.undecided > 0, t.tooFewDecided():
		return exitUndecided
	}
	return exitHeld
}

// differs reports whether the same run, made twice, was not the same.
func (o *outcome) differs() bool {
	return o.second != "" || (o.twin != "" && o.twin != hash(o.res.TraceHash))
}

// names replaces the ids of jobs in a text by the names the scenario gives
// them.
func (o *outcome) names(text string) string {
	if !strings.Contains(text, "-") {
		return text
	}
	for i := range o.res.Jobs {
		if j := &o.res.Jobs[i]; !j.Row.ID.IsZero() {
			text = strings.ReplaceAll(text, j.Row.ID.String(), j.Name)
		}
	}
	return text
}

// job returns the scenario's name of a job, its id if it has none, "" for no
// job.
func (o *outcome) job(id store.JobID) string {
	if id.IsZero() {
		return ""
	}
	return o.names(id.String())
}

// violations returns what a run has violated. A violation that the scenario's
// author expects, and that there was not, breaks the expectation.
func (o *outcome) violations() []checker.Violation {
	out := o.res.Violations
	for _, name := range o.res.Missing {
		out = append(out, checker.Violation{Invariant: expectation, Event: o.res.Events, At: int64(o.res.Virtual), Message: "expected a violation of " + name + ", and there was none"})
	}
	return out
}

// breach is all that was found against one invariant in one run.
type breach struct {
	checker.Violation // the first
	more              int
	expected          bool // by the scenario's author
}

// breaches sorts the violations of a run by invariant, in the order of their
// first ones.
func (o *outcome) breaches() (out []breach) {
	at := map[string]int{}
	for _, v := range o.violations() {
		if i, ok := at[v.Invariant]; ok {
			out[i].more++
			continue
		}
		at[v.Invariant] = len(out)
		out = append(out, breach{Violation: v, expected: slices.Contains(o.sc.Expect.Violates, v.Invariant)})
	}
	return out
}

// sentence says what an invariant demands; "" for a name that stands for none.
func sentence(invariant string) string {
	for _, i := range invariants() {
		if i.Name == invariant {
			return i.Sentence
		}
	}
	return ""
}

// invariants lists all under whose names something is reported.
func invariants() []checker.Invariant {
	return append(sim.Invariants(),
		checker.Invariant{Name: expectation, Sentence: "What the scenario's author says of its end comes true."},
		checker.Invariant{Name: crash, Sentence: "The engine and the store never panic out of the simulated world."},
	)
}

// at returns when a violation happened, in true time.
func (o *outcome) at(v checker.Violation) time.Duration { return time.Duration(v.At) }
