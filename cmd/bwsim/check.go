package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"backwave/checker"
	"backwave/history"
	"backwave/store"
)

// mostUnanswered is how many calls without an answer are listed.
const mostUnanswered = 20

type checkFlags struct {
	midway bool
	steps  int
	format string
}

func checkCommand(s *screen) *cobra.Command {
	f := &checkFlags{}
	c := &cobra.Command{
		Use:   "check HISTORY…",
		Short: "Judge recorded histories for linearizability",
		Long: `check reads histories, the JSON lines that bwsim run --history and bwworker
--record write ("-" is standard input), and asks whether their calls could have
taken effect one at a time on a store that keeps its promises. What could not be
judged is listed; undecided is never a pass.

Several files are what several processes recorded of one store: they are merged
by the times of their records, so the clocks must agree. Calls are numbered anew.

A success that a handler recorded in a transaction of its own is no call. Unless
a history is from a simulated world, an attempt may have ended so while its
lease was held, if its worker never reported a success for it.`,
		Example: "  bwsim run crash-minute-by-minute --history h.jsonl\n  bwsim check h.jsonl\n  bwsim check worker-*.jsonl enqueues.jsonl\n  bwsim check production.jsonl --midway",
		Args:    someArgs("a history, a file of JSON lines or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.format != "text" && f.format != "json" {
				return usage("--format %s: want text or json", f.format)
			}
			if f.steps < 1 {
				return usage("--steps %d: want at least 1", f.steps)
			}
			j, err := readHistories(args, c.InOrStdin())
			if err != nil {
				return err
			}
			j.opts = checker.LinearOptions{Steps: f.steps, Midway: f.midway, Completions: !j.world}
			j.Linear = checker.CheckLinear(j.log, j.opts)
			j.look()
			if f.format == "json" {
				s.json(j.json())
			} else {
				j.print(s)
			}
			return verdict(j.exit())
		},
	}
	c.Flags().BoolVar(&f.midway, "midway", false, "the store held jobs before the history began: leave those out")
	c.Flags().IntVar(&f.steps, "steps", 200_000, "budget for one job and verdict, in steps of the model")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	return c
}

// judgement is a history and what was found in it.
type judgement struct {
	checker.Linear
	opts       checker.LinearOptions
	sources    []recorded
	log        *history.Log
	merged     bool // of several sources
	calls      int
	world      bool             // a source holds what no client sees
	unanswered []history.Record // the calls, as they were sent
}

// look counts the calls and finds those without an answer.
func (j *judgement) look() {
	answered := map[uint64]bool{}
	for _, r := range j.log.Records() {
		switch r.Kind {
		case history.Sent:
			j.calls++
		case history.Answered, history.Failed:
			answered[r.Call] = true
		case history.Applied, history.Lost, history.Doubled, history.Forgot, history.Stepped:
		}
	}
	for _, r := range j.log.Records() {
		if r.Kind == history.Sent && !answered[r.Call] {
			j.unanswered = append(j.unanswered, r)
		}
	}
}

func (j *judgement) verdict() checker.Verdict {
	switch {
	case j.BlackBox == checker.Violated || j.Bounded == checker.Violated:
		return checker.Violated
	case j.BlackBox == checker.Undecided || j.Bounded == checker.Undecided:
		return checker.Undecided
	}
	return checker.Held
}

func (j *judgement) exit() int {
	switch j.verdict() {
	case checker.Violated:
		return exitViolated
	case checker.Undecided:
		return exitUndecided
	case checker.Held:
	}
	return exitHeld
}

func (j *judgement) print(s *screen) {
	v := j.verdict()
	word, colour := "held", green
	switch v {
	case checker.Violated:
		word, colour = "VIOLATED", red
	case checker.Undecided:
		word, colour = "UNDECIDED", yellow
	case checker.Held:
	}
	bounded := "bounded " + j.Bounded.String()
	if !j.world || j.merged {
		bounded = "no bounded verdict, since no world knows more than the clients"
	}
	s.printf("%s %s: %s, %s, black-box %s, %s\n", s.paint(colour, word), j.name(), count(j.Jobs, "job"), count(j.calls, "call"), j.BlackBox, bounded)
	for i := range j.Findings {
		f := &j.Findings[i]
		s.printf("\n  violates %s, shown by call %d at %s\n", s.paint(bold, f.Invariant), f.Call, moment(f.At))
		s.printf("    %s\n", f.Message)
		if text := checker.Explain(j.log, f.Job, j.opts); text != "" {
			s.printf("    %s\n", strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    "))
		}
	}
	j.printUnjudged(s)
}

// printUnjudged lists what the verdict does not speak of.
func (j *judgement) printUnjudged(s *screen) {
	j.printSources(s)
	if j.NotAttempted+j.Undecided+len(j.unanswered) == 0 {
		s.printf("nothing was left unjudged\n")
		return
	}
	s.printf("could not judge:\n")
	if j.NotAttempted > 0 {
		s.printf("  %s not attempted in black-box: too many calls without an answer, or not enqueued in this history\n", count(j.NotAttempted, "job"))
	}
	if j.Undecided > 0 {
		s.printf("  %s undecided: the budget of %s steps was spent; --steps raises it\n", count(j.Undecided, "job"), grouped(uint64(j.opts.Steps)))
	}
	if n := len(j.unanswered); n > 0 {
		s.printf("  %s without an answer, which may have happened at any time after it was sent, or never:\n", count(n, "call"))
	}
	for i, r := range j.unanswered {
		if i == mostUnanswered {
			s.printf("    … and %d more\n", len(j.unanswered)-i)
			break
		}
		s.printf("    call %d: %s by %s, sent at %s\n", r.Call, store.Verb(r.Req), r.Client, moment(r.At))
	}
}

// moment prints the time of a record: since the start of a world, or of the
// wall clock.
func moment(at int64) string {
	if at < int64(10*365*24*time.Hour) {
		return clock(time.Duration(at))
	}
	return time.Unix(0, at).UTC().Format(time.RFC3339Nano)
}

type jsonCheck struct {
	History      string        `json:"history,omitempty"`
	Histories    []jsonSource  `json:"histories,omitempty"`
	Verdict      string        `json:"verdict"`
	BlackBox     string        `json:"black_box"`
	Bounded      string        `json:"bounded"`
	Jobs         int           `json:"jobs"`
	Calls        int           `json:"calls"`
	NotAttempted int           `json:"not_attempted"`
	Undecided    int           `json:"undecided"`
	Unanswered   int           `json:"unanswered"`
	CutLine      int           `json:"cut_line,omitempty"`
	Violations   []jsonFinding `json:"violations"`
}

type jsonFinding struct {
	Invariant string `json:"invariant"`
	Call      uint64 `json:"call"`
	At        int64  `json:"at"`
	Job       string `json:"job,omitempty"`
	Message   string `json:"message"`
}

func (j *judgement) json() jsonCheck {
	out := jsonCheck{
		Verdict: j.verdict().String(), BlackBox: j.BlackBox.String(), Bounded: j.Bounded.String(),
		Jobs: j.Jobs, Calls: j.calls, NotAttempted: j.NotAttempted, Undecided: j.Undecided, Unanswered: len(j.unanswered),
		Violations: []jsonFinding{},
	}
	if len(j.sources) == 1 {
		out.History, out.CutLine = j.sources[0].name, j.sources[0].cut.Line
	} else {
		out.Histories = j.jsonSources()
	}
	for _, f := range j.Findings {
		v := jsonFinding{Invariant: f.Invariant, Call: f.Call, At: f.At, Message: f.Message}
		if !f.Job.IsZero() {
			v.Job = f.Job.String()
		}
		out.Violations = append(out.Violations, v)
	}
	return out
}
