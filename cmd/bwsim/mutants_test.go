package main

import (
	"bytes"
	"context"
	"errors"
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
	code, stdout, stderr := call("mutants", "--only", "retry-at-once", "--seeds", "20", "--format", "json")
	got := lines(t, stdout)
	if code != exitHeld || len(got) != 2 {
		t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	if fields := []string{"breaks", "caught_by", "file", "first", "func", "mutant", "seeds"}; !slices.Equal(keysOf(got[0]), fields) {
		t.Errorf("a mutant has the fields %q, want %q", keysOf(got[0]), fields)
	}
	by, _ := got[0]["caught_by"].([]any)
	if got[0]["mutant"] != "retry-at-once" || !slices.Contains(by, any("ceiling")) {
		t.Errorf("got %v, want it caught by ceiling", got[0])
	}
	if got[1]["summary"] != true || got[1]["caught"] != 1.0 {
		t.Errorf("the sum is %v", got[1])
	}
}

// hunting returns a hunter whose processes do as the tests' binary does under
// a name.
func hunting(t *testing.T, as string) *hunter {
	t.Setenv(asProgram, as)
	return &hunter{binary: os.Args[0], flags: &mutantFlags{seeds: 8, limit: 2 * time.Second}}
}

func TestAProcessThatDiesIsCaughtByCrash(t *testing.T) {
	r := hunting(t, "crash").hunt(context.Background(), mutant.Mutant{Name: "m"})
	if r.err != nil || !slices.Equal(r.CaughtBy, []string{crash}) || r.Seeds != 4 || r.First != "seed 4" || !strings.Contains(r.found, "stack overflow") {
		t.Errorf("got %+v", r)
	}
}

func TestAProcessThatHangsIsCaughtByHang(t *testing.T) {
	h := hunting(t, "hang")
	h.flags.limit = 300 * time.Millisecond
	r := h.hunt(context.Background(), mutant.Mutant{Name: "m"})
	if r.err != nil || !slices.Equal(r.CaughtBy, []string{hang}) || r.Seeds != 4 {
		t.Errorf("got %+v", r)
	}
}

func TestAProcessThatDoesNotBeginIsNoCatch(t *testing.T) {
	r := hunting(t, "mute").hunt(context.Background(), mutant.Mutant{Name: "m"})
	if r.err == nil || len(r.CaughtBy) > 0 || !strings.Contains(r.err.Error(), "there is no mutant m") {
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
		r.CaughtBy = append(r.CaughtBy, i.Name)
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
			err := f.conclude(s, c.results)
			if (err == nil) != c.ok || !strings.Contains(out.String(), c.text) {
				t.Errorf("error %v, want ok %v, and %q in\n%s", err, c.ok, c.text, out.String())
			}
		})
	}
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
