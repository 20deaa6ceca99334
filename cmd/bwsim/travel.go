package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"backwave/checker"
	"backwave/sim"
	"backwave/sim/travel"
)

// travelFlags say where replay stops, and what it shows there.
type travelFlags struct {
	to     uint64
	breaks []string
	dump   []string
	step   bool
}

func (t *travelFlags) add(c *cobra.Command) {
	c.Flags().Uint64Var(&t.to, "to", 0, "stop after the `EVENT` of this number, from 1, and show the story so far and the state")
	c.Flags().StringArrayVar(&t.breaks, "break", nil, "stop after the first event that meets this `CONDITION`, such as 'job=j7 attempt=2'; may be repeated")
	c.Flags().StringArrayVar(&t.dump, "dump", nil, "show only this `PART` of the state: the name of a node, store, calls, or all; without --to and --break at the end of the run; may be repeated")
	c.Flags().BoolVar(&t.step, "step", false, "go on by commands: Enter for the next event, h for help")
}

// conditions explains the fields of a breakpoint, for help.
func conditions() string {
	var b strings.Builder
	b.WriteString("A CONDITION is field=value, or several. One and the same fact must meet all of it:\nthe event, or one of the things that it does.\n")
	for _, f := range travel.Fields {
		const width = 70
		line := fmt.Sprintf("\n  %-8s", f[0])
		for _, word := range strings.Fields(f[1]) {
			if len(line)+1+len(word) > width {
				b.WriteString(line)
				line = "\n          "
			}
			line += " " + word
		}
		b.WriteString(line)
	}
	return b.String()
}

func (t *travelFlags) used() bool {
	return t.to > 0 || t.step || len(t.breaks)+len(t.dump) > 0
}

// alone refuses flags that are about a whole run.
func (t *travelFlags) alone(c *cobra.Command) error {
	for _, name := range []string{"story", "quiet", "no-linear", "min-decided", "junit", "trace", "history", "plan", "html", "html-of", "jobs"} {
		if c.Flags().Changed(name) {
			return usage("--%s is about a whole run, and --to, --break, --dump and --step stop in it: leave it out", name)
		}
	}
	return nil
}

// traveller goes through one run.
type traveller struct {
	s      *screen
	src    source
	to     uint64
	breaks []*travel.Breakpoint
	dump   []string
	json   bool

	lines []sim.Line // so far
	found []checker.Violation
	met   bool // it has stopped where it was asked to
}

func (t *travelFlags) run(ctx context.Context, s *screen, src source, format string, in io.Reader) error {
	r := &traveller{s: s, src: src, to: t.to, dump: t.dump, json: format == "json"}
	switch {
	case format != "text" && format != "json":
		return usage("--format %s: want text or json", format)
	case t.step && r.json:
		return usage("--format json: --step talks to people, want text")
	case t.step && len(t.dump) > 0:
		return usage("--dump %s: with --step, the command d shows it", t.dump[0])
	}
	for _, text := range t.breaks {
		b, err := travel.ParseBreakpoint(text, src.sc)
		if err != nil {
			return usage("--break %s: %v", quote(text), err)
		}
		r.breaks = append(r.breaks, b)
	}
	for _, what := range t.dump {
		if err := r.dumpable(what); err != nil {
			return usage("--dump %s: %v", what, err)
		}
	}
	if t.step {
		return newStepper(r, in).run(ctx)
	}
	if t.to == 0 && len(t.breaks) == 0 { // the end is where the run ends by itself
		r.to = r.play(ctx, func(*travel.Moment) bool { return true }).res.Events
		r.lines, r.found = nil, nil
	}
	return r.stop(ctx)
}

// dumpable reports what cannot be shown.
func (r *traveller) dumpable(what string) error {
	list := append([]string{"all", "calls"}, travel.Nodes(r.src.sc)...)
	if !slices.Contains(list, what) {
		return fmt.Errorf("want one of %s", strings.Join(list, ", "))
	}
	return nil
}

// play makes the run and keeps what is told on the way.
func (r *traveller) play(ctx context.Context, visit func(*travel.Moment) bool) *outcome {
	o := &outcome{task: task{sc: r.src.sc, seed: r.src.seed}}
	o.run(travel.With(r.src.sc, sim.Options{Seed: r.src.seed, Stop: func() bool { return ctx.Err() != nil }}, func(m *travel.Moment) bool {
		r.lines = append(r.lines, m.Lines...)
		r.found = append(r.found, m.Violations...)
		return visit(m)
	}))
	return o
}

// stop goes to where it was asked to and shows what is there.
func (r *traveller) stop(ctx context.Context) error {
	o := r.play(ctx, func(m *travel.Moment) bool {
		if !r.here(m) {
			return true
		}
		r.met = true
		r.show(m)
		return false
	})
	switch {
	case ctx.Err() != nil && !r.met:
		return cannot("interrupted at event %s", grouped(o.res.Events))
	case o.stack != "":
		return r.crashed(o)
	case !r.met && r.to > 0 && len(r.breaks) == 0:
		return usage("--to %d: the run has %s", r.to, count(int(o.res.Events), "event"))
	case !r.met:
		return usage("no event of the run meets %s: it has %s", r.asked(), count(int(o.res.Events), "event"))
	}
	return nil
}

// crashed tells of a panic in the world.
func (r *traveller) crashed(o *outcome) error {
	r.s.printf("%s before it got there: %s\n", r.s.paint(red, "the world crashes"), o.res.Violations[0].Message)
	return verdict(exitViolated)
}

// here reports whether m is where to stop.
func (r *traveller) here(m *travel.Moment) bool {
	return m.Number == r.to || r.broken(m)
}

func (r *traveller) broken(m *travel.Moment) bool {
	return slices.ContainsFunc(r.breaks, func(b *travel.Breakpoint) bool { return b.Hit(m) })
}

// asked names the breakpoints.
func (r *traveller) asked() string {
	var out []string
	for _, b := range r.breaks {
		out = append(out, fmt.Sprintf("--break %s", quote(b.String())))
	}
	if r.to > 0 {
		out = append(out, fmt.Sprintf("--to %d", r.to))
	}
	return strings.Join(out, " or ")
}

// stopJSON is where a run was stopped, as one object.
type stopJSON struct {
	Scenario   string          `json:"scenario"`
	Seed       uint64          `json:"seed"`
	Event      uint64          `json:"event"`
	At         int64           `json:"at"`
	Kind       string          `json:"kind"`
	What       string          `json:"what"`
	Story      []lineJSON      `json:"story,omitempty"`
	Violations []jsonViolation `json:"violations,omitempty"`
	State      *sim.State      `json:"state"`
}

// lineJSON is a line of a story.
type lineJSON struct {
	At   int64  `json:"at"`
	Who  string `json:"who"`
	Text string `json:"text"`
}

// show prints where the run stands.
func (r *traveller) show(m *travel.Moment) {
	state := m.State()
	if r.json {
		out := stopJSON{
			Scenario: r.src.sc.Name, Seed: r.src.seed, Event: m.Number, At: int64(m.At), Kind: m.Kind, What: m.What(r.src.sc),
			State: only(state, r.dump),
		}
		if len(r.dump) == 0 {
			for _, l := range r.lines {
				out.Story = append(out.Story, lineJSON{int64(l.At), l.Who, l.Text})
			}
		}
		for _, v := range r.found {
			out.Violations = append(out.Violations, jsonViolation{Invariant: v.Invariant, Event: v.Event, At: v.At, Message: v.Message})
		}
		r.s.json(out)
		return
	}
	r.s.printf("%s\n", r.s.paint(bold, fmt.Sprintf("%s, seed %d", r.src.sc.Name, r.src.seed)))
	if len(r.dump) == 0 {
		r.story()
	}
	r.s.printf("\n%s\n", r.head(m))
	r.dumped(state, r.dump)
}

// story tells what has happened so far.
func (r *traveller) story() {
	r.s.printf("\n")
	o := &outcome{task: task{sc: r.src.sc, seed: r.src.seed}, res: &sim.Result{Scenario: r.src.sc, Violations: r.found}}
	r.s.told(o.withViolations(condense(r.lines)))
}

// head says in a line what an event is.
func (r *traveller) head(m *travel.Moment) string {
	return fmt.Sprintf("%s  %s  %-8s  %s", r.s.paint(bold, fmt.Sprintf("event %d", m.Number)), clock(m.At), m.Kind, m.What(r.src.sc))
}
