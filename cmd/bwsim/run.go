package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"backwave/sim"
)

// runFlags are the flags of run and, but for those that choose runs, of
// replay.
type runFlags struct {
	seed   uint64
	seeds  int
	random bool
	twin   bool

	story, quiet, noLinear bool
	minDecided             int
	format, junit          string
	files                  fileNames
	jobs                   int
}

func runCommand(s *screen) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run [SCENARIO…]",
		Short: "Run scenarios or random worlds, tell their stories and judge them",
		Long: `run plays each SCENARIO, a name that bwsim list scenarios prints or a file, and
says what held. Without one it plays all that are shipped. With one seed every
story is told in full; with more only of those runs that did not hold, unless
--story is given.`,
		Example: `  bwsim run crash-minute-by-minute
  bwsim run my.yaml --seeds 100             the same scenario with seeds 1 to 100
  bwsim run --random --seed 7 --story       the random world of seed 7
  bwsim run --random --seeds 200 --twin     are they the same in another process?
  bwsim run my.yaml --plan plan.yaml        keep the run; bwsim replay plan.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			w, err := newWorkload(args, f.random, f.seed, f.seeds)
			if err != nil {
				return err
			}
			w.chosen = c.Flags().Changed("seed")
			return f.session(c.Context(), s, w)
		},
	}
	c.Flags().Uint64Var(&f.seed, "seed", 1, "first seed; default of a plan: its own")
	c.Flags().IntVar(&f.seeds, "seeds", 1, "how many seeds")
	c.Flags().BoolVar(&f.random, "random", false, "a random world per seed: its size, timings and faults")
	c.Flags().BoolVar(&f.twin, "twin", false, "make every run again in another process and compare")
	f.add(c)
	return c
}

// add adds the flags that say how to run, not what.
func (f *runFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.story, "story", false, "tell every story in full")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "only say what did not hold, and the sum")
	c.Flags().BoolVar(&f.noLinear, "no-linear", false, "leave out the linearizability check")
	c.Flags().IntVar(&f.minDecided, "min-decided", 0, "least `PERCENT` of all jobs that the black-box verdict must have decided, else exit code 4")
	c.Flags().StringVar(&f.format, "format", "text", "text, json (a line per run) or github (annotations)")
	c.Flags().StringVar(&f.junit, "junit", "", "also write a JUnit `FILE`")
	c.Flags().StringVar(&f.files.trace, "trace", "", "write every event to `FILE`; of several runs, to one with the run's name in it")
	c.Flags().StringVar(&f.files.history, "history", "", "write the calls and answers to `FILE`, for bwsim check")
	c.Flags().StringVar(&f.files.plan, "plan", "", "write the world and its seed to `FILE`, for bwsim replay")
	c.Flags().StringVar(&f.files.pages.dir, "html", "", "draw each run as a page in the folder `DIR`; see bwsim timeline")
	c.Flags().StringVar(&f.files.pages.of, "html-of", "all", "of which runs: all, or violated for those that did not hold")
	addJobs(c, &f.jobs, "runs at once")
}

// addJobs adds the flag that says how much is done at once.
func addJobs(c *cobra.Command, to *int, usage string) {
	c.Flags().IntVar(to, "jobs", runtime.GOMAXPROCS(0), usage)
	c.Flags().Lookup("jobs").DefValue = "one per core" // help is the same everywhere
}

// reporters returns what prints the outcomes.
func (f *runFlags) reporters(s *screen, w *workload) ([]reporter, error) {
	var out []reporter
	switch f.format {
	case "text":
		out = append(out, &textReport{s: s, quiet: f.quiet, checks: len(sim.Invariants()) - 1, width: w.width()})
	case "json":
		out = append(out, &jsonReport{s})
	case "github":
		out = append(out, &githubReport{s})
	default:
		return nil, usage("--format %s: want text, json or github", f.format)
	}
	if f.junit != "" {
		r, err := newJunitReport(f.junit)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// session makes the runs of w and prints what came of them, in order.
func (f *runFlags) session(ctx context.Context, s *screen, w *workload) error {
	if f.jobs < 1 {
		return usage("--jobs %d: want at least 1", f.jobs)
	}
	f.files.many = w.len() > 1
	if err := f.files.clash(w); err != nil {
		return err
	}
	if err := f.files.pages.prepare(); err != nil {
		return err
	}
	reporters, err := f.reporters(s, w)
	if err != nil {
		return err
	}
	p := newPlayer(f.jobs)
	p.linear, p.files = !f.noLinear, f.files
	p.stop = func() bool { return ctx.Err() != nil }
	if f.format == "text" {
		p.story = f.story || (!f.quiet && f.seeds <= 1 && !f.files.pages.always)
		p.tails = true
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var other *twin
	if f.twin {
		if other, err = startTwin(ctx, w); err != nil {
			return err
		}
	}
	results := inOrder(ctx, w.len(), f.jobs, func(worker, i int) *outcome {
		o := p.play(worker, w.task(i))
		if o.err != nil {
			stop() // what was asked for cannot be had
		}
		return o
	})
	if other != nil {
		results = other.compare(ctx, results)
	}
	t, err := f.print(s, w, results, reporters)
	t.interrupted = t.runs < t.asked
	t.minDecided = f.minDecided
	for _, r := range reporters {
		if e := r.end(t); e != nil && err == nil {
			err = cannot("%v", e)
		}
	}
	s.flush()
	if err != nil {
		return err
	}
	if t.interrupted {
		s.note("bwsim: interrupted after %d of %d runs", t.runs, t.asked)
	}
	if t.tooFewDecided() {
		s.note("bwsim: the black-box verdict decided %d of %d jobs, less than the %d %% asked for", t.decided, t.jobs, t.minDecided)
	}
	return verdict(t.exit())
}

// print hands on the outcomes until there are no more, and shows progress. The
// first run that was not the same in its twin is looked into.
func (f *runFlags) print(s *screen, w *workload, results <-chan *outcome, reporters []reporter) (*totals, error) {
	t := &totals{asked: w.len(), compared: f.twin}
	began := time.Now()
	tick := time.NewTicker(s.pace())
	defer tick.Stop()
	var failed error
	for {
		select {
		case o, ok := <-results:
			if !ok {
				return t, failed
			}
			if o.res.Stopped { // a long world, interrupted in its middle
				continue
			}
			first := o.differs() && t.differ == 0
			t.add(o)
			for _, r := range reporters {
				r.run(o)
			}
			s.flush()
			if err := cmp.Or(o.err, o.twinErr); err != nil && failed == nil {
				failed = cannot("%v", err)
			}
			if first && f.twin {
				s.divergence(w, t.runs-1)
			}
		case <-tick.C:
			s.progress(fmt.Sprintf("%d of %d runs, %d violated, %.0f s", t.runs, t.asked, t.violated, time.Since(began).Seconds()))
		}
	}
}
