package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"backwave/history"
	"backwave/scenarios"
	"backwave/sim"
	"backwave/sim/scenario"
	"backwave/sim/travel"
)

type whatifFlags struct {
	list           bool
	without, shift []string
	seed           uint64
	format         string
	out            string
}

func whatifCommand(s *screen) *cobra.Command {
	f := &whatifFlags{}
	c := &cobra.Command{
		Use:   "whatif FILE [±SPAN…]",
		Short: "Make a run again without a fault, or with it at another time, and compare",
		Long: `whatif makes the run of FILE twice, as it is and changed, and shows what that has
changed: verdict and findings, the first event that differs, how the stories go on
from there, and how each job ended. What is drawn for everything else stays the
same. FILE is a plan, a scenario file, or the name of a shipped scenario.

A FAULT is an entry of the timeline: f1, f2 … as --list prints them, or the line of
the file on which it begins. --shift FAULT +3s is the same as --shift FAULT=+3s;
write FAULT=-3s for earlier. The exit code is that of the changed run.`,
		Example: `  bwsim whatif zombie-returns --list
  bwsim whatif zombie-returns --without f1
  bwsim whatif plan.yaml --shift f2 +3s --shift f3=-500ms
  bwsim whatif plan.yaml --without 34 -o without.yaml      keep the changed plan`,
		Args: someArgs("a plan or a scenario"),
		RunE: func(c *cobra.Command, args []string) error {
			src, err := loadWithSeed(c, args[0], f.seed)
			if err != nil {
				return err
			}
			lines, err := timelineLines(src)
			if err != nil {
				return err
			}
			if f.list {
				return f.entries(s, src, lines)
			}
			return f.run(c.Context(), s, src, lines, args[1:])
		},
	}
	c.Flags().BoolVar(&f.list, "list", false, "print the entries of the timeline, and change nothing")
	c.Flags().StringArrayVar(&f.without, "without", nil, "leave out this `FAULT`; may be repeated")
	c.Flags().StringArrayVar(&f.shift, "shift", nil, "let this `FAULT` happen later, or earlier, by a span; may be repeated")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of a scenario; default of a plan: its own")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the changed plan to `FILE`")
	return c
}

// timelineLines returns the lines of the entries of a timeline.
func timelineLines(src source) ([]int, error) {
	var text []byte
	var err error
	if isFile(src.arg) {
		text, err = os.ReadFile(src.arg)
	} else {
		text, err = scenarios.FS.ReadFile(scenarios.File(src.arg))
	}
	if err != nil {
		return nil, badFile(err)
	}
	lines, err := scenario.TimelineLines(src.file, text)
	if err != nil {
		return nil, usage("%v", err)
	}
	return lines, nil
}

// entryJSON is an entry of a timeline, as --list --format json prints it.
type entryJSON struct {
	Fault string `json:"fault"`
	Line  int    `json:"line"`
	Text  string `json:"text"`
}

// entries lists what can be changed.
func (f *whatifFlags) entries(s *screen, src source, lines []int) error {
	if len(f.without)+len(f.shift) > 0 {
		return usage("--list changes nothing: leave out --without and --shift")
	}
	list := []entryJSON{}
	for i, x := range src.sc.Timeline {
		list = append(list, entryJSON{travel.Label(i), lines[i], scenario.EntryText(x)})
	}
	switch {
	case f.format == "json":
		s.json(list)
	case f.format != "text":
		return usage("--format %s: want text or json", f.format)
	case len(list) == 0:
		s.printf("%s has no timeline: nothing goes wrong in it\n", src.sc.Name)
	}
	if f.format == "text" {
		for _, e := range list {
			s.printf("%-4s  line %-4d  %s\n", e.Fault, e.Line, e.Text)
		}
	}
	return nil
}

// edits reads what is to be changed. A span may stand behind the file, for the
// first --shift that has none.
func (f *whatifFlags) edits(src source, lines []int, spans []string) (out []travel.Edit, err error) {
	for _, name := range f.without {
		i, err := entryNamed(name, src, lines)
		if err != nil {
			return nil, usage("--without %s: %v", name, err)
		}
		out = append(out, travel.Edit{Entry: i, Drop: true})
	}
	for _, word := range f.shift {
		name, by, ok := strings.Cut(word, "=")
		if !ok && len(spans) == 0 {
			return nil, usage("--shift %s: by how much? write --shift %s=+3s", word, word)
		}
		if !ok {
			by, spans = spans[0], spans[1:]
		}
		i, err := entryNamed(name, src, lines)
		if err != nil {
			return nil, usage("--shift %s: %v", word, err)
		}
		span, err := time.ParseDuration(by)
		if err != nil || span == 0 {
			return nil, usage("--shift %s: %q: want a span that is not 0, such as +3s or -500ms", name, by)
		}
		out = append(out, travel.Edit{Entry: i, By: span})
	}
	switch {
	case len(spans) > 0:
		return nil, usage("bwsim whatif: %q is for no --shift\nsee bwsim whatif --help", spans[0])
	case len(out) == 0:
		return nil, usage("bwsim whatif: want --without FAULT, --shift FAULT +3s, or --list\nsee bwsim whatif --help")
	}
	return out, nil
}

// entryNamed finds an entry of the timeline by its label or its line.
func entryNamed(name string, src source, lines []int) (int, error) {
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "f")); err == nil {
		if strings.HasPrefix(name, "f") && n >= 1 && n <= len(lines) {
			return n - 1, nil
		}
		if i := slices.Index(lines, n); i >= 0 && !strings.HasPrefix(name, "f") {
			return i, nil
		}
	}
	switch len(lines) {
	case 0:
		return 0, fmt.Errorf("%s has no timeline", src.sc.Name)
	case 1:
		return 0, fmt.Errorf("there is no such entry, want f1 or %d, its line", lines[0])
	}
	return 0, fmt.Errorf("there is no such entry, want f1 to f%d or a line; see bwsim whatif %s --list", len(lines), quote(src.arg))
}

func (f *whatifFlags) run(ctx context.Context, s *screen, src source, lines []int, spans []string) error {
	if f.format != "text" && f.format != "json" {
		return usage("--format %s: want text or json", f.format)
	}
	edits, err := f.edits(src, lines, spans)
	if err != nil {
		return err
	}
	changed, err := travel.Apply(src.sc, edits)
	if err != nil {
		return usage("%v", err)
	}
	plan := scenario.Format(changed, scenario.Header{Version: scenario.Version, Seed: src.seed, Scenario: src.origin()})
	read, _, err := scenario.ParsePlan("the changed plan", plan)
	if err != nil {
		return usage("so changed, it is no sound scenario: %v", err)
	}
	c := &comparison{src: src, was: follow(ctx, src.sc, src.seed), is: follow(ctx, read, src.seed)}
	for _, e := range edits {
		c.edits = append(c.edits, e.Words(src.sc))
	}
	if err := errors.Join(c.was.stopped(), c.is.stopped()); err != nil {
		return err
	}
	if f.out != "" {
		if err := os.WriteFile(f.out, plan, 0o644); err != nil {
			return cannot("write the plan: %v", err)
		}
		c.is.files = append(c.is.files, f.out)
	}
	c.event, c.parts = c.was.trail.Part(&c.is.trail)
	if f.format == "json" {
		s.json(c.machine())
	} else {
		c.print(s)
	}
	t := &totals{}
	t.add(c.is.outcome)
	return verdict(t.exit())
}

// followed is a run with its trail.
type followed struct {
	*outcome
	trail travel.Trail
}

// follow makes a run and judges it.
func follow(ctx context.Context, sc *sim.Scenario, seed uint64) *followed {
	x := &followed{outcome: &outcome{task: task{sc: sc, seed: seed}}}
	log := history.NewLog()
	x.run(travel.With(sc, sim.Options{Seed: seed, Log: log, Stop: func() bool { return ctx.Err() != nil }}, x.trail.Follow(sc)))
	if x.stack == "" && !x.res.Stopped {
		x.check(log)
	}
	return x
}

// stopped is the error of a run that was interrupted.
func (x *followed) stopped() error {
	if x.res.Stopped {
		return cannot("interrupted at event %s", grouped(x.res.Events))
	}
	return nil
}
