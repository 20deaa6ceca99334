package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"backwave/internal/mutant"
	"backwave/sim/mutants"
)

// ladder is the presets that are searched for a planted bug, one after the
// other until one is violated.
var ladder = []string{"fused", "refused", "release", "finish", "cancel", "pool", "batch", "timeout", "one-fault"}

// caught is what came of one planted bug.
type caughtByExplore struct {
	Mutant    string `json:"mutant"`
	File      string `json:"file"`
	Func      string `json:"func"`
	Breaks    string `json:"breaks"`
	World     string `json:"world"`     // the preset in which it was found; "" if in none
	Invariant string `json:"invariant"` // what it violates
	States    uint64 `json:"states"`    // of that world, until then
	Moves     int    `json:"moves"`     // of the shortest trace
	Message   string `json:"message"`

	err error
}

// hunt plants the bugs of the pump and the store, and looks for each.
func (f *exploreFlags) hunt(ctx context.Context, s *screen) error {
	list, err := f.plantable()
	if err != nil {
		return err
	}
	began := time.Now()
	binary, remove, err := buildPlanted(s, f.source, list)
	if err != nil {
		return err
	}
	defer remove()
	results := inOrder(ctx, len(list), f.jobs, func(_, i int) caughtByExplore { return f.look(ctx, binary, list[i]) })
	width := len("mutant")
	for _, m := range list {
		width = max(width, len(m.Name))
	}
	if f.format == "text" {
		s.printf("%-*s  %-10s %9s %5s  %s\n", width, "mutant", "world", "states", "moves", "invariant")
	}
	found, tried := 0, 0
	for r := range results {
		if ctx.Err() != nil {
			continue
		}
		if r.err != nil {
			err = r.err
			continue
		}
		tried++
		if r.Invariant != "" {
			found++
		}
		f.row(s, r, width)
		s.flush()
		s.progress(fmt.Sprintf("%d of %d looked for, %d found, %.0f s", tried, len(list), found, time.Since(began).Seconds()))
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return cannot("interrupted after %d of %s", tried, count(len(list), "planted bug"))
	}
	if f.format == "json" {
		s.json(map[string]any{"summary": true, "mutants": tried, "found": found})
	} else {
		s.printf("\n%d of %s found, without any seed\n", found, count(tried, "planted bug"))
	}
	if found < f.atLeast {
		return &exitError{exitViolated, fmt.Sprintf("%d planted bugs were found, and --at-least %d were asked for", found, f.atLeast)}
	}
	return nil
}

// plantable returns the bugs that sit in what explore runs: the pump, the store
// and its rules.
func (f *exploreFlags) plantable() (out []mutant.Mutant, err error) {
	for _, m := range mutants.All() {
		inside := slices.ContainsFunc([]string{"engine/pump/", "store/memory/", "store/rules/"}, func(dir string) bool { return strings.HasPrefix(m.File, dir) })
		if inside && (len(f.only) == 0 || slices.Contains(f.only, m.Name)) {
			out = append(out, m)
		}
	}
	for _, name := range f.only {
		if !slices.ContainsFunc(out, func(m mutant.Mutant) bool { return m.Name == name }) {
			return nil, usage("--only %s: there is no such mutant in the pump or the memory store; see bwsim list mutants", name)
		}
	}
	return out, nil
}

// look searches the worlds of the ladder for one bug.
func (f *exploreFlags) look(ctx context.Context, binary string, m mutant.Mutant) caughtByExplore {
	r := caughtByExplore{Mutant: m.Name, File: m.File, Func: m.Func, Breaks: m.Breaks}
	for _, world := range ladder {
		cmd := exec.CommandContext(ctx, binary, "explore", world, "--format", "json", "--jobs", "1", "--max-memory", f.memory)
		cmd.Env = append(os.Environ(), mutant.Variable+"="+m.Name)
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		err := cmd.Run()
		if ctx.Err() != nil {
			return r
		}
		var line jsonExplored
		if e := json.Unmarshal(out.Bytes(), &line); e != nil {
			r.World, r.Invariant = world, crash
			if err == nil || cmd.ProcessState.ExitCode() == exitUsage {
				r.err = cannot("mutant %s cannot be searched: %s", m.Name, firstLine(said.String()))
			}
			r.Message = firstLine(said.String())
			return r
		}
		if line.Violation != nil {
			r.World, r.States = world, line.States
			r.Invariant, r.Moves, r.Message = line.Violation.Invariant, line.Violation.Moves, line.Violation.Message
			return r
		}
	}
	return r
}

func (f *exploreFlags) row(s *screen, r caughtByExplore, width int) {
	switch {
	case f.format == "json":
		s.json(r)
	case r.Invariant == "":
		s.printf("%s  %s\n", s.paint(bold, fmt.Sprintf("%-*s", width, r.Mutant)), s.paint(dim, "not in these worlds"))
	default:
		s.printf("%s  %-10s %9s %5d  %s\n", s.paint(bold, fmt.Sprintf("%-*s", width, r.Mutant)), r.World, grouped(r.States), r.Moves, r.Invariant)
		if len(f.only) > 0 {
			s.printf("  %s\n", r.Message)
		}
	}
}
