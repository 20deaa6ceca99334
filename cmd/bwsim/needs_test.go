package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/internal/mutant"
	"backwave/sim/mutants"
	"backwave/sim/scenario"
)

// TestEveryFaultIsNeeded: each kind that a timeline can hold has one need, in
// the order of bwsim list faults, and what a need names is there.
func TestEveryFaultIsNeeded(t *testing.T) {
	var kinds, needs []string
	for _, f := range scenario.Faults() {
		kinds = append(kinds, f.Name)
	}
	for _, n := range mutants.Needs() {
		needs = append(needs, n.Fault)
		if !slices.ContainsFunc(mutants.All(), func(m mutant.Mutant) bool { return m.Name == n.Mutant }) {
			t.Errorf("%s: there is no mutant %s", n.Fault, n.Mutant)
		}
		if n.World != "" {
			src, err := load(filepath.Join("../..", n.World))
			if err != nil {
				t.Errorf("%s: %v", n.Fault, err)
			} else if len(scenario.Only(src.sc, n.Fault).Timeline) == 0 {
				t.Errorf("%s: %s has no such fault", n.Fault, n.World)
			}
		}
		if pkg, name := splitTest(n.Test); n.Test != "" && !declares(t, filepath.Join("../..", pkg), name) {
			t.Errorf("%s: there is no test %s in %s", n.Fault, name, pkg)
		}
	}
	if !slices.Equal(needs, kinds) {
		t.Errorf("there are needs for\n%q, want them for\n%q", needs, kinds)
	}
}

// declares reports whether a test of the package in dir has a name.
func declares(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "func "+name+"(t *testing.T)")
	})
}

// TestABugNeedsItsFault builds bwsim with one bug: that a pause of a queue does
// nothing shows where somebody pauses one.
func TestABugNeedsItsFault(t *testing.T) {
	code, stdout, stderr := call("mutants", "--faults", "--only", "claim-in-paused-queue", "--seeds", "40", "--format", "json")
	got := lines(t, stdout)
	if code != exitHeld || len(got) != 2 {
		t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	if r := got[0]; r["fault"] != "pause-queue" || r["with"] == 0.0 || r["without"] != 0.0 || r["tried"] != 40.0 || !strings.Contains(r["by"].(string), "paused") {
		t.Errorf("got %v", r)
	}
	if got[1]["faults"] != 1.0 || got[1]["needed"] != 1.0 {
		t.Errorf("the sum is %v", got[1])
	}
}

// TestABugThatAnyFaultShowsIsNoNeed: the stub dies with and without the fault.
func TestABugThatAnyFaultShowsIsNoNeed(t *testing.T) {
	p := &prover{hunter: hunting(t, "crash")}
	r := p.prove(context.Background(), mutants.Need{Fault: "forge", Mutant: "m", Alone: true})
	if r.err != nil || r.With != 4 || r.Without != 4 || r.By != crash || r.shown() {
		t.Errorf("got %+v", r)
	}
}

func TestNeedTable(t *testing.T) {
	one := needed{Fault: "forge", Mutant: "m1", In: "random worlds", With: 3, Tried: 20, By: "fence"}
	for _, c := range []struct {
		name, format string
		rows         []needed
		ok           bool
		texts        []string
	}{
		{"shown", "text", []needed{one}, true, []string{"forge", "never in 20", "1 of 1 kind of fault needed"}},
		{"not found", "text", []needed{one, {Fault: "aim", Mutant: "m2", Tried: 20}}, false, []string{"never", "1 of 2 kinds of fault needed"}},
		{"found without it", "markdown", []needed{{Fault: "aim", Mutant: "m2", In: "random worlds", With: 2, Without: 7, By: "due"}}, false, []string{"| `aim` | `m2` | random worlds | 2 | after 7 | due |", "0 of 1 kind of fault needed"}},
		{"json", "json", []needed{one}, true, []string{`"fault":"forge"`, `"needed":1`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			table := newNeedTable(newScreen(&out, &bytes.Buffer{}), c.format, nil)
			for _, r := range c.rows {
				table.add(r)
			}
			if err := table.conclude(); (err == nil) != c.ok {
				t.Errorf("error %v, want ok %v", err, c.ok)
			}
			for _, text := range c.texts {
				if !strings.Contains(out.String(), text) {
					t.Errorf("there is no %q in\n%s", text, out.String())
				}
			}
		})
	}
}

// TestAPartOfATestDecides: a process that is not the binary of a test, or has
// no such test, says nothing.
func TestAPartOfATestDecides(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asProgram, "")
	p := &prover{hunter: &hunter{flags: &mutantFlags{limit: time.Minute}}, root: "../..", tests: map[string]string{"cmd/bwsim": self}}
	if failed, err := p.part(context.Background(), "cmd/bwsim", "TestMedian/odd", ""); err != nil || failed {
		t.Errorf("a test that passes: failed %v, error %v", failed, err)
	}
	if _, err := p.part(context.Background(), "cmd/bwsim", "TestMedian/many", ""); err == nil || !strings.Contains(err.Error(), "there is no test") {
		t.Errorf("a test that is not there: error %v", err)
	}
}
