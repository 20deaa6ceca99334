package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"backwave/checker"
	"backwave/history"
	"backwave/sim"
	"backwave/sim/timeline"
)

// mostExplained is how many jobs of one run a page explains.
const mostExplained = 10

func timelineCommand(s *screen) *cobra.Command {
	f := &runFlags{seeds: 1, format: "text", jobs: 1}
	var out string
	var midway bool
	c := &cobra.Command{
		Use:   "timeline PLAN|SCENARIO|HISTORY…",
		Short: "Draw a run as one HTML page",
		Long: `timeline makes a run, or reads a recorded one, and draws it as one HTML page that
needs no network: nodes with their handlers, leases as the store knows them and as
the nodes believe them, faults, calls, clocks, and what was violated.

A PLAN is what bwsim run --plan has written, a SCENARIO a file or the name of a
shipped one. A HISTORY is a file of JSON lines, by bwsim run --history or
bwworker --record; several are merged, as bwsim check does it.

The exit code is that of bwsim run and bwsim check: 1 if something is violated.`,
		Example: `  bwsim timeline zombie-returns
  bwsim timeline plan.yaml -o run.html
  bwsim timeline --random --seed 7
  bwsim timeline worker-*.jsonl -o real.html`,
		RunE: func(c *cobra.Command, args []string) error {
			if out == "-" {
				return usage("--output -: want a file")
			}
			if len(args) > 0 && isHistory(args[0]) {
				return drawHistories(c, s, args, out, midway)
			}
			if midway {
				return usage("--midway is for histories")
			}
			w, err := oneRun(args, f, c.Flags().Changed("seed"))
			if err != nil {
				return err
			}
			f.files.pages.file = out
			return f.session(c.Context(), s, w)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "write the page to `FILE`; default: the run's name and .html")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "the seed; default of a plan: its own")
	c.Flags().BoolVar(&f.random, "random", false, "draw the random world of the seed")
	c.Flags().BoolVar(&midway, "midway", false, "of histories: the store held jobs before they began")
	return c
}

// isHistory reports whether arg names a recorded history.
func isHistory(arg string) bool {
	return arg == "-" || filepath.Ext(arg) == ".jsonl"
}

// oneRun resolves what is to be drawn.
func oneRun(args []string, f *runFlags, seeded bool) (*workload, error) {
	if len(args) > 1 || len(args) == 0 && !f.random {
		return nil, usage("bwsim timeline: want one plan or scenario, or histories; got %s\nsee bwsim timeline --help", count(len(args), "argument"))
	}
	f.files.pages.always = true
	w, err := newWorkload(args, f.random, f.seed, 1)
	if err != nil {
		return nil, err
	}
	w.chosen = seeded
	return w, nil
}

// drawHistories draws recorded calls.
func drawHistories(c *cobra.Command, s *screen, args []string, out string, midway bool) error {
	j, err := readHistories(args, c.InOrStdin())
	if err != nil {
		return err
	}
	j.opts = checker.LinearOptions{Midway: midway, Completions: !j.world}
	j.Linear = checker.CheckLinear(j.log, j.opts)
	j.look()
	page := timeline.OfHistory(j.log, j.Linear)
	page.Title = j.name()
	page.Repeat = "bwsim check"
	for _, a := range args {
		page.Repeat += " " + quote(a)
	}
	explain(page, j.log, j.Findings, j.opts)
	if out == "" {
		base := filepath.Base(args[0])
		out = strings.TrimSuffix(base, filepath.Ext(base)) + ".html"
		if args[0] == "-" {
			out = "history.html"
		}
	}
	if err := writePage(page, out); err != nil {
		return cannot("%v", err)
	}
	s.printf("%-9s %s\n  written: %s\n", j.verdict(), j.name(), out)
	return verdict(j.exit())
}

// explain adds why the first jobs that were found could not have gone so.
func explain(page *timeline.Page, log *history.Log, found []checker.Finding, opts checker.LinearOptions) {
	for _, f := range found {
		if len(page.Linear) == mostExplained {
			page.Notes = append(page.Notes, fmt.Sprintf("Only the first %d jobs whose calls make no sense are explained.", mostExplained))
			return
		}
		if e, ok := checker.FindExplanation(log, f.Job, opts); ok {
			page.Explain(e)
		}
	}
}

// pages says which runs get a page.
type pages struct {
	dir    string // where, one per run; "" = nowhere
	of     string // "all" or "violated"
	always bool   // the command is to draw
	file   string // for the only run; "" = named after it
}

// prepare makes the folder of the pages.
func (p *pages) prepare() error {
	switch {
	case p.of != "" && p.of != "all" && p.of != "violated":
		return usage("--html-of %s: want all or violated", p.of)
	case p.dir == "":
		return nil
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return cannot("make the folder of the pages: %v", err)
	}
	return nil
}

// name returns the name of the page of o, "" if it gets none.
func (p *pages) name(o *outcome) string {
	switch {
	case p.file != "":
		return p.file
	case p.always:
		return o.label() + ".html"
	case p.dir == "", p.of == "violated" && o.res.Verdict == sim.Held:
		return ""
	}
	return filepath.Join(p.dir, o.label()+".html")
}

// draw writes the page of o, which is made again for it. log is its history, nil
// if linearizability was not checked.
func (o *outcome) draw(name string, log *history.Log) error {
	c := timeline.NewCollector(o.sc)
	again := &outcome{task: o.task}
	again.run(sim.Options{Seed: o.seed, Observe: c.Observe})
	if again.res.TraceHash != o.res.TraceHash {
		o.second = hash(again.res.TraceHash)
	}
	page := c.Page(o.res)
	page.Plan = string(o.plan())
	page.Repeat = o.repeat
	page.Facts = append(page.Facts, linearWords(o))
	if o.stack != "" {
		page.Notes = append(page.Notes, "The world crashed here; what comes after is not known.")
	}
	if o.linear {
		explain(page, log, o.res.Linear.Findings, checker.LinearOptions{})
	}
	if err := writePage(page, name); err != nil {
		return err
	}
	o.files = append(o.files, name)
	return nil
}

func writePage(page *timeline.Page, name string) error {
	var b bytes.Buffer
	if err := page.Write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
