package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"backwave/internal/mutant"
	"backwave/sim"
	"backwave/sim/mutants"
	"backwave/sim/shrink"
)

type mutantFlags struct {
	only   []string
	format string
	seed   uint64
	seeds  int
	source string
	jobs   int
	limit  time.Duration

	shrink bool
	budget int
	output string
}

func mutantsCommand(s *screen) *cobra.Command {
	f := &mutantFlags{}
	c := &cobra.Command{
		Use:   "mutants",
		Short: "Plant bugs in the engine and the store and see that each is caught",
		Long: `mutants tests the checker: it builds bwsim with planted bugs, one active at a
time, and runs random worlds and the shipped scenarios until one is violated. A
bug that survives fails, and so does an invariant that caught none. It needs the
source tree, found upwards from here or named by --source, and the go tool.

With --shrink it does something else: of each bug the first random world that is
violated is made small, as bwsim shrink does, and a table shows from what to what.

First the product itself is run over all the seeds. If it does not hold, nothing
is said about the bugs.`,
		Example: "  bwsim mutants\n  bwsim mutants --only fence-without-worker\n  bwsim mutants --format json > caught.jsonl",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c.Context(), s) },
	}
	c.Flags().StringSliceVar(&f.only, "only", nil, "only the mutant `NAME`; may be repeated")
	c.Flags().StringVar(&f.format, "format", "text", "text or json (a line per mutant)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "first seed")
	c.Flags().IntVar(&f.seeds, "seeds", 3000, "random worlds after which a bug has survived")
	c.Flags().StringVar(&f.source, "source", "", "`DIR` of the source tree")
	addJobs(c, &f.jobs, "mutants at once")
	c.Flags().BoolVar(&f.shrink, "shrink", false, "shrink a finding of each bug, and print a table of what came of it")
	c.Flags().IntVar(&f.budget, "budget", shrink.DefaultBudget, "with --shrink: at most this many runs per bug")
	c.Flags().StringVarP(&f.output, "output", "o", "", "with --shrink: write the small plans into `DIR`")
	c.Flags().DurationVar(&f.limit, "limit", 5*time.Minute, "real time after which a mutant hangs; a world whose time stands still is stopped long before")
	return c
}

// mutantResult is what came of one planted bug.
type mutantResult struct {
	Mutant   string   `json:"mutant"`
	File     string   `json:"file"`
	Func     string   `json:"func"`
	Breaks   string   `json:"breaks"`
	CaughtBy []string `json:"caught_by"` // in the order of bwsim list invariants
	Seeds    int      `json:"seeds"`     // random worlds needed; 0: only a scenario caught it; of a survivor: tried
	First    string   `json:"first"`     // the run that caught it first

	found string // the first of what did not hold there
	err   error  // it could not be run
}

func (f *mutantFlags) run(ctx context.Context, s *screen) error {
	list, err := f.choose()
	if err != nil {
		return err
	}
	began := time.Now()
	binary, remove, err := buildPlanted(s, f.source, list)
	if err != nil {
		return err
	}
	defer remove()
	h := &hunter{binary: binary, flags: f, list: list}
	if f.shrink {
		return h.shrinkAll(ctx, s, began)
	}
	return h.run(ctx, s, began)
}

// buildPlanted builds a bwsim that can have any bug of the list, from the tree
// that source names, into a folder that remove takes away.
func buildPlanted(s *screen, source string, list []mutant.Mutant) (binary string, remove func(), err error) {
	root, err := sourceTree(source)
	if err != nil {
		return "", nil, err
	}
	if _, err := exec.LookPath("go"); err != nil {
		return "", nil, cannot("mutants are built with the go tool, and it is not in the PATH: %v", err)
	}
	dir, err := os.MkdirTemp("", "bwsim-mutants-")
	if err != nil {
		return "", nil, cannot("%v", err)
	}
	remove = func() { _ = os.RemoveAll(dir) } // what is left of it is temporary
	s.note("building bwsim with %s", count(len(list), "planted bug"))
	if binary, err = mutant.Build(root, dir, list, "./cmd/bwsim"); err != nil {
		remove()
		return "", nil, cannot("%v", err)
	}
	return binary, remove, nil
}

// choose returns the mutants to be run.
func (f *mutantFlags) choose() ([]mutant.Mutant, error) {
	if f.format != "text" && f.format != "json" {
		return nil, usage("--format %s: want text or json", f.format)
	}
	if f.seeds < 1 || f.jobs < 1 || f.budget < 1 {
		return nil, usage("--seeds %d --jobs %d --budget %d: want at least 1", f.seeds, f.jobs, f.budget)
	}
	if f.output != "" && !f.shrink {
		return nil, usage("--output %s: there is nothing to write without --shrink", f.output)
	}
	all := mutants.All()
	if len(f.only) == 0 {
		return all, nil
	}
	var out []mutant.Mutant
	for _, name := range f.only {
		i := slices.IndexFunc(all, func(m mutant.Mutant) bool { return m.Name == name })
		if i < 0 {
			return nil, usage("--only %s: there is no such mutant; see bwsim list mutants", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// moduleLine is how the go.mod of the source tree begins.
var moduleLine = regexp.MustCompile(`(?m)^module\s+backwave\s*$`)

// sourceTree returns the root of the source tree: dir, or the nearest one
// upwards from the working directory.
func sourceTree(dir string) (string, error) {
	isRoot := func(dir string) bool {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		return err == nil && moduleLine.Match(text)
	}
	if dir != "" {
		if !isRoot(dir) {
			return "", cannot("--source %s: there is no go.mod of module backwave", dir)
		}
		return dir, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", cannot("%v", err)
	}
	for at := here; ; at = filepath.Dir(at) {
		if isRoot(at) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", cannot("mutants needs BackWave's source tree, and neither %s nor a directory above it is one: go there, or name it with --source DIR", here)
		}
	}
}

// idle returns the invariants that caught none of the bugs.
func idle(results []mutantResult) (out []string) {
	for _, i := range sim.Invariants() {
		if !slices.ContainsFunc(results, func(r mutantResult) bool { return slices.Contains(r.CaughtBy, i.Name) }) {
			out = append(out, i.Name)
		}
	}
	return out
}

type jsonMutants struct {
	Summary   bool     `json:"summary"`
	Mutants   int      `json:"mutants"`
	Caught    int      `json:"caught"`
	Survivors []string `json:"survivors"`
	Idle      []string `json:"idle_invariants"` // that caught none
}

// conclude prints what came of all, and returns the error that the command
// ends with.
func (f *mutantFlags) conclude(s *screen, results []mutantResult) error {
	sum := jsonMutants{Summary: true, Mutants: len(results), Survivors: []string{}, Idle: []string{}}
	for _, r := range results {
		if len(r.CaughtBy) == 0 {
			sum.Survivors = append(sum.Survivors, r.Mutant)
		}
	}
	sum.Caught = sum.Mutants - len(sum.Survivors)
	if len(f.only) == 0 {
		sum.Idle = append(sum.Idle, idle(results)...)
	}
	if f.format == "json" {
		s.json(sum)
	} else {
		s.printf("\n%d of %s caught\n", sum.Caught, count(sum.Mutants, "planted bug"))
		for _, r := range results {
			if len(r.CaughtBy) == 0 {
				s.printf("  %s: %s (%s, %s): %s\n", s.paint(red, "SURVIVED"), s.paint(bold, r.Mutant), r.File, r.Func, r.Breaks)
			}
		}
		if len(sum.Idle) > 0 {
			s.printf("  %s: caught none of them, so nothing shows that it can: %s\n", s.paint(red, "IDLE"), strings.Join(sum.Idle, ", "))
		}
	}
	s.flush()
	if len(sum.Survivors)+len(sum.Idle) > 0 {
		return verdict(exitViolated)
	}
	return nil
}

// row prints one line of the table.
func (f *mutantFlags) row(s *screen, r mutantResult, width int) {
	if f.format == "json" {
		s.json(r)
		return
	}
	name := fmt.Sprintf("%-*s", width, r.Mutant)
	seeds := fmt.Sprintf("%5d", r.Seeds)
	switch {
	case len(r.CaughtBy) == 0:
		s.printf("%s  %s  %s\n", s.paint(bold, name), seeds, s.paint(red, "SURVIVED"))
	case r.Seeds == 0:
		s.printf("%s  %s  %s (%s)\n", s.paint(bold, name), "    -", strings.Join(r.CaughtBy, ", "), r.First)
	default:
		s.printf("%s  %s  %s\n", s.paint(bold, name), seeds, strings.Join(r.CaughtBy, ", "))
	}
	if len(f.only) > 0 && r.found != "" {
		s.printf("  %s: %s\n", r.First, r.found)
	}
}
