package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"backwave/sim"
	"backwave/sim/finding"
)

// mostApart is how many lines are told that only one of the stories has.
const mostApart = 12

// mostJobs is how many jobs that ended in another way are shown.
const mostJobs = 40

// comparison lays two runs side by side.
type comparison struct {
	src     source
	edits   []string // in words
	was, is *followed
	event   uint64 // first that differs
	parts   bool   // anything does
}

func (c *comparison) print(s *screen) {
	s.printf("%s\n", s.paint(bold, fmt.Sprintf("%s, seed %d", c.src.sc.Name, c.src.seed)))
	for _, e := range c.edits {
		s.printf("  what if %s\n", e)
	}
	s.printf("\n")
	if !c.parts {
		s.printf("nothing changes: both runs are the same, event by event\n")
	}
	c.side(s, "", "as it is", "changed")
	c.side(s, "verdict", string(c.was.res.Verdict), string(c.is.res.Verdict))
	c.side(s, "findings", findingWords(c.was.res), findingWords(c.is.res))
	c.side(s, "events", grouped(c.was.res.Events), grouped(c.is.res.Events))
	c.side(s, "virtual", clock(c.was.res.Virtual), clock(c.is.res.Virtual))
	starts := [2]int{}
	for k, x := range []*followed{c.was, c.is} {
		for i := range x.res.Jobs {
			starts[k] += x.res.Jobs[i].Starts
		}
	}
	c.side(s, "handlers started", grouped(uint64(starts[0])), grouped(uint64(starts[1])))
	c.jobs(s)
	if c.parts {
		c.parting(s)
	}
	for _, x := range c.sides() {
		for _, b := range x.breaches() {
			more := ""
			if b.more > 0 {
				more = fmt.Sprintf(", and %d more", b.more)
			}
			s.printf("\n%s violates %s at %s: %s%s\n", x.name, s.paint(bold, b.Invariant), clock(x.at(b.Violation)), x.names(b.Message), more)
		}
	}
	if len(c.is.files) > 0 {
		s.printf("\nwritten: %s\n", strings.Join(c.is.files, ", "))
	}
}

// side prints one thing of both runs, marked if they differ.
func (c *comparison) side(s *screen, what, was, is string) {
	line := fmt.Sprintf("%-16s  %-42s  %s", what, was, is)
	mark := " "
	if was != is && what != "" {
		mark, line = "*", s.paint(yellow, line)
	}
	s.printf("%s %s\n", mark, strings.TrimRight(line, " "))
}

func findingWords(r *sim.Result) string {
	list := finding.Of(r)
	switch {
	case len(list) == 0:
		return "none"
	case len(list) > 2:
		return fmt.Sprintf("%s and %d more", list[0].ID, len(list)-1)
	}
	return ids(list)
}

// jobs shows the jobs that did not end in the same way.
func (c *comparison) jobs(s *screen) {
	same, shown := 0, 0
	for i := range c.was.res.Jobs {
		if i >= len(c.is.res.Jobs) {
			break // one of the worlds has crashed
		}
		a, b := jobWords(&c.was.res.Jobs[i]), jobWords(&c.is.res.Jobs[i])
		switch {
		case a == b:
			same++
		case shown < mostJobs:
			c.side(s, c.was.res.Jobs[i].Name, a, b)
			shown++
		default:
			shown++
		}
	}
	if shown > mostJobs {
		s.printf("  and %s more ended in another way\n", count(shown-mostJobs, "job"))
	}
	if same > 0 {
		s.printf("  %s ended in the same way, at the same time\n", count(same, "job"))
	}
}

// jobWords says how a job ended.
func jobWords(j *sim.JobResult) string {
	if j.Row.ID.IsZero() {
		return "never arrived"
	}
	words := []string{j.Row.State.String()}
	if j.Ended > 0 {
		words[0] += " at " + clock(j.Ended)
	}
	words = append(words, count(j.Row.Attempt, "attempt"))
	if j.Fenced > 0 {
		words = append(words, fmt.Sprintf("%d fenced", j.Fenced))
	}
	return strings.Join(words, ", ")
}

// parting shows where the runs part, and how they go on.
func (c *comparison) parting(s *screen) {
	s.printf("\nthe first event that differs is event %s\n", grouped(c.event))
	for _, x := range c.sides() {
		text := "the run is over"
		if c.event <= uint64(len(x.trail.Events)) {
			e := x.trail.Events[c.event-1]
			text = clock(e.At) + "  " + e.What
		}
		s.printf("  %-9s %s\n", x.name, text)
	}
	for i, x := range c.sides() {
		told := condense(x.trail.Only(&c.sides()[1-i].trail))
		s.printf("\n%s\n", s.paint(bold, "only "+x.name))
		if len(told) == 0 {
			s.printf("  nothing\n")
		}
		s.told(told[:min(mostApart, len(told))])
		if more := len(told) - mostApart; more > 0 {
			s.printf("  and %s more\n", count(more, "line"))
		}
	}
}

type namedRun struct {
	*followed
	name string
}

func (c *comparison) sides() []namedRun { return []namedRun{{c.was, "as it is"}, {c.is, "changed"}} }

// whatifJSON is a comparison as one object.
type whatifJSON struct {
	Scenario string      `json:"scenario"`
	Seed     uint64      `json:"seed"`
	Edits    []string    `json:"edits"`
	Was      whatifRun   `json:"was"`
	Is       whatifRun   `json:"is"`
	Differs  bool        `json:"differs"`
	Event    uint64      `json:"event,omitempty"` // first that differs
	Jobs     []whatifJob `json:"jobs"`            // that ended in another way
	File     string      `json:"file,omitempty"`
}

type whatifRun struct {
	Verdict   sim.Verdict `json:"verdict"`
	Findings  []string    `json:"findings"`
	Events    uint64      `json:"events"`
	VirtualS  float64     `json:"virtual_s"`
	TraceHash string      `json:"trace_hash"`
	At        int64       `json:"at,omitempty"`   // of the first event that differs, ns
	What      string      `json:"what,omitempty"` // that event
}

type whatifJob struct {
	Job string       `json:"job"`
	Was whatifJobEnd `json:"was"`
	Is  whatifJobEnd `json:"is"`
}

type whatifJobEnd struct {
	State    string `json:"state"` // "" = it never arrived
	Attempts int    `json:"attempts"`
	Ended    int64  `json:"ended,omitempty"` // ns of true time
	Starts   int    `json:"starts"`
	Fenced   int    `json:"fenced"`
}

func (c *comparison) machine() whatifJSON {
	out := whatifJSON{Scenario: c.src.sc.Name, Seed: c.src.seed, Edits: c.edits, Was: c.ran(c.was), Is: c.ran(c.is), Differs: c.parts, Event: c.event, Jobs: []whatifJob{}}
	for i := range min(len(c.was.res.Jobs), len(c.is.res.Jobs)) {
		a, b := endOf(&c.was.res.Jobs[i]), endOf(&c.is.res.Jobs[i])
		if a != b {
			out.Jobs = append(out.Jobs, whatifJob{c.was.res.Jobs[i].Name, a, b})
		}
	}
	out.File = strings.Join(c.is.files, "")
	return out
}

func (c *comparison) ran(x *followed) whatifRun {
	r := whatifRun{Verdict: x.res.Verdict, Findings: []string{}, Events: x.res.Events, VirtualS: x.res.Virtual.Seconds(), TraceHash: hash(x.res.TraceHash)}
	for _, f := range finding.Of(x.res) {
		r.Findings = append(r.Findings, f.ID)
	}
	slices.Sort(r.Findings)
	if c.parts && c.event <= uint64(len(x.trail.Events)) {
		e := x.trail.Events[c.event-1]
		r.At, r.What = int64(e.At/time.Nanosecond), e.What
	}
	return r
}

func endOf(j *sim.JobResult) whatifJobEnd {
	e := whatifJobEnd{Attempts: j.Row.Attempt, Ended: int64(j.Ended), Starts: j.Starts, Fenced: j.Fenced}
	if !j.Row.ID.IsZero() {
		e.State = j.Row.State.String()
	}
	return e
}
