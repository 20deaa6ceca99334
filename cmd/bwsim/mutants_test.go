package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/internal/mutant"
	"backwave/sim"
)

// TestPlantedBugIsCaught builds bwsim with one bug and lets the checker find
// it: retries without any rest are seen wherever an attempt fails.
func TestPlantedBugIsCaught(t *testing.T) {
	code, stdout, stderr := call("mutants", "--only", "retry-at-once", "--seeds", "20", "--starts", "2", "--format", "json")
	got := lines(t, stdout)
	if code != exitHeld || len(got) != 2 {
		t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	if fields := []string{"breaks", "by", "caught_by", "file", "first", "func", "mutant", "seeds", "starts"}; !slices.Equal(keysOf(got[0]), fields) {
		t.Errorf("a mutant has the fields %q, want %q", keysOf(got[0]), fields)
	}
	by, _ := got[0]["caught_by"].([]any)
	if got[0]["mutant"] != "retry-at-once" || !slices.Contains(by, any("ceiling")) {
		t.Errorf("got %v, want it caught by ceiling", got[0])
	}
	if starts, _ := got[0]["starts"].([]any); len(starts) != 2 {
		t.Errorf("two searches needed %v", starts)
	}
	if got[1]["summary"] != true || got[1]["caught"] != 1.0 {
		t.Errorf("the sum is %v", got[1])
	}
}

// hunting returns a hunter whose processes do as the tests' binary does under
// a name.
func hunting(t *testing.T, as string) *hunter {
	t.Setenv(asProgram, as)
	return &hunter{binary: os.Args[0], flags: &mutantFlags{seeds: 8, starts: 1, limit: 2 * time.Second}}
}

func TestAProcessThatDiesIsCaughtByCrash(t *testing.T) {
	r := hunting(t, "crash").hunt(context.Background(), mutant.Mutant{Name: "m"}, 0)
	if r.err != nil || !maps.Equal(r.by, map[string]int{crash: 4}) || r.seeds != 4 || r.first != "seed 4" || !strings.Contains(r.found, "stack overflow") {
		t.Errorf("got %+v", r)
	}
}

func TestAProcessThatHangsIsCaughtByHang(t *testing.T) {
	h := hunting(t, "hang")
	h.flags.limit = 300 * time.Millisecond
	r := h.hunt(context.Background(), mutant.Mutant{Name: "m"}, 0)
	if r.err != nil || !maps.Equal(r.by, map[string]int{hang: 4}) || r.seeds != 4 {
		t.Errorf("got %+v", r)
	}
}

func TestAProcessThatDoesNotBeginIsNoCatch(t *testing.T) {
	r := hunting(t, "mute").hunt(context.Background(), mutant.Mutant{Name: "m"}, 0)
	if r.err == nil || len(r.by) > 0 || !strings.Contains(r.err.Error(), "there is no mutant m") {
		t.Errorf("got %+v", r)
	}
}

// TestNothingIsSaidOfBugsIfTheProductDoesNotHold: the stub dies without a bug.
func TestNothingIsSaidOfBugsIfTheProductDoesNotHold(t *testing.T) {
	h := hunting(t, "crash")
	h.flags.jobs, h.flags.format = 1, "text"
	h.list = []mutant.Mutant{{Name: "m"}}
	var out bytes.Buffer
	s := newScreen(&out, &bytes.Buffer{})
	err := h.run(context.Background(), s, time.Now())
	s.close()
	e, ok := errors.AsType[*exitError](err)
	if !ok || e.code != exitViolated || !strings.Contains(e.text, "the product itself does not hold") || out.Len() > 0 {
		t.Errorf("got %v and\n%s", err, out.String())
	}
}

// caughtByAll is a mutant that every invariant has caught.
func caughtByAll() mutantResult {
	r := mutantResult{Mutant: "m1", Seeds: 1, First: "seed 1"}
	for _, i := range sim.Invariants() {
		r.CaughtBy, r.By = append(r.CaughtBy, i.Name), append(r.By, caught{i.Name, 1, 1})
	}
	return r
}

func TestConclude(t *testing.T) {
	all := caughtByAll()
	but := caughtByAll()
	but.CaughtBy = slices.DeleteFunc(but.CaughtBy, func(s string) bool { return s == "fence" })
	for _, c := range []struct {
		name    string
		results []mutantResult
		only    []string
		ok      bool
		text    string
	}{
		{"all caught", []mutantResult{all}, nil, true, "1 of 1 planted bug caught"},
		{"a survivor", []mutantResult{all, {Mutant: "m2", File: "a.go", Func: "F", Breaks: "all"}}, nil, false, "SURVIVED: m2 (a.go, F): all"},
		{"an idle invariant", []mutantResult{but}, nil, false, "nothing shows that it can: fence"},
		{"of a few, idle ones are no news", []mutantResult{but}, []string{"m1"}, true, "1 of 1 planted bug caught"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			s := newScreen(&out, &bytes.Buffer{})
			f := &mutantFlags{format: "text", only: c.only}
			m := newMatrix(s, f, nil)
			for _, r := range c.results {
				m.add(r)
			}
			err := m.conclude()
			if (err == nil) != c.ok || !strings.Contains(out.String(), c.text) {
				t.Errorf("error %v, want ok %v, and %q in\n%s", err, c.ok, c.text, out.String())
			}
		})
	}
}

// TestTogether: three searches for one bug, the second of which saw it in no
// random world.
func TestTogether(t *testing.T) {
	r := together(mutant.Mutant{Name: "m"}, []search{
		{seeds: 9, tried: 14, first: "seed 9", found: "a", by: map[string]int{"fence": 9, "due": 0}},
		{tried: 50, by: map[string]int{}},
		{seeds: 3, tried: 8, first: "seed 103", found: "b", by: map[string]int{"fence": 3, "unique": 7}},
	})
	want := []caught{{"fence", 9, 2}, {"due", 0, 0}, {"unique", 0, 1}}
	if r.Seeds != 9 || r.First != "seed 9" || r.found != "a" || !slices.Equal(r.Starts, []int{9, 0, 3}) || !slices.Equal(r.By, want) {
		t.Errorf("got %+v", r)
	}
	cells := []string{}
	for _, c := range r.By {
		cells = append(cells, c.String())
	}
	if !slices.Equal(cells, []string{"9", "-", "+"}) {
		t.Errorf("its cells are %q", cells)
	}
	if r := together(mutant.Mutant{Name: "m"}, []search{{tried: 50}, {tried: 50}}); r.Seeds != 100 || len(r.CaughtBy) > 0 {
		t.Errorf("a survivor: got %+v", r)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		name    string
		list    []int
		n       int
		m, hits int
	}{
		{"odd", []int{7, 1, 4}, 3, 4, 3},
		{"even", []int{7, 1, 4, 9}, 4, 4, 4},
		{"two of five are endless", []int{7, 0, 1, 4}, 5, 7, 3},
		{"three of five are endless", []int{7, 1}, 5, 0, 2},
		{"none", nil, 5, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if m, hits := median(c.list, c.n); m != c.m || hits != c.hits {
				t.Errorf("got %d of %d, want %d of %d", m, hits, c.m, c.hits)
			}
		})
	}
}

func TestMatrixAsMarkdown(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out, &bytes.Buffer{})
	m := newMatrix(s, &mutantFlags{format: "markdown", only: []string{"m1"}}, nil)
	m.add(mutantResult{Mutant: "m1", Seeds: 9, CaughtBy: []string{"fence", "due"}, By: []caught{{"fence", 9, 2}, {"due", 0, 0}}})
	m.add(mutantResult{Mutant: "m2", CaughtBy: []string{"due"}, By: []caught{{"due", 0, 1}}})
	if err := m.conclude(); err != nil {
		t.Error(err)
	}
	want := "| bug | seeds | 1 | 2 |\n|---|---|---|---|\n| `m1` | 9 | 9 | - |\n| `m2` | - | | + |\n\n1. `fence`\n2. `due`\n\n2 of 2 planted bugs caught, half of them within 9 random worlds, the slowest (m1) within 9\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestFlagsOfMutantsThatMakeNoSense(t *testing.T) {
	want(t, exitUsage, []string{"want at least 1"}, "mutants", "--starts", "0")
	want(t, exitUsage, []string{"--shrink and --faults do different things"}, "mutants", "--shrink", "--faults")
}

// TestHuntGoesOnForAWhile: five more seeds after the first that was caught, or
// a fifth of those so far.
func TestHuntGoesOnForAWhile(t *testing.T) {
	for n, want := range map[int]int{1: 6, 25: 30, 100: 120, 495: 500, 500: 500} {
		if got := until(n, 500); got != want {
			t.Errorf("caught by seed %d of 500, the hunt ends after %d, want %d", n, got, want)
		}
	}
}
