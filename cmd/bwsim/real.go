//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"backwave/internal/nemesis"
)

// realWorker is the hidden command that is a worker process.
const realWorker = "real-worker"

func realCommands(s *screen) []*cobra.Command {
	return []*cobra.Command{realCommand(s), realWorkerCommand()}
}

type realFlags struct {
	cfg    nemesis.Config
	faults []string
	out    string
	format string
	min    int

	mutants bool
	only    []string
	source  string
	tries   int
}

func realCommand(s *screen) *cobra.Command {
	f := &realFlags{}
	c := &cobra.Command{
		Use:   "real",
		Short: "Harm real workers on a real store, and judge what came of it",
		Long: `real starts worker processes on a real PostgreSQL server (a throw-away one, which
runs as no root and ends with this command) or on one SQLite file. A plan that the
seed decides kills, freezes and shuts down the workers, cuts, delays and blocks
their connections, restarts the server in every way and makes it read-only, while
jobs are enqueued whose handlers write into the same database. Then all heals, and
what can end must. What is in the store, what the handlers wrote, and the merged
histories of all processes are judged.

The seed decides the plan, not how processes get through it: two runs differ.

With --mutants it plants bugs in the statements of the PostgreSQL store, one at a
time, and sees that each is caught. That needs the source tree and the go tool.`,
		Example: `  bwsim real
  bwsim real --store sqlite --for 20s
  bwsim real --postgres 'postgres://me@db/test?sslmode=disable'
  bwsim real --faults kill,freeze --pace 500ms
  bwsim real --mutants`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), s) },
	}
	fl := c.Flags()
	fl.StringVar(&f.cfg.Store, "store", nemesis.Postgres, "postgres or sqlite")
	fl.StringVar(&f.cfg.URL, "postgres", "", "`URL` of a server of yours: it is neither restarted nor made read-only")
	fl.DurationVar(&f.cfg.For, "for", time.Minute, "how long there is trouble")
	fl.IntVar(&f.cfg.Workers, "workers", 3, "worker processes")
	fl.IntVar(&f.cfg.Jobs, "jobs", 0, "jobs to enqueue at most; default 30 for each second of trouble")
	fl.Uint64Var(&f.cfg.Seed, "seed", 1, "of the plan")
	fl.DurationVar(&f.cfg.Pace, "pace", 2*time.Second, "mean time between two faults of one process or connection; a server has a third as many")
	fl.StringSliceVar(&f.faults, "faults", nil, "only these `KINDS` of faults: "+kindNames(nemesis.Kinds()))
	fl.StringVar(&f.out, "out", "", "keep histories, logs and the page in `DIR`; default: a temporary folder, kept if something did not hold")
	fl.IntVar(&f.min, "min-decided", 50, "least `PERCENT` of all jobs that the linearizability check must have decided, else exit code 4")
	fl.StringVar(&f.format, "format", "text", "text or json")
	fl.BoolVar(&f.mutants, "mutants", false, "plant bugs in the statements of the PostgreSQL store and see that each is caught")
	fl.StringSliceVar(&f.only, "only", nil, "with --mutants: only the bug `NAME`; may be repeated")
	fl.IntVar(&f.tries, "tries", 5, "with --mutants: runs, with one seed after the other, after which a bug has survived")
	fl.StringVar(&f.source, "source", "", "with --mutants: `DIR` of the source tree")
	return c
}

func kindNames(kinds []nemesis.Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// realWorkerCommand is a worker process of bwsim real.
func realWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    realWorker,
		Short:  "Be a worker of bwsim real",
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			if code := nemesis.Work(c.Context(), args, c.InOrStdin(), c.ErrOrStderr()); code != nemesis.ExitDone {
				return &exitError{code: code}
			}
			return nil
		},
	}
}

func (f *realFlags) run(ctx context.Context, s *screen) error {
	if f.format != "text" && f.format != "json" {
		return usage("--format %s: want text or json", f.format)
	}
	if f.min < 0 || f.min > 100 {
		return usage("--min-decided %d: want 0 to 100", f.min)
	}
	for _, k := range f.faults {
		if !slices.Contains(nemesis.Kinds(), nemesis.Kind(k)) {
			return usage("--faults %s: want %s", k, kindNames(nemesis.Kinds()))
		}
		f.cfg.Only = append(f.cfg.Only, nemesis.Kind(k))
	}
	if f.mutants {
		return f.runMutants(ctx, s)
	}
	if len(f.only) > 0 {
		return usage("--only is for --mutants")
	}
	return f.runOnce(ctx, s)
}

// runOnce makes one run.
func (f *realFlags) runOnce(ctx context.Context, s *screen) error {
	f.cfg.Dir = f.out + "." // of which Validate asks only that it has a name
	f.cfg.Schema = fmt.Sprintf("backwave_real_%d_%d", os.Getpid(), time.Now().UnixNano()%1_000_000)
	f.cfg.Worker = func(args []string) (*exec.Cmd, error) {
		return self(context.Background(), nil, append([]string{realWorker, "--"}, args...)...)
	}
	f.cfg.Tell = realProgress(s, f.cfg.Store)
	err := f.cfg.Validate()
	if err != nil {
		return usage("%v", err)
	}
	keep := f.out != ""
	dir := f.out
	if keep {
		err = os.MkdirAll(dir, 0o755)
	} else {
		dir, err = os.MkdirTemp("", "bwsim-real-")
	}
	if err != nil {
		return cannot("%v", err)
	}
	if old, _ := filepath.Glob(filepath.Join(dir, "*.jsonl")); len(old) > 0 {
		return usage("--out %s: there are histories in it already", dir)
	}
	f.cfg.Dir = dir
	rep, err := nemesis.Run(ctx, f.cfg)
	o := &realOutcome{Report: rep, min: f.min, dir: dir, repeat: f.repeat()}
	if err != nil && len(rep.Findings) == 0 {
		if !keep {
			_ = os.RemoveAll(dir)
		}
		return cannot("%v", err)
	}
	if err != nil { // and something was found before
		s.note("bwsim: %v", err)
	}
	o.kept = keep || o.exit() == exitViolated || o.exit() == exitUndecided
	if o.kept && rep.Log != nil {
		if o.page, err = o.draw(); err != nil {
			return cannot("%v", err)
		}
	}
	if !o.kept {
		if err := os.RemoveAll(dir); err != nil {
			return cannot("%v", err)
		}
	}
	if f.format == "json" {
		s.json(o.json())
	} else {
		o.print(s)
	}
	s.flush()
	return verdict(o.exit())
}

// repeat is the command that has the same plan.
func (f *realFlags) repeat() string {
	c := fmt.Sprintf("bwsim real --store %s --for %v --workers %d --seed %d --pace %v", f.cfg.Store, f.cfg.For, f.cfg.Workers, f.cfg.Seed, f.cfg.Pace)
	if f.cfg.Jobs > 0 {
		c += fmt.Sprintf(" --jobs %d", f.cfg.Jobs)
	}
	if len(f.faults) > 0 {
		c += " --faults " + strings.Join(f.faults, ",")
	}
	if f.cfg.URL != "" {
		c += " --postgres URL" // it may hold a password
	}
	return c
}

// realProgress returns what shows how far a run is.
func realProgress(s *screen, store string) func(nemesis.Progress) {
	var last time.Time
	phase := ""
	return func(p nemesis.Progress) {
		if time.Since(last) < s.pace() && p.Phase == phase {
			return
		}
		last, phase = time.Now(), p.Phase
		of := ""
		if p.Of > 0 {
			of = " of " + p.Of.Round(time.Second).String()
		}
		left := ""
		if p.Left >= 0 {
			left = fmt.Sprintf(", %d left", p.Left)
		}
		s.progress(fmt.Sprintf("%s: %s %v%s, %s enqueued%s, %s, %s", store, p.Phase, p.Past.Round(time.Second), of, count(p.Enqueued, "job"), left, count(p.Faults, "fault"), count(p.Findings, "finding")))
	}
}
