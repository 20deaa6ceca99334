package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"backwave/internal/mutant"
	"backwave/sim/mutants"
)

// needed is what came of the question whether a kind of fault is needed.
type needed struct {
	Fault   string `json:"fault"`
	Mutant  string `json:"mutant"`
	In      string `json:"in"`      // the worlds, or the test
	With    int    `json:"with"`    // runs until the bug was found; 0: it was not
	Without int    `json:"without"` // the same without the faults of the kind
	Tried   int    `json:"tried"`   // runs that were made without them
	By      string `json:"by"`      // what did not hold

	err error
}

func (n *needed) shown() bool { return n.With > 0 && n.Without == 0 }

// needs hunts one bug for every kind of fault, with it and without it, and
// prints a row for each.
func (h *hunter) needs(ctx context.Context, s *screen, began time.Time) error {
	list := mutants.Needs()
	if only := h.flags.only; len(only) > 0 {
		list = slices.DeleteFunc(list, func(n mutants.Need) bool { return !slices.Contains(only, n.Mutant) })
	}
	root, err := sourceTree(h.flags.source)
	if err != nil {
		return err
	}
	p := &prover{hunter: h, root: root, tests: map[string]string{}}
	defer p.remove()
	if err := p.build(s, list); err != nil {
		return err
	}
	t := newNeedTable(s, h.flags.format, list)
	inner, stop := context.WithCancel(ctx)
	defer stop()
	for r := range inOrder(inner, len(list), h.flags.jobs, func(_, i int) needed { return p.prove(inner, list[i]) }) {
		switch {
		case inner.Err() != nil: // it was cut off
		case r.err != nil:
			err = r.err
			stop()
		default:
			t.add(r)
		}
	}
	switch {
	case ctx.Err() != nil:
		return cannot("interrupted after %d of %s of fault", t.rows, count(len(list), "kind"))
	case err != nil:
		return err
	}
	s.note("done in %.0f s", time.Since(began).Seconds())
	return t.conclude()
}

// prover shows of kinds of faults that they are needed.
type prover struct {
	*hunter
	root  string
	dir   string
	tests map[string]string // binaries of the tests of packages
}

// build builds the binaries of the tests that the list names.
func (p *prover) build(s *screen, list []mutants.Need) (err error) {
	var bugs []mutant.Mutant
	for _, m := range mutants.All() {
		if slices.ContainsFunc(list, func(n mutants.Need) bool { return n.Test != "" && n.Mutant == m.Name }) {
			bugs = append(bugs, m)
		}
	}
	for _, n := range list {
		pkg, _ := splitTest(n.Test)
		if n.Test == "" || p.tests[pkg] != "" {
			continue
		}
		if p.dir == "" {
			if p.dir, err = os.MkdirTemp("", "bwsim-needs-"); err != nil {
				return cannot("%v", err)
			}
		}
		s.note("building the tests of %s with %s", pkg, count(len(bugs), "planted bug"))
		if p.tests[pkg], err = mutant.BuildTest(p.root, filepath.Join(p.dir, strconv.Itoa(len(p.tests))), bugs, "./"+pkg); err != nil {
			return cannot("%v", err)
		}
	}
	return nil
}

func (p *prover) remove() {
	if p.dir != "" {
		_ = os.RemoveAll(p.dir) // what is left of it is temporary
	}
}

// splitTest returns the package and the name of a test, such as sim/bubble.TestX.
func splitTest(test string) (pkg, name string) {
	i := strings.LastIndex(test, ".")
	if i < 0 {
		return "", test
	}
	return test[:i], test[i+1:]
}

// prove answers for one kind.
func (p *prover) prove(ctx context.Context, n mutants.Need) needed {
	r := needed{Fault: n.Fault, Mutant: n.Mutant, In: placeOf(n)}
	if n.Test != "" {
		p.try(ctx, n, &r)
		return r
	}
	args := []string{"--shipped=false"}
	if n.World != "" {
		args = append(args, filepath.Join(p.root, n.World))
	}
	if n.Alone {
		args = append(args, "--alone", n.Fault)
	}
	m := mutant.Mutant{Name: n.Mutant}
	with := p.process(ctx, m, 0, args...)
	if r.err = with.err; r.err != nil {
		return r
	}
	without := p.process(ctx, m, 0, append(args, "--without", n.Fault)...)
	r.With, r.Without, r.Tried, r.err = with.runs, without.runs, without.tried, without.err
	r.By = strings.Join(inTheirOrder(slices.Sorted(maps.Keys(with.by))), ", ")
	return r
}

// try answers by the two parts of a test.
func (p *prover) try(ctx context.Context, n mutants.Need, r *needed) {
	pkg, name := splitTest(n.Test)
	failed, err := p.part(ctx, pkg, name+"/with", n.Mutant)
	if err == nil && failed {
		r.With, r.By = 1, "the test"
	}
	if r.err = err; err != nil {
		return
	}
	r.Tried = 1
	if failed, r.err = p.part(ctx, pkg, name+"/without", n.Mutant); failed {
		r.Without = 1
	}
}

// part runs one part of a test with a bug planted, and reports whether it
// failed.
func (p *prover) part(ctx context.Context, pkg, name, bug string) (failed bool, err error) {
	pattern := "^" + strings.ReplaceAll(name, "/", "$/^") + "$"
	limited, stop := context.WithTimeout(ctx, p.flags.limit)
	defer stop()
	cmd := exec.CommandContext(limited, p.tests[pkg], "-test.v", "-test.run", pattern)
	cmd.Dir = filepath.Join(p.root, filepath.FromSlash(pkg))
	cmd.Env = append(os.Environ(), mutant.Variable+"="+bug)
	out, err := cmd.CombinedOutput()
	_, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case limited.Err() != nil, err != nil && !exited:
		return false, cannot("test %s of %s cannot be run: %v", name, pkg, errors.Join(limited.Err(), err))
	case !strings.Contains(string(out), "=== RUN   "+name+"\n"):
		return false, cannot("there is no test %s in %s: correct sim/mutants/needs.go", name, pkg)
	}
	return err != nil, nil
}

// placeOf says where a need is shown.
func placeOf(n mutants.Need) string {
	switch {
	case n.Test != "":
		return n.Test
	case n.World != "":
		return n.World
	case n.Alone:
		return "random worlds, no other fault"
	}
	return "random worlds"
}

// needTable prints what came of all kinds, and sums it up.
type needTable struct {
	s      *screen
	format string
	layout string
	rows   int
	shown  int
}

func newNeedTable(s *screen, format string, list []mutants.Need) *needTable {
	t := &needTable{s: s, format: format, layout: "| `%s` | `%s` | %s | %s | %s | %s |\n"}
	switch format {
	case "text":
		fault, bug, where := len("fault"), len("bug"), len("in")
		for _, n := range list {
			fault, bug, where = max(fault, len(n.Fault)), max(bug, len(n.Mutant)), max(where, len(placeOf(n)))
		}
		t.layout = fmt.Sprintf("%%-%ds  %%-%ds  %%-%ds  %%7s  %%-13s  %%s\n", fault, bug, where)
		s.printf(t.layout, "fault", "bug", "in", "with it", "without", "found by")
	case "markdown":
		s.printf("| fault | bug | in | with it | without it | found by |\n|---|---|---|---|---|---|\n")
	}
	return t
}

func (t *needTable) add(r needed) {
	t.rows++
	if r.shown() {
		t.shown++
	}
	if t.format == "json" {
		t.s.json(r)
	} else {
		with, without := "never", fmt.Sprintf("never in %d", r.Tried)
		if r.With > 0 {
			with = strconv.Itoa(r.With)
		}
		if r.Without > 0 {
			without = fmt.Sprintf("after %d", r.Without)
		}
		t.s.printf(t.layout, r.Fault, r.Mutant, r.In, with, without, r.By)
	}
	t.s.flush()
}

// conclude fails if a kind was not shown to be needed.
func (t *needTable) conclude() error {
	if t.format == "json" {
		t.s.json(map[string]any{"summary": true, "faults": t.rows, "needed": t.shown})
	} else {
		t.s.printf("\n%d of %s of fault needed by a planted bug\n", t.shown, count(t.rows, "kind"))
	}
	t.s.flush()
	if t.shown < t.rows {
		return verdict(exitViolated)
	}
	return nil
}
