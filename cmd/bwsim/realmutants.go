//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"backwave/internal/mutant"
	"backwave/internal/nemesis"
)

// realMutant is what came of one planted bug.
type realMutant struct {
	Mutant   string   `json:"mutant"`
	Breaks   string   `json:"breaks"`
	Faults   []string `json:"faults"`    // that were made
	CaughtBy []string `json:"caught_by"` // checks, in the order of a report
	Runs     int      `json:"runs"`      // made until then
	Seconds  float64  `json:"seconds"`   // real time, of all of them
	Found    string   `json:"found"`     // the first finding

	err error // it could not be run
}

// How long and how dense the trouble of a bug's run is.
const (
	mutantTrouble = 8 * time.Second
	mutantPace    = 500 * time.Millisecond
	mutantLimit   = 3 * time.Minute // after which a run hangs
)

// runMutants plants bugs and runs each until it is caught. First the product is
// run with all faults: if it does not hold, nothing is said of the bugs.
func (f *realFlags) runMutants(ctx context.Context, s *screen) error {
	if f.cfg.Store != nemesis.Postgres || f.cfg.URL != "" || len(f.faults) > 0 || f.out != "" {
		return usage("--mutants goes with --only, --tries, --seed, --source and --format alone")
	}
	if f.tries < 1 {
		return usage("--tries %d: want at least 1", f.tries)
	}
	list, err := f.bugs()
	if err != nil {
		return err
	}
	var planted []mutant.Mutant
	for _, b := range list {
		planted = append(planted, b.Mutant)
	}
	binary, remove, err := buildPlanted(s, f.source, planted)
	if err != nil {
		return err
	}
	defer remove()
	dir := filepath.Dir(binary)
	product := f.hunt(ctx, binary, dir, nemesis.Bug{}, 1)
	switch {
	case ctx.Err() != nil:
		return cannot("interrupted")
	case product.err != nil:
		return product.err
	case len(product.CaughtBy) > 0:
		return &exitError{exitViolated, "the product itself does not hold, so nothing can be said of the bugs: " + product.Found}
	}
	return f.huntAll(ctx, s, binary, dir, list)
}

func (f *realFlags) bugs() (out []nemesis.Bug, err error) {
	all := nemesis.Bugs()
	if len(f.only) == 0 {
		return all, nil
	}
	for _, name := range f.only {
		i := slices.IndexFunc(all, func(b nemesis.Bug) bool { return b.Name == name })
		if i < 0 {
			var names []string
			for _, b := range all {
				names = append(names, b.Name)
			}
			return nil, usage("--only %s: want %s", name, strings.Join(names, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// huntAll runs the bugs one after the other: each run has three workers, a
// server and a machine to itself.
func (f *realFlags) huntAll(ctx context.Context, s *screen, binary, dir string, list []nemesis.Bug) error {
	width := len("mutant")
	for _, b := range list {
		width = max(width, len(b.Name))
	}
	if f.format == "text" {
		s.printf("%-*s  runs  seconds  caught by\n", width, "mutant")
		s.flush()
	}
	survivors := 0
	for i, b := range list {
		s.progress(fmt.Sprintf("%d of %s run, now %s", i, count(len(list), "planted bug"), b.Name))
		r := f.hunt(ctx, binary, dir, b, f.tries)
		if ctx.Err() != nil {
			return cannot("interrupted after %d of %s", i, count(len(list), "planted bug"))
		}
		if r.err != nil {
			return r.err
		}
		caught := strings.Join(r.CaughtBy, ", ")
		if caught == "" {
			survivors++
			caught = s.paint(red, "SURVIVED")
		}
		if f.format == "json" {
			s.json(r)
		} else {
			s.printf("%-*s  %4d  %7.0f  %s\n", width, r.Mutant, r.Runs, r.Seconds, caught)
			if len(f.only) > 0 && r.Found != "" {
				s.printf("  %s\n", r.Found)
			}
		}
		s.flush()
	}
	if f.format == "text" {
		s.printf("\n%d of %s caught\n", len(list)-survivors, count(len(list), "planted bug"))
	}
	if survivors > 0 {
		return verdict(exitViolated)
	}
	return nil
}

// hunt makes runs with one bug until one is violated.
func (f *realFlags) hunt(ctx context.Context, binary, dir string, b nemesis.Bug, tries int) (r realMutant) {
	r = realMutant{Mutant: b.Name, Breaks: b.Breaks, Faults: b.Faults}
	began := time.Now()
	for ; r.Runs < tries && len(r.CaughtBy) == 0 && r.err == nil; r.Runs++ {
		seed := f.cfg.Seed + uint64(r.Runs)
		args := []string{
			"real", "--format", "json", "--for", mutantTrouble.String(), "--pace", mutantPace.String(),
			"--seed", strconv.FormatUint(seed, 10), "--out", filepath.Join(dir, b.Name+"-"+strconv.FormatUint(seed, 10)),
		}
		if len(b.Faults) > 0 {
			args = append(args, "--faults", strings.Join(b.Faults, ","))
		}
		r.try(ctx, binary, args, b.Name)
	}
	r.Seconds = time.Since(began).Seconds()
	return r
}

// try makes one run.
func (r *realMutant) try(ctx context.Context, binary string, args []string, bug string) {
	limited, cancel := context.WithTimeout(ctx, mutantLimit)
	defer cancel()
	c := exec.CommandContext(limited, binary, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // so that it takes its processes along
	c.WaitDelay = 30 * time.Second
	c.Env = append(os.Environ(), mutant.Variable+"="+bug)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	err := c.Run()
	if ctx.Err() != nil {
		return
	}
	if limited.Err() != nil {
		r.CaughtBy, r.Found = []string{hang}, "the run did not end within "+mutantLimit.String()
		return
	}
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && (!failed || exit.ExitCode() != exitViolated) {
		if !failed || exit.ExitCode() != exitUndecided {
			r.err = cannot("%s: bwsim %s: %v\n%s", bug, strings.Join(args, " "), err, said.String())
		}
		return
	}
	var j jsonReal
	if err := json.Unmarshal(out.Bytes(), &j); err != nil {
		r.err = cannot("%s: what bwsim real printed: %v", bug, err)
		return
	}
	for _, check := range nemesis.Checks() {
		if slices.ContainsFunc(j.Violations, func(v jsonRealFinding) bool { return v.Invariant == check.Name }) {
			r.CaughtBy = append(r.CaughtBy, check.Name)
		}
	}
	if len(j.Violations) > 0 {
		v := j.Violations[0]
		r.Found = strings.TrimSpace(v.Invariant + ": " + v.Message)
	}
}
