//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"backwave/checker"
	"backwave/internal/nemesis"
	"backwave/sim/timeline"
)

// realOutcome is a report of a run with where its files are.
type realOutcome struct {
	*nemesis.Report
	min    int // percent of the jobs that must have been decided
	dir    string
	kept   bool
	page   string // file; "" if there is none
	repeat string
}

func (o *realOutcome) verdict() string {
	switch {
	case len(o.Findings) > 0:
		return "violated"
	case o.Interrupted:
		return "interrupted"
	case o.tooFewDecided():
		return "undecided"
	}
	return "held"
}

func (o *realOutcome) tooFewDecided() bool {
	return 100*(o.LinearJobs-o.NotAttempted-o.Undecided) < o.min*o.LinearJobs
}

func (o *realOutcome) exit() int {
	return map[string]int{"held": exitHeld, "violated": exitViolated, "interrupted": exitCannot, "undecided": exitUndecided}[o.verdict()]
}

// tally is what was done of one kind.
type tally struct {
	kind   nemesis.Kind
	times  int
	lasted time.Duration
	whom   []string
}

func (o *realOutcome) tallies() (out []tally) {
	for _, k := range nemesis.Kinds() {
		t := tally{kind: k}
		for i := range o.Done {
			if d := &o.Done[i]; d.Kind == k {
				t.times++
				t.lasted += d.Ended.Sub(d.Began)
				if !slices.Contains(t.whom, d.Target) {
					t.whom = append(t.whom, d.Target)
				}
			}
		}
		slices.Sort(t.whom)
		if t.times > 0 {
			out = append(out, t)
		}
	}
	return out
}

func (o *realOutcome) print(s *screen) {
	s.printf("%s: %s, %s, seed %d\n\nwhat was done in %v\n", o.Store, o.Ground, count(o.Workers, "worker"), o.Seed, o.Trouble.Round(time.Second))
	for _, t := range o.tallies() {
		s.printf("  %-18s %4d times, %6.1f s in all: %s\n", t.kind, t.times, t.lasted.Seconds(), strings.Join(t.whom, ", "))
	}
	if len(o.Done) == 0 {
		s.printf("  nothing\n")
	}
	if !o.Checked {
		o.printFindings(s)
		s.printf("\n%s before it was judged\n", s.paint(yellow, o.verdict()))
		o.printFiles(s)
		return
	}
	s.printf("\nwhat came of it\n")
	s.printf("  %s, %d acknowledged; %s by %s\n", count(o.Jobs, "job"), o.Acknowledged, count(o.Attempts, "attempt"), plural(len(o.Processes), "process", "processes"))
	s.printf("  attempts ended as %s\n", o.ends())
	s.printf("  plain writes: %d of %s were made more than once, which is allowed\n", o.PlainDoubled, count(o.PlainJobs, "job"))
	s.printf("  writes in the success's transaction: %d of %s\n", o.TxWrites, count(o.TxJobs, "job"))
	s.printf("  healed in %v, bound %v\n", o.HealTook.Round(100*time.Millisecond), o.HealBound)
	s.printf("  histories of %s: %s, %d without an answer; clocks apart by at most %v\n", count(len(o.Histories), "file"), count(o.Calls, "call"), o.Unanswered, o.ClockSpread)
	s.printf("  linearizability could not be judged for %d of %s: %d had too many calls without an answer, %d spent the budget\n", o.NotAttempted+o.Undecided, count(o.LinearJobs, "job"), o.NotAttempted, o.Undecided)
	s.printf("\nwhat held\n")
	for _, c := range nemesis.Checks() {
		word := s.paint(green, "held    ")
		if n := o.Found(c.Name); n > 0 {
			word = s.paint(red, "VIOLATED")
		}
		s.printf("  %s  %-13s %s\n", word, c.Name, c.Sentence)
	}
	o.printFindings(s)
	colour := map[string]string{"held": green, "violated": red}[o.verdict()]
	s.printf("\n%s  %s\n", s.paint(colour, strings.ToUpper(o.verdict())), o.repeat)
	o.printFiles(s)
}

// plural is count for a noun that takes no s.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(uint64(n)) + " " + many
}

// ends lists how attempts ended, most frequent first.
func (o *realOutcome) ends() string {
	kinds := make([]string, 0, len(o.Ends))
	for k := range o.Ends {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if d := o.Ends[b] - o.Ends[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%s %d", k, o.Ends[k])
	}
	return strings.Join(kinds, ", ")
}

func (o *realOutcome) printFindings(s *screen) {
	for _, c := range nemesis.Checks() {
		if o.Found(c.Name) == 0 {
			continue
		}
		s.printf("\nviolates %s\n", s.paint(bold, c.Name))
		for _, f := range o.Findings {
			if f.Check != c.Name {
				continue
			}
			job := ""
			if f.Job != "" {
				job = "job " + f.Job + ": "
			}
			s.printf("  %s%s\n", job, f.Message)
		}
		if n := o.More[c.Name]; n > 0 {
			s.printf("  … and %d more\n", n)
		}
	}
}

func (o *realOutcome) printFiles(s *screen) {
	if !o.kept {
		return
	}
	s.printf("files: %s", o.dir)
	if o.page != "" {
		s.printf(", drawn in %s", o.page)
	}
	s.printf("\n")
}

type jsonReal struct {
	Store        string            `json:"store"`
	Seed         uint64            `json:"seed"`
	Verdict      string            `json:"verdict"`
	Workers      int               `json:"workers"`
	TroubleS     float64           `json:"trouble_s"`
	Faults       map[string]int    `json:"faults"`
	Jobs         int               `json:"jobs"`
	Acknowledged int               `json:"acknowledged"`
	Attempts     int               `json:"attempts"`
	Ends         map[string]int    `json:"ends"`
	Processes    int               `json:"processes"`
	PlainJobs    int               `json:"plain_jobs"`
	PlainDoubled int               `json:"plain_doubled"`
	TxJobs       int               `json:"tx_jobs"`
	TxWrites     int               `json:"tx_writes"`
	HealBoundS   float64           `json:"heal_bound_s"`
	HealTookS    float64           `json:"heal_took_s"`
	Calls        int               `json:"calls"`
	Unanswered   int               `json:"unanswered"`
	LinearJobs   int               `json:"linear_jobs"`
	NotAttempted int               `json:"not_attempted"`
	Undecided    int               `json:"undecided"`
	ClockSpread  int64             `json:"clock_spread_ns"`
	Violations   []jsonRealFinding `json:"violations"`
	Dir          string            `json:"dir,omitempty"`
	Page         string            `json:"page,omitempty"`
	Repeat       string            `json:"repeat"`
}

type jsonRealFinding struct {
	Invariant string `json:"invariant"`
	Job       string `json:"job,omitempty"`
	Message   string `json:"message"`
}

func (o *realOutcome) json() jsonReal {
	j := jsonReal{
		Store: o.Store, Seed: o.Seed, Verdict: o.verdict(), Workers: o.Workers, TroubleS: o.Trouble.Seconds(), Faults: map[string]int{},
		Jobs: o.Jobs, Acknowledged: o.Acknowledged, Attempts: o.Attempts, Ends: o.Ends, Processes: len(o.Processes),
		PlainJobs: o.PlainJobs, PlainDoubled: o.PlainDoubled, TxJobs: o.TxJobs, TxWrites: o.TxWrites,
		HealBoundS: o.HealBound.Seconds(), HealTookS: o.HealTook.Seconds(), Calls: o.Calls, Unanswered: o.Unanswered,
		LinearJobs: o.LinearJobs, NotAttempted: o.NotAttempted, Undecided: o.Undecided, ClockSpread: int64(o.ClockSpread),
		Violations: []jsonRealFinding{}, Page: o.page, Repeat: o.repeat,
	}
	for _, t := range o.tallies() {
		j.Faults[string(t.kind)] = t.times
	}
	for _, f := range o.Findings {
		j.Violations = append(j.Violations, jsonRealFinding{f.Check, f.Job, f.Message})
	}
	if o.kept {
		j.Dir = o.dir
	}
	return j
}

// draw writes the page of the run.
func (o *realOutcome) draw() (name string, err error) {
	page := timeline.OfHistory(o.Log, o.Linear)
	page.Title = "bwsim real on " + o.Store
	page.Repeat = o.repeat
	name = filepath.Join(o.dir, "run.html")
	o.shade(page)
	explain(page, o.Log, o.Linear.Findings, checker.LinearOptions{Completions: true})
	return name, writePage(page, name)
}
