package main

import (
	"fmt"
	"math"
	"strings"

	"backwave/sim"
	"backwave/sim/explore"
)

// report prints what came of one world.
func (r *explored) report(s *screen, format string) error {
	var trace *explore.Trace
	if r.verdict == explore.Violated {
		var err error
		if trace, err = r.s.Trace(); err != nil {
			return cannot("%v", err)
		}
	}
	if format == "json" {
		s.json(r.json(trace))
		return nil
	}
	o, p := r.s.Options(), r.s.Progress()
	s.printf("%s\n", s.paint(bold, world(o)))
	for _, line := range o.Abstraction() {
		s.wrapped("  ", line)
	}
	if trace != nil {
		s.printf("\n")
		s.told(storyOf(trace))
	}
	s.printf("\n%s %s, %s, depth %d, widest level %s; %s on %s, %s (%s states/s)\n",
		r.word(s), count(int(p.States), "state"), count(int(p.Moves), "move"), r.depth(), grouped(r.s.Widest()),
		fmt.Sprintf("%.1f s", r.wall.Seconds()), count(r.jobs, "worker"), megabytes(p.Peak), grouped(r.rate()))
	if trace != nil {
		s.printf("  violates %s at %s, after %s\n", s.paint(bold, trace.Invariant), clock(trace.At), count(trace.Moves, "move"))
		if text := sentence(trace.Invariant); text != "" {
			s.printf("    rule:  %s\n", text)
		}
		s.printf("    found: %s\n", trace.Message)
	}
	if names := r.s.Situations().Names(); len(names) > 0 {
		s.printf("  on the way: %s\n", strings.Join(names, "; "))
	}
	s.printf("  states are known by fingerprints of 64 bits: the odds that two had the same, and one was missed, are %s\n", r.odds())
	if r.verdict == explore.OutOfRoom || r.verdict == explore.DeepEnough {
		s.printf("  not all states were visited: give it more room, or fewer faults\n")
	}
	return nil
}

// depth is how many moves the deepest state is away from the first.
func (r *explored) depth() int {
	d := r.s.Progress().Depth
	if r.verdict == explore.Exhausted {
		d-- // a level more was looked for, and none found
	}
	return d
}

func (r *explored) rate() uint64 {
	return uint64(float64(r.s.Progress().States-r.before) / max(r.wall.Seconds(), 0.001))
}

func (r *explored) word(s *screen) string {
	switch r.verdict {
	case explore.Exhausted:
		return s.paint(green, "held: all states were visited:")
	case explore.Violated:
		return s.paint(red, "VIOLATED:")
	case explore.Stopped:
		return s.paint(yellow, "INTERRUPTED:")
	case explore.OutOfRoom, explore.DeepEnough:
	}
	return s.paint(yellow, "UNDECIDED ("+string(r.verdict)+"):")
}

// odds is the probability that two of the states found have one fingerprint,
// as one in so many.
func (r *explored) odds() string {
	n := float64(r.s.Progress().States)
	return fmt.Sprintf("about 1 in %s", short(math.Exp2(65)/(n*n)))
}

func short(x float64) string {
	for _, u := range []struct {
		at   float64
		name string
	}{{1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}} {
		if x >= u.at {
			return fmt.Sprintf("%s %s", grouped(uint64(x/u.at)), u.name)
		}
	}
	return grouped(uint64(x))
}

// world says what is searched.
func world(o explore.Options) string {
	text := fmt.Sprintf("%s, %s, %s out of %s, replies %s", count(o.Nodes, "node"), count(o.Jobs, "job"), count(o.Faults, "fault"), o.Kinds, replies(o))
	if o.Faults == 0 {
		text = fmt.Sprintf("%s, %s, no faults, replies %s", count(o.Nodes, "node"), count(o.Jobs, "job"), replies(o))
	}
	for _, f := range []struct {
		is   bool
		text string
	}{
		{o.Pool != 1, fmt.Sprintf("pool %d", o.Pool)},
		{o.Sweep != 500, fmt.Sprintf("sweeps of %d", o.Sweep)},
		{o.Release, "leases given back by drains"},
		{o.Finish, "drains let handlers finish"},
		{o.Timeout, "handler timeout of a tick"},
	} {
		if f.is {
			text += ", " + f.text
		}
	}
	if o.Preset != "" {
		text = o.Preset + ": " + text
	}
	return text
}

func replies(o explore.Options) string {
	if o.Fused {
		return "fused"
	}
	return "separate"
}

// storyOf turns a trace into lines of a story, the violation last.
func storyOf(t *explore.Trace) (lines []sim.Line) {
	for _, l := range t.Lines {
		lines = append(lines, sim.Line{At: l.At, Who: l.Who, Text: l.Text})
	}
	return append(lines, sim.Line{At: t.At, Who: verdictWho, Text: fmt.Sprintf("VIOLATION of %s: %s", t.Invariant, t.Message)})
}

type jsonExplored struct {
	Preset      string     `json:"preset,omitempty"`
	Nodes       int        `json:"nodes"`
	Tasks       int        `json:"tasks"`
	Faults      int        `json:"faults"`
	Kinds       string     `json:"kinds"`
	Replies     string     `json:"replies"`
	Verdict     string     `json:"verdict"`
	States      uint64     `json:"states"`
	Moves       uint64     `json:"moves"`
	Depth       int        `json:"depth"`
	Widest      uint64     `json:"widest"`
	WallS       float64    `json:"wall_s"`
	MemoryMB    int64      `json:"memory_mb"`
	Collision   float64    `json:"collision"` // probability that a state was missed
	Situations  []string   `json:"situations"`
	Abstraction []string   `json:"abstraction"`
	Violation   *jsonTrace `json:"violation,omitempty"`
}

type jsonTrace struct {
	Invariant string      `json:"invariant"`
	Message   string      `json:"message"`
	At        int64       `json:"at"` // ns since the first state
	Moves     int         `json:"moves"`
	Story     []jsonTaled `json:"story"`
}

type jsonTaled struct {
	At   int64  `json:"at"`
	Who  string `json:"who"`
	Text string `json:"text"`
}

func (r *explored) json(t *explore.Trace) jsonExplored {
	o, p := r.s.Options(), r.s.Progress()
	n := float64(p.States)
	j := jsonExplored{
		Preset: o.Preset, Nodes: o.Nodes, Tasks: o.Jobs, Faults: o.Faults, Kinds: o.Kinds.String(), Replies: replies(o),
		Verdict: map[explore.Verdict]string{explore.Exhausted: "held", explore.Violated: "violated", explore.Stopped: "interrupted"}[r.verdict],
		States:  p.States, Moves: p.Moves, Depth: r.depth(), Widest: r.s.Widest(), WallS: r.wall.Seconds(), MemoryMB: p.Peak >> 20,
		Collision: n * n / math.Exp2(65), Situations: append([]string{}, r.s.Situations().Names()...), Abstraction: o.Abstraction(),
	}
	if j.Verdict == "" {
		j.Verdict = "undecided"
	}
	if t != nil {
		j.Violation = &jsonTrace{Invariant: t.Invariant, Message: t.Message, At: int64(t.At), Moves: t.Moves}
		for _, l := range t.Lines {
			j.Violation.Story = append(j.Violation.Story, jsonTaled{int64(l.At), l.Who, l.Text})
		}
	}
	return j
}
