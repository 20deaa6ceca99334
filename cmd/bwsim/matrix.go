package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"backwave/internal/mutant"
	"backwave/sim"
)

// mutantResult is what came of one planted bug.
type mutantResult struct {
	Mutant   string   `json:"mutant"`
	File     string   `json:"file"`
	Func     string   `json:"func"`
	Breaks   string   `json:"breaks"`
	CaughtBy []string `json:"caught_by"` // in the order of bwsim list invariants
	By       []caught `json:"by"`        // the same, with numbers
	Seeds    int      `json:"seeds"`     // random worlds needed, the median; 0: most searches found it in a scenario only, or not; of a survivor: tried
	Starts   []int    `json:"starts"`    // random worlds needed by each search
	First    string   `json:"first"`     // the run of the first search that caught it first

	found string // the first of what did not hold there
}

// caught is a cell of the matrix: how fast one invariant catches one bug.
type caught struct {
	Invariant string `json:"invariant"`
	Seeds     int    `json:"seeds"`    // random worlds needed, the median; 0 if less than half of the searches saw it
	Searches  int    `json:"searches"` // in which it caught the bug in a random world; 0: in a scenario only
}

// together puts the searches for one bug into one result.
func together(m mutant.Mutant, each []search) mutantResult {
	r := mutantResult{Mutant: m.Name, File: m.File, Func: m.Func, Breaks: m.Breaks, CaughtBy: []string{}, By: []caught{}}
	seen := map[string][]int{}
	tried := 0
	for i := range each {
		x := &each[i]
		tried += x.tried
		r.Starts = append(r.Starts, x.seeds)
		if r.First == "" {
			r.First, r.found = x.first, x.found
		}
		for name, seeds := range x.by {
			seen[name] = append(seen[name], seeds)
		}
	}
	r.Seeds, _ = median(r.Starts, len(each))
	for _, name := range inTheirOrder(slices.Sorted(maps.Keys(seen))) {
		c := caught{Invariant: name}
		c.Seeds, c.Searches = median(seen[name], len(each))
		r.CaughtBy, r.By = append(r.CaughtBy, name), append(r.By, c)
	}
	if len(r.CaughtBy) == 0 {
		r.Seeds = tried
	}
	return r
}

// median returns the median of n numbers, of which the missing ones and those
// that are 0 count as endless: 0 if it is endless itself. hits is how many are
// not.
func median(list []int, n int) (m, hits int) {
	list = slices.DeleteFunc(slices.Clone(list), func(x int) bool { return x == 0 })
	slices.Sort(list)
	if at := (n - 1) / 2; at < len(list) {
		m = list[at]
	}
	return m, len(list)
}

// inTheirOrder sorts names as bwsim list invariants does; others come last.
func inTheirOrder(names []string) []string {
	out := []string{}
	for _, i := range invariants() {
		if slices.Contains(names, i.Name) {
			out = append(out, i.Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// String is the cell as it is printed.
func (c caught) String() string {
	switch {
	case c.Searches == 0:
		return "-"
	case c.Seeds == 0:
		return "+"
	}
	return strconv.Itoa(c.Seeds)
}

// matrix prints what came of all bugs, and sums it up.
type matrix struct {
	s     *screen
	flags *mutantFlags
	list  []mutant.Mutant
	width int            // of the longest name
	each  []search       // of the bug whose turn it is
	held  bool           // the product does
	all   []mutantResult // of the bugs that had their turn
}

func newMatrix(s *screen, f *mutantFlags, list []mutant.Mutant) *matrix {
	t := &matrix{s: s, flags: f, list: list, width: len("mutant")}
	for _, m := range list {
		t.width = max(t.width, len(m.Name))
	}
	return t
}

// take books the next search: those of the product come first. The error says
// that it is of no use to go on.
func (t *matrix) take(r search) error {
	switch {
	case r.err != nil:
		return r.err
	case !t.held && len(r.by) > 0:
		return &exitError{exitViolated, fmt.Sprintf("the product itself does not hold, so nothing can be said of the bugs: %s: %s", r.first, r.found)}
	}
	if t.each = append(t.each, r); len(t.each) < t.flags.starts {
		return nil
	}
	if t.held {
		t.add(together(t.list[len(t.all)], t.each))
	} else {
		t.held = true
		t.head()
	}
	t.each = nil
	t.s.flush()
	return nil
}

// head is printed when it is known that the product holds.
func (t *matrix) head() {
	if t.flags.format == "text" {
		t.s.printf("%-*s  seeds  caught by\n", t.width, "mutant")
	}
}

// add prints what came of one bug, unless the whole table is to be printed in
// the end.
func (t *matrix) add(r mutantResult) {
	t.all = append(t.all, r)
	switch t.flags.format {
	case "json":
		t.s.json(r)
	case "text":
		t.row(r)
	}
}

func (t *matrix) row(r mutantResult) {
	s := t.s
	name := s.paint(bold, fmt.Sprintf("%-*s", t.width, r.Mutant))
	seeds := strconv.Itoa(r.Seeds)
	if r.Seeds == 0 {
		seeds = "-"
	}
	cells := make([]string, len(r.By))
	for i, c := range r.By {
		cells[i] = fmt.Sprintf("%s %s", c.Invariant, c)
	}
	by := strings.Join(cells, ", ")
	if len(cells) == 0 {
		by = s.paint(red, "SURVIVED")
	}
	s.printf("%s  %5s  %s\n", name, seeds, by)
	if len(t.flags.only) > 0 && r.found != "" {
		s.printf("  %s: %s\n", r.First, r.found)
	}
}

// markdown prints the matrix as a table: a row per bug, a column per invariant
// that caught any, by a number that a list below explains.
func (t *matrix) markdown() {
	var names []string
	for _, r := range t.all {
		names = append(names, r.CaughtBy...)
	}
	slices.Sort(names)
	names = inTheirOrder(slices.Compact(names))
	t.s.printf("| bug | seeds |")
	for i := range names {
		t.s.printf(" %d |", i+1)
	}
	t.s.printf("\n|---|---|%s\n", strings.Repeat("---|", len(names)))
	for _, r := range t.all {
		seeds := strconv.Itoa(r.Seeds)
		switch {
		case len(r.By) == 0:
			seeds = "survived " + seeds
		case r.Seeds == 0:
			seeds = "-"
		}
		t.s.printf("| `%s` | %s |", r.Mutant, seeds)
		for _, name := range names {
			cell := ""
			if i := slices.IndexFunc(r.By, func(c caught) bool { return c.Invariant == name }); i >= 0 {
				cell = " " + r.By[i].String()
			}
			t.s.printf("%s |", cell)
		}
		t.s.printf("\n")
	}
	t.s.printf("\n")
	for i, name := range names {
		t.s.printf("%d. `%s`\n", i+1, name)
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
func (t *matrix) conclude() error {
	sum := jsonMutants{Summary: true, Mutants: len(t.all), Survivors: []string{}, Idle: []string{}}
	for _, r := range t.all {
		if len(r.CaughtBy) == 0 {
			sum.Survivors = append(sum.Survivors, r.Mutant)
		}
	}
	sum.Caught = sum.Mutants - len(sum.Survivors)
	if len(t.flags.only) == 0 {
		sum.Idle = append(sum.Idle, idle(t.all)...)
	}
	switch t.flags.format {
	case "json":
		t.s.json(sum)
	case "markdown":
		t.markdown()
		t.tell(sum)
	default:
		t.tell(sum)
	}
	t.s.flush()
	if len(sum.Survivors)+len(sum.Idle) > 0 {
		return verdict(exitViolated)
	}
	return nil
}

func (t *matrix) tell(sum jsonMutants) {
	s := t.s
	s.printf("\n%d of %s caught", sum.Caught, count(sum.Mutants, "planted bug"))
	if most := t.slowest(); most != nil && sum.Caught > 1 {
		s.printf(", half of them within %s, the slowest (%s) within %d", count(t.typical(), "random world"), most.Mutant, most.Seeds)
	}
	s.printf("\n")
	for _, r := range t.all {
		if len(r.CaughtBy) == 0 {
			s.printf("  %s: %s (%s, %s): %s\n", s.paint(red, "SURVIVED"), s.paint(bold, r.Mutant), r.File, r.Func, r.Breaks)
		}
	}
	if len(sum.Idle) > 0 {
		s.printf("  %s: caught none of them, so nothing shows that it can: %s\n", s.paint(red, "IDLE"), strings.Join(sum.Idle, ", "))
	}
}

// slowest returns the bug that takes the most random worlds; nil if none was
// caught in any.
func (t *matrix) slowest() (most *mutantResult) {
	for i := range t.all {
		if r := &t.all[i]; len(r.CaughtBy) > 0 && r.Seeds > 0 && (most == nil || r.Seeds > most.Seeds) {
			most = r
		}
	}
	return most
}

// typical returns the median of the bugs' medians.
func (t *matrix) typical() int {
	var list []int
	for _, r := range t.all {
		if len(r.CaughtBy) > 0 {
			list = append(list, r.Seeds)
		}
	}
	m, _ := median(list, len(list))
	return m
}
