package swarm

import (
	"slices"
	"strings"
	"testing"

	"backwave/checker"
	"backwave/sim"
	"backwave/sim/finding"
)

func TestCoverageCounts(t *testing.T) {
	names := sim.Situations()
	a, b, c := names[3], names[0], names[7]
	cov := NewCoverage()
	for i, step := range []struct {
		reached []string
		fresh   bool
	}{
		{[]string{a}, true},
		{[]string{a}, false},
		{[]string{a, b}, true}, // b, and the two together
		{[]string{b, a}, false},
		{nil, false},
		{[]string{c}, true},
		{[]string{c, a}, true}, // each was there, but not together
		{[]string{a, b, c}, true},
		{[]string{b, c}, false},
	} {
		if got := cov.Add(step.reached); got != step.fresh {
			t.Errorf("run %d: fresh is %v, want %v", i, got, step.fresh)
		}
	}
	if cov.Runs() != 9 || cov.Hits(a) != 6 || cov.Hits(b) != 4 || cov.Both(a, b) != 3 || cov.Both(b, a) != 3 || cov.Both(a, c) != 2 || cov.Both(a, names[9]) != 0 {
		t.Errorf("%d runs; %d, %d, %d, %d", cov.Runs(), cov.Hits(a), cov.Hits(b), cov.Both(a, b), cov.Both(a, c))
	}
	if n, of := cov.Reached(); n != 3 || of != len(names) {
		t.Errorf("%d of %d reached, want 3 of %d", n, of, len(names))
	}
	if n, of := cov.Met(); n != 3 || of != len(names)*(len(names)-1)/2 {
		t.Errorf("%d of %d pairs met, want 3", n, of)
	}
	if never := cov.Never(); len(never) != len(names)-3 || slices.Contains(never, a) {
		t.Errorf("never reached: %q", never)
	}
	if rare := cov.Rarest(1); len(rare) != 1 || rare[0].Runs != 2 {
		t.Errorf("rarest: %v", rare)
	}
	missing := cov.Missing([]Goal{{A: a}, {A: names[9]}, {a, b}, {a, names[9]}, {"no such thing", a}})
	if want := []Goal{{A: names[9]}, {a, names[9]}, {"no such thing", a}}; !slices.Equal(missing, want) {
		t.Errorf("missing %v, want %v", missing, want)
	}
}

// TestRuleOfThree holds the bound against what it stands for: something that
// comes in just that share of runs is missed by n of them once in twenty times.
func TestRuleOfThree(t *testing.T) {
	for _, n := range []int{10, 100, 5000} {
		missed := 1.0
		for range n {
			missed *= 1 - Bound(n)
		}
		if missed > 0.05 || missed < 0.02 {
			t.Errorf("%d runs miss what comes at a rate of %v with probability %v, want just below 0.05", n, Bound(n), missed)
		}
	}
	if Bound(2) != 1 {
		t.Errorf("two runs bound a rate by %v", Bound(2))
	}
}

func TestGoalsExist(t *testing.T) {
	names := sim.Situations()
	for _, g := range Must(names) {
		if !slices.Contains(names, g.A) || g.B != "" && !slices.Contains(names, g.B) {
			t.Errorf("%q names no situation", g)
		}
	}
	for name := range elsewhere {
		if !slices.Contains(names, name) {
			t.Errorf("%q is no situation", name)
		}
	}
	if n := len(Must(names)); n < len(names) {
		t.Errorf("%d goals for %d situations", n, len(names))
	}
}

func TestFindingsAreToldApart(t *testing.T) {
	f := NewFindings(map[string]string{finding.ID("fence", "b"): "issue 3"})
	of := func(inv, shape string) finding.Finding {
		return finding.Finding{ID: finding.ID(inv, shape), Invariant: inv, Shape: shape, First: checker.Violation{Invariant: inv}}
	}
	if n := len(f.Add(Plan{Seed: 4}, []finding.Finding{of("fence", "a"), of("fence", "b")})); n != 2 {
		t.Fatalf("%d fresh findings, want 2", n)
	}
	if fresh := f.Add(Plan{Seed: 5}, []finding.Finding{of("fence", "a"), of("due", "a")}); len(fresh) != 1 || fresh[0].Invariant != "due" {
		t.Fatalf("fresh: %v, want only that of due", fresh)
	}
	all := f.All()
	if len(all) != 3 || all[0].Runs != 2 || all[0].Plan.Seed != 4 || f.Unknown() != 2 || all[1].Known != "issue 3" {
		t.Errorf("%d findings, %d unknown, first %+v", len(all), f.Unknown(), all[0])
	}
}

func TestKnownFailures(t *testing.T) {
	got, err := ReadKnown("k", strings.NewReader("# for people\n\nfence-1b9f03c2  # issue 12\nno-claim-after-cancel-00000000 # since 1.2\n"))
	if err != nil || len(got) != 2 || got["fence-1b9f03c2"] != "issue 12" {
		t.Errorf("got %v, %v", got, err)
	}
	for text, says := range map[string]string{
		"fence # why":                                     "k:1: \"fence\" is no id",
		"\nfence-1b9f03c2":                                "k:2: nothing says why",
		"fence-1b9f03c2 # a\nfence-1b9f03c2 # a":          "k:2: fence-1b9f03c2 is listed twice",
		"fence-1b9f03c2 fence-1b9f03c3 # two in one line": "is no id",
	} {
		if _, err := ReadKnown("k", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}
