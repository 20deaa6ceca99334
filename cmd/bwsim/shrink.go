package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"backwave/sim"
	"backwave/sim/finding"
	"backwave/sim/scenario"
	"backwave/sim/shrink"
)

type shrinkFlags struct {
	out     string
	finding string
	seed    uint64
	budget  int
	format  string
	jobs    int
}

func shrinkCommand(s *screen) *cobra.Command {
	f := &shrinkFlags{}
	c := &cobra.Command{
		Use:   "shrink PLAN",
		Short: "Make a failing plan as small as it can be",
		Long: `shrink takes away and weakens faults, what people do, jobs, nodes, groups and
settings, for as long as the run still violates the same invariant in the same
way, until no single thing can go any more. It tells the story of what is left
and writes it as a plan.

PLAN is a plan, a scenario file, or the name of a shipped scenario.`,
		Example: "  bwsim run --random --seed 7 --plan plan.yaml\n  bwsim shrink plan.yaml                    writes plan-small.yaml\n  bwsim shrink plan.yaml --finding fence    not the first finding, but this one",
		Args:    oneArg("a plan or a scenario"),
		RunE: func(c *cobra.Command, args []string) error {
			src, err := loadWithSeed(c, args[0], f.seed)
			if err != nil {
				return err
			}
			return f.run(c.Context(), s, src)
		},
	}
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the small plan to `FILE`; default: PLAN with -small in its name")
	c.Flags().StringVar(&f.finding, "finding", "", "`ID` of the finding to keep, or its invariant; default: the one PLAN is called like, else the first")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of a scenario; default of a plan: its own")
	c.Flags().IntVar(&f.budget, "budget", shrink.DefaultBudget, "at most this many runs")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	addJobs(c, &f.jobs, "runs at once")
	return c
}

func (f *shrinkFlags) run(ctx context.Context, s *screen, src source) error {
	switch {
	case f.format != "text" && f.format != "json":
		return usage("--format %s: want text or json", f.format)
	case f.jobs < 1 || f.budget < 1:
		return usage("--jobs %d --budget %d: want at least 1", f.jobs, f.budget)
	}
	start := shrink.Plan{Scenario: src.sc, Seed: src.seed}
	k := newShrinker(ctx, f.jobs)
	found, undecided := k.look(start)
	want := f.finding
	if id := bare(src.arg); want == "" && finding.Has(found, id) {
		want = id // as bwsim swarm --out names its files
	}
	target, ok := choose(found, want)
	switch {
	case !ok && len(found) > 0:
		return usage("--finding %s: the run has no such finding, but %s", f.finding, ids(found))
	case ctx.Err() != nil:
		return cannot("interrupted before anything was tried")
	case !ok && undecided:
		s.printf("%s, seed %d, is undecided: there is no finding to shrink\n", src.sc.Name, src.seed)
		return verdict(exitUndecided)
	case !ok:
		s.printf("%s, seed %d, holds: there is nothing to shrink\n", src.sc.Name, src.seed)
		return nil
	}
	r := k.shrink(s, start, target, f.budget)
	return f.conclude(ctx, s, src, target, found, r)
}

// bare is the name of a file without its folder and extension.
func bare(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// choose returns the finding that is called want, by its ID or its invariant;
// with "" the first.
func choose(found []finding.Finding, want string) (finding.Finding, bool) {
	for _, x := range found {
		if want == "" || x.ID == want || x.Invariant == want {
			return x, true
		}
	}
	return finding.Finding{}, false
}

func ids(found []finding.Finding) string {
	var out []string
	for _, x := range found {
		out = append(out, x.ID)
	}
	return strings.Join(out, ", ")
}

// conclude writes the plan and tells what came of it.
func (f *shrinkFlags) conclude(ctx context.Context, s *screen, src source, target finding.Finding, found []finding.Finding, r shrink.Result) error {
	out := f.out
	if out == "" {
		out = bare(src.arg) + "-small.yaml"
		if isFile(src.arg) {
			out = filepath.Join(filepath.Dir(src.arg), out)
		}
	}
	if err := os.WriteFile(out, planOf(r, target, src.origin()), 0o644); err != nil {
		return cannot("write the plan: %v", err)
	}
	sum := summary(src.sc, r, target)
	sum.File = out
	if f.format == "json" {
		s.json(sum)
	} else {
		f.tell(s, r, out)
		s.printf("\n")
		sum.print(s)
		found = slices.DeleteFunc(found, func(x finding.Finding) bool { return x.ID == target.ID })
		if len(found) > 0 {
			s.printf("the run it came from has more, for --finding: %s\n", ids(found))
		}
		s.printf("written: %s\n", out)
	}
	if ctx.Err() != nil {
		s.note("bwsim: interrupted after %s", count(r.Steps, "run"))
	}
	return verdict(exitViolated)
}

// tell plays the small plan once more, for its story.
func (f *shrinkFlags) tell(s *screen, r shrink.Result, file string) {
	p := newPlayer(1)
	p.story = true
	o := p.play(0, task{sc: r.Plan.Scenario, seed: r.Plan.Seed, file: file, repeat: "bwsim replay " + quote(file)})
	report := &textReport{s: s, checks: len(sim.Invariants()) - 1, width: len(r.Plan.Scenario.Name)}
	report.run(o)
}

// planOf is the small plan as a file.
func planOf(r shrink.Result, target finding.Finding, origin string) []byte {
	sc := *r.Plan.Scenario
	sc.Story = fmt.Sprintf("Shrunk in %d runs. It violates %s (%s):\n%s\n", r.Steps, target.Invariant, target.ID, target.Shape)
	return scenario.Format(&sc, scenario.Header{Version: scenario.Version, Seed: r.Plan.Seed, Scenario: origin})
}

// shrunk is what a search has brought, for a line of JSON.
type shrunk struct {
	Finding   string      `json:"finding"`
	Invariant string      `json:"invariant"`
	Shape     string      `json:"shape"`
	Before    shrink.Size `json:"before"`
	After     shrink.Size `json:"after"`
	BeforeS   float64     `json:"before_s"` // virtual seconds
	AfterS    float64     `json:"after_s"`
	Steps     int         `json:"steps"`
	Rounds    int         `json:"rounds"`
	Kept      int         `json:"kept"`    // changes
	Minimal   bool        `json:"minimal"` // nothing more can go
	Last      int         `json:"last"`    // changes tried in the last round
	File      string      `json:"file,omitempty"`
	Plan      string      `json:"plan,omitempty"`
}

func summary(before *sim.Scenario, r shrink.Result, target finding.Finding) shrunk {
	return shrunk{
		Finding: target.ID, Invariant: target.Invariant, Shape: target.Shape,
		Before: shrink.SizeOf(before), After: shrink.SizeOf(r.Plan.Scenario),
		BeforeS: before.For.Seconds(), AfterS: r.Plan.Scenario.For.Seconds(),
		Steps: r.Steps, Rounds: r.Rounds, Kept: r.Accepted, Minimal: r.Minimal, Last: r.Last,
	}
}

func (x *shrunk) print(s *screen) {
	s.printf("shrunk %s: %s\n", s.paint(bold, x.Finding), x.Shape)
	s.printf("          nodes  groups   jobs  faults  actions      virtual\n")
	line := func(what string, z shrink.Size, seconds float64) {
		s.printf("  %-6s  %5d  %6d  %5d  %6d  %7d  %11s\n", what, z.Nodes, z.Groups, z.Jobs, z.Faults, z.Actions, clock(time.Duration(seconds*float64(time.Second))))
	}
	line("before", x.Before, x.BeforeS)
	line("after", x.After, x.AfterS)
	s.printf("%s in %s, %s kept\n", count(x.Steps, "run"), count(x.Rounds, "round"), count(x.Kept, "change"))
	if x.Minimal {
		s.printf("nothing more can go: the last round tried all %s, every single removal and weakening among them, and none fails in this way\n", count(x.Last, "change"))
	} else {
		s.printf("%s: the search ended early, more may go with a larger --budget\n", s.paint(yellow, "not minimal"))
	}
}
