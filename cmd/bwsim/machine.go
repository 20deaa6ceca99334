package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"backwave/sim"
)

// jsonReport prints a line of JSON per run, and one for all.
type jsonReport struct{ s *screen }

type jsonRun struct {
	Scenario   string          `json:"scenario"`
	Seed       uint64          `json:"seed"`
	Verdict    sim.Verdict     `json:"verdict"`
	TraceHash  string          `json:"trace_hash"`
	Events     uint64          `json:"events"`
	VirtualS   float64         `json:"virtual_s"`
	WallS      float64         `json:"wall_s"`
	Violations []jsonViolation `json:"violations"`
}

type jsonViolation struct {
	Invariant string `json:"invariant"`
	Event     uint64 `json:"event"`
	At        int64  `json:"at"` // ns of true time
	Job       string `json:"job,omitempty"`
	Message   string `json:"message"`
}

type jsonSummary struct {
	Summary      bool    `json:"summary"`
	Runs         int     `json:"runs"`
	Held         int     `json:"held"`
	Violated     int     `json:"violated"`
	Undecided    int     `json:"undecided"`
	Events       uint64  `json:"events"`
	EventsPerSec float64 `json:"events_per_s"`
	CheckS       float64 `json:"check_s"`
}

func (r *jsonReport) run(o *outcome) {
	j := jsonRun{
		Scenario: o.sc.Name, Seed: o.seed, Verdict: o.res.Verdict, TraceHash: hash(o.res.TraceHash), Events: o.res.Events,
		VirtualS: o.res.Virtual.Seconds(), WallS: o.wall.Seconds(), Violations: []jsonViolation{},
	}
	for _, v := range o.violations() {
		j.Violations = append(j.Violations, jsonViolation{v.Invariant, v.Event, v.At, o.job(v.Job), o.names(v.Message)})
	}
	r.s.json(j)
}

func (r *jsonReport) end(t *totals) error {
	j := jsonSummary{Summary: true, Runs: t.runs, Held: t.held, Violated: t.violated, Undecided: t.undecided, Events: t.events, CheckS: t.judged.Seconds()}
	if t.simulated > 0 {
		j.EventsPerSec = float64(int64(float64(t.events) / t.simulated.Seconds()))
	}
	r.s.json(j)
	return nil
}

// json prints v on a line.
func (s *screen) json(v any) {
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		s.note("bwsim: %v", err)
	}
}

// githubReport prints workflow commands, which annotate files on GitHub.
type githubReport struct{ s *screen }

func (r *githubReport) run(o *outcome) {
	for _, b := range o.breaches() {
		if !b.expected {
			r.annotate("error", o, b.Invariant, fmt.Sprintf("%s, seed %d, at %s: %s. To repeat it: %s", o.sc.Name, o.seed, clock(o.at(b.Violation)), o.names(b.Message), o.repeat))
		}
	}
	if o.differs() {
		r.annotate("error", o, "not deterministic", fmt.Sprintf("%s, seed %d, run twice, had two trace hashes. To repeat it: %s --twin", o.sc.Name, o.seed, o.repeat))
	}
	if o.res.Verdict == sim.Undecided {
		r.annotate("warning", o, "undecided", fmt.Sprintf("%s, seed %d: %s. To repeat it: %s", o.sc.Name, o.seed, linearWords(o), o.repeat))
	}
}

func (r *githubReport) annotate(level string, o *outcome, title, message string) {
	place := ""
	if o.file != "" {
		place = "file=" + property(o.file) + ",line=1,"
	}
	r.s.printf("::%s %stitle=%s::%s\n", level, place, property(title), data(message))
}

// data escapes the message of a workflow command, property one of its
// properties.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}

func (r *githubReport) end(t *totals) error {
	r.s.printf("%s: %d held, %d violated, %d undecided\n", count(t.runs, "run"), t.held, t.violated, t.undecided)
	return nil
}

// junitReport writes a file as test runners do: a case per run.
type junitReport struct {
	file  *os.File
	suite junitSuite
	took  time.Duration
}

// newJunitReport opens the file first: hours of runs must not end in "cannot
// be written".
func newJunitReport(name string) (*junitReport, error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, cannot("write the JUnit file: %v", err)
	}
	return &junitReport{file: file}, nil
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure,omitempty"`
	Error   *junitProblem `xml:"error,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (r *junitReport) run(o *outcome) {
	c := junitCase{Class: o.sc.Name, Name: fmt.Sprintf("seed %d", o.seed), Time: seconds(o.wall)}
	var names, lines []string
	for _, b := range o.breaches() {
		if !b.expected {
			names = append(names, b.Invariant)
			lines = append(lines, fmt.Sprintf("%s at %s: %s", b.Invariant, clock(o.at(b.Violation)), o.names(b.Message)))
		}
	}
	if o.differs() {
		names = append(names, "not deterministic")
	}
	lines = append(lines, "to repeat it: "+o.repeat)
	p := &junitProblem{strings.Join(names, ", "), strings.Join(lines, "\n")}
	switch {
	case len(names) > 0:
		c.Failure = p
		r.suite.Failures++
	case o.res.Verdict == sim.Undecided:
		p.Message = "undecided"
		c.Error = p
		r.suite.Errors++
	}
	r.took += o.wall
	r.suite.Cases = append(r.suite.Cases, c)
}

func (r *junitReport) end(t *totals) error {
	r.suite.Name, r.suite.Tests, r.suite.Time = "bwsim", t.runs, seconds(r.took)
	text, err := xml.MarshalIndent(r.suite, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(r.file, "%s%s\n", xml.Header, text)
	}
	if err = errors.Join(err, r.file.Close()); err != nil {
		return fmt.Errorf("write the JUnit file: %w", err)
	}
	return nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
