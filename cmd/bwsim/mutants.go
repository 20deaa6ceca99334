package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"backwave/internal/mutant"
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

	starts int
	faults bool
	shrink bool
	budget int
	output string

	surroundings bool
}

func mutantsCommand(s *screen) *cobra.Command {
	f := &mutantFlags{}
	c := &cobra.Command{
		Use:   "mutants",
		Short: "Plant bugs in the engine and the store and see that each is caught",
		Long: `mutants tests the checker: it builds bwsim with planted bugs, one active at a
time, and runs random worlds until one is violated, from several first seeds, and
the shipped scenarios. What it prints is the matrix of bugs and invariants: who
caught which bug, and after how many random worlds (the median; + if less than
half of the searches saw it, - if only a scenario did). A bug that survives
fails, and so does an invariant that caught none. It needs the source tree, found
upwards from here or named by --source, and the go tool.

First the product itself is run over all the seeds. If it does not hold, nothing
is said about the bugs.

With --faults it shows instead that no kind of fault is there for nothing: for
each kind one bug is hunted, nearly always in random worlds, where it must be
found, and in the same worlds without the faults of that kind, where it must not.

With --shrink it does something else: of each bug the first random world that is
violated is made small, as bwsim shrink does, and a table shows from what to what.

With --surroundings the bugs are others, in goroutines, timers, mailboxes and
contexts of production, and in the client, which no simulated world runs. The
tests of sim/bubble run, at most --seeds random plans among them, until one fails.`,
		Example: "  bwsim mutants\n  bwsim mutants --only fence-without-worker\n  bwsim mutants --format json > caught.jsonl\n  bwsim mutants --format markdown --starts 5",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c.Context(), s) },
	}
	c.Flags().StringSliceVar(&f.only, "only", nil, "only the mutant `NAME`; may be repeated")
	c.Flags().StringVar(&f.format, "format", "text", "text, json (a line per mutant) or markdown (the whole matrix)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "first seed")
	c.Flags().IntVar(&f.seeds, "seeds", 3000, "random worlds after which a bug has survived")
	c.Flags().IntVar(&f.starts, "starts", 5, "searches per bug, each from a first seed of its own")
	c.Flags().StringVar(&f.source, "source", "", "`DIR` of the source tree")
	addJobs(c, &f.jobs, "searches at once")
	c.Flags().BoolVar(&f.faults, "faults", false, "show that each kind of fault is needed by some bug")
	c.Flags().BoolVar(&f.shrink, "shrink", false, "shrink a finding of each bug, and print a table of what came of it")
	c.Flags().IntVar(&f.budget, "budget", shrink.DefaultBudget, "with --shrink: at most this many runs per bug")
	c.Flags().StringVarP(&f.output, "output", "o", "", "with --shrink: write the small plans into `DIR`")
	c.Flags().BoolVar(&f.surroundings, "surroundings", false, "plant other bugs, in what surrounds the shell in production and in the client, under the tests of sim/bubble")
	c.Flags().DurationVar(&f.limit, "limit", 5*time.Minute, "real time after which a mutant hangs; a world whose time stands still is stopped long before")
	return c
}

func (f *mutantFlags) run(ctx context.Context, s *screen) error {
	if f.surroundings {
		return f.runSurroundings(ctx, s)
	}
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
	switch {
	case f.shrink:
		return h.shrinkAll(ctx, s, began)
	case f.faults:
		return h.needs(ctx, s, began)
	}
	return h.run(ctx, s, began)
}

// choose returns the mutants to be run.
func (f *mutantFlags) choose() ([]mutant.Mutant, error) {
	if f.format != "text" && f.format != "json" && f.format != "markdown" {
		return nil, usage("--format %s: want text or json, or markdown for the whole matrix", f.format)
	}
	if f.seeds < 1 || f.jobs < 1 || f.budget < 1 || f.starts < 1 {
		return nil, usage("--seeds %d --jobs %d --budget %d --starts %d: want at least 1", f.seeds, f.jobs, f.budget, f.starts)
	}
	if f.shrink && f.faults {
		return nil, usage("--shrink and --faults do different things: leave one out")
	}
	if f.output != "" && !f.shrink {
		return nil, usage("--output %s: there is nothing to write without --shrink", f.output)
	}
	return named(mutants.All(), f.only, "there is no such mutant; see bwsim list mutants")
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
