package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"backwave/sim"
	"backwave/sim/swarm"
)

type swarmFlags struct {
	seed   uint64
	seeds  int
	length time.Duration
	jobs   int
	level  string
	shard  string
	guided bool
	must   bool

	noLinear bool
	out      string
	outMax   string
	known    string
	format   string
	junit    string
	summary  string
}

func swarmCommand(s *screen) *cobra.Command {
	f := &swarmFlags{}
	c := &cobra.Command{
		Use:   "swarm",
		Short: "Search random worlds, without end, for one that does not hold",
		Long: `swarm runs one random world after the other on all cores. Each seed draws which
kinds of faults there are, how hard they hit, how big the world is, and what it
promises: pristine (nothing goes wrong), recoverable (every fault heals, and
then all work gets done) or adversarial (safety only).

Without --for and --seeds it goes on until Ctrl-C. Findings are told apart by
their invariant and the shape of what happened; each is told once, and counted.`,
		Example: `  bwsim swarm --for 10m --out findings      ten minutes; keep a plan of each finding
  bwsim swarm --seeds 5000 --must           has it reached all that it must?
  bwsim swarm --for 1h --shard 2/4          the second of four machines
  bwsim swarm --for 10m --guided            make plans of those that reached something new`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), s) },
	}
	c.Flags().Uint64Var(&f.seed, "seed", 1, "first seed")
	c.Flags().IntVar(&f.seeds, "seeds", 0, "how many seeds; 0 = without end")
	c.Flags().DurationVar(&f.length, "for", 0, "begin no more runs after so much real time; 0s = without end")
	addJobs(c, &f.jobs, "runs at once")
	c.Flags().StringVar(&f.level, "level", "", "only worlds of this `LEVEL`: pristine, recoverable or adversarial")
	c.Flags().StringVar(&f.shard, "shard", "", "`I/N`: every N-th seed, from the I-th on; of N machines each searches others")
	c.Flags().BoolVar(&f.guided, "guided", false, "make plans of those that reached something new")
	c.Flags().BoolVar(&f.must, "must", false, "exit code 4 if a situation that must be reached was not")
	c.Flags().BoolVar(&f.noLinear, "no-linear", false, "leave out the linearizability check")
	c.Flags().StringVar(&f.out, "out", "", "keep a plan of each finding in `DIR`")
	c.Flags().StringVar(&f.outMax, "out-max", "100MB", "most that --out may fill, as a number of B, KB, MB or GB")
	c.Flags().StringVar(&f.known, "known", "", "`FILE` of known failures: they are reported, and are none")
	c.Flags().StringVar(&f.format, "format", "text", "text, json (a line per finding), github (annotations) or markdown")
	c.Flags().StringVar(&f.junit, "junit", "", "also write a JUnit `FILE`")
	c.Flags().StringVar(&f.summary, "summary", "", "also append a summary in Markdown to `FILE`")
	return c
}

// check returns what to search, or what is wrong with the flags.
func (f *swarmFlags) check() (swarm.Config, error) {
	c := swarm.Config{First: f.seed, Level: sim.Level(f.level), Guided: f.guided}
	switch c.Level {
	case "", sim.Pristine, sim.Recoverable, sim.Adversarial:
	default:
		return c, usage("--level %s: want pristine, recoverable or adversarial", f.level)
	}
	switch f.format {
	case "text", "json", "github", "markdown":
	default:
		return c, usage("--format %s: want text, json, github or markdown", f.format)
	}
	if f.seeds < 0 || f.length < 0 || f.jobs < 1 {
		return c, usage("--seeds %d --for %v --jobs %d: want none below 0, and at least 1 job", f.seeds, f.length, f.jobs)
	}
	if f.shard == "" {
		return c, nil
	}
	i, n, ok := strings.Cut(f.shard, "/")
	var err1, err2 error
	c.Shard, err1 = strconv.Atoi(i)
	c.Shards, err2 = strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || c.Shard < 1 || c.Shard > c.Shards {
		return c, usage("--shard %s: want I/N with I from 1 to N, such as 2/4", f.shard)
	}
	return c, nil
}

func (f *swarmFlags) run(ctx context.Context, s *screen) error {
	cfg, err := f.check()
	if err != nil {
		return err
	}
	known, err := readKnown(f.known)
	if err != nil {
		return err
	}
	shelf, err := openShelf(f.out, f.outMax)
	if err != nil {
		return err
	}
	h := newSwarmRun(f, cfg, swarm.NewFindings(known), shelf)
	report, err := f.reports(s)
	if err != nil {
		return err
	}
	err = h.search(ctx, s, report)
	for _, r := range report {
		if e := r.end(h); e != nil && err == nil {
			err = cannot("%v", e)
		}
	}
	s.flush()
	if err != nil {
		return err
	}
	return verdict(h.exit())
}

func readKnown(name string) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, badFile(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	known, err := swarm.ReadKnown(name, file)
	if err != nil {
		return nil, usage("%v", err)
	}
	return known, nil
}

// reports returns what tells of the search.
func (f *swarmFlags) reports(s *screen) (out []swarmReport, err error) {
	switch f.format {
	case "text":
		out = append(out, &swarmText{s: s})
	case "json":
		out = append(out, &swarmJSON{s})
	case "github":
		out = append(out, &swarmGithub{s})
	case "markdown":
		out = append(out, &swarmMarkdown{print: func(text string) error { s.printf("%s", text); return nil }})
	}
	if f.junit != "" {
		r, err := newJunitReport(f.junit)
		if err != nil {
			return nil, err
		}
		out = append(out, &swarmJunit{r})
	}
	if f.summary != "" {
		file, err := os.OpenFile(f.summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, cannot("write the summary: %v", err)
		}
		out = append(out, &swarmMarkdown{print: func(text string) error {
			_, err := file.WriteString(text)
			if err = errors.Join(err, file.Close()); err != nil {
				return fmt.Errorf("write the summary: %w", err)
			}
			return nil
		}})
	}
	return out, nil
}

// bytesOf reads a size such as 100MB.
func bytesOf(text string) (int64, error) {
	units := []struct {
		name string
		of   int64
	}{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil || n < 0 {
			break
		}
		return n * u.of, nil
	}
	return 0, usage("--out-max %s: want a size such as 100MB", text)
}

// missing reports whether err says that there is no such file.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
