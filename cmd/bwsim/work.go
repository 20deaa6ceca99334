package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"backwave/scenarios"
	"backwave/sim"
	"backwave/sim/scenario"
)

// source is one scenario as it was asked for.
type source struct {
	arg  string // as on the command line
	file string // for annotations
	sc   *sim.Scenario
	plan bool   // it has a seed of its own
	seed uint64 // that seed
}

// origin is what a plan says of where it comes from. What is shipped is known
// by its name, wherever its file lies.
func (s *source) origin() string {
	if isFile(s.arg) {
		return s.file
	}
	return s.arg
}

// task is one run to be made.
type task struct {
	sc     *sim.Scenario
	seed   uint64
	file   string // "" for a random world
	origin string // for the header of a plan
	repeat string // the command that makes this run again
}

// label names the run in names of files.
func (t *task) label() string {
	name := strings.Map(func(r rune) rune {
		if quote(string(r)) == string(r) && r != '/' {
			return r
		}
		return '-'
	}, t.sc.Name)
	if t.file == "" {
		return name // random-7 has its seed in it
	}
	return fmt.Sprintf("%s-%d", name, t.seed)
}

// workload is all the runs of one command. The seeds of a scenario come one
// after the other.
type workload struct {
	random  bool
	sources []source
	seed    uint64
	seeds   int
	chosen  bool   // seed is to be used for plans too, which have one of their own
	repeat  string // replaces the usual command
}

func (w *workload) len() int {
	if w.random {
		return w.seeds
	}
	return w.seeds * len(w.sources)
}

// task returns the i-th run.
func (w *workload) task(i int) task {
	seed := w.seed + uint64(i%w.seeds)
	if w.random {
		repeat := fmt.Sprintf("bwsim run --random --seed %d", seed)
		return task{sc: sim.Random(seed), seed: seed, origin: repeat, repeat: repeat}
	}
	s := w.sources[i/w.seeds]
	if s.plan && !w.chosen {
		seed = s.seed + uint64(i%w.seeds)
	}
	t := task{sc: s.sc, seed: seed, file: s.file, origin: s.origin(), repeat: w.repeat}
	if t.repeat == "" {
		t.repeat = fmt.Sprintf("bwsim run %s --seed %d", quote(s.arg), seed)
	}
	return t
}

// width returns how long the longest name of a scenario is.
func (w *workload) width() int {
	if w.random {
		return len(fmt.Sprintf("random-%d", w.seed+uint64(w.seeds-1)))
	}
	most := 0
	for _, s := range w.sources {
		most = max(most, utf8.RuneCountInString(s.sc.Name))
	}
	return most
}

// newWorkload resolves what a command line asks for.
func newWorkload(args []string, random bool, seed uint64, seeds int) (*workload, error) {
	w := &workload{random: random, seed: seed, seeds: seeds}
	switch {
	case seeds < 1:
		return nil, usage("--seeds %d: want at least 1", seeds)
	case seed+uint64(seeds-1) < seed:
		return nil, usage("--seed %d --seeds %d: the last seed is above 2⁶⁴ - 1", seed, seeds)
	case random && len(args) > 0:
		return nil, usage("--random makes its own worlds: leave out %q, or --random", args[0])
	case random:
		return w, nil
	case len(args) == 0:
		args = scenarios.Names()
	}
	for _, arg := range args {
		s, err := load(arg)
		if err != nil {
			return nil, err
		}
		w.sources = append(w.sources, s)
	}
	return w, nil
}

// loadWithSeed is load for a run of one seed: the one that c was given, else that
// of the plan, else seed.
func loadWithSeed(c *cobra.Command, arg string, seed uint64) (source, error) {
	src, err := load(arg)
	if err == nil && (c.Flags().Changed("seed") || !src.plan) {
		src.seed = seed
	}
	return src, err
}

// load reads the scenario that arg names: a file, or a shipped one.
func load(arg string) (source, error) {
	if !isFile(arg) {
		sc, err := scenario.Load(arg)
		if err != nil {
			return source{}, usage("%v\na file is named by a path or ends in .yaml; see bwsim list scenarios", err)
		}
		return source{arg: arg, file: "scenarios/" + scenarios.File(arg), sc: sc}, nil
	}
	sc, header, err := readPlan(arg)
	if err != nil {
		return source{}, err
	}
	return source{arg: arg, file: filepath.ToSlash(arg), sc: sc, plan: header.Version != 0, seed: header.Seed}, nil
}

// isFile reports whether arg means a file rather than a shipped scenario.
func isFile(arg string) bool {
	ext := filepath.Ext(arg)
	return ext == ".yaml" || ext == ".yml" || strings.ContainsRune(filepath.ToSlash(arg), '/')
}

func readPlan(file string) (*sim.Scenario, scenario.Header, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, scenario.Header{}, badFile(err)
	}
	sc, header, err := scenario.ParsePlan(file, src)
	if err != nil {
		return nil, scenario.Header{}, usage("%v", err)
	}
	return sc, header, nil
}

// badFile is the error of a file that was named on the command line.
func badFile(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return usage("cannot read %s: %v", e.Path, e.Err)
	}
	return usage("%v", err)
}
