package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backwave/sim"
	"backwave/sim/finding"
)

// TestShrink makes a scenario small whose expectation does not come true, and
// runs what is left.
func TestShrink(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small.yaml")
	want(t, exitViolated, []string{
		"is succeeded, expected dead-lettered", // the story of what is left
		"before ", "after ", "nothing more can go: the last round tried all ", "written: " + small,
	}, "shrink", "testdata/untidy.yaml", "-o", small)
	src, err := load(small)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(src.sc.Nodes) + len(src.sc.Groups) + len(src.sc.Jobs); n != 3 || len(src.sc.Timeline) > 0 {
		text, _ := os.ReadFile(small)
		t.Errorf("this is not small:\n%s", text)
	}
	was, err := load("testdata/untidy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, b := finding.Of(sim.Run(was.sc, sim.Options{Seed: 1})), finding.Of(sim.Run(src.sc, sim.Options{Seed: src.seed}))
	if len(b) != 1 || a[0].ID != b[0].ID {
		t.Errorf("found %+v before and %+v after", a, b)
	}
	want(t, exitViolated, []string{"is succeeded, expected dead-lettered"}, "replay", small)
}

// TestShrinkIsTheSameEachTime: with more runs at once, and with a budget that
// is spent before the end.
func TestShrinkIsTheSameEachTime(t *testing.T) {
	dir := t.TempDir()
	for _, budget := range []string{"20", "2000"} {
		var texts []string
		for _, jobs := range []string{"1", "3"} {
			file := filepath.Join(dir, budget+"-"+jobs+".yaml")
			code, stdout, stderr := call("shrink", "testdata/untidy.yaml", "--budget", budget, "--jobs", jobs, "-o", file, "--format", "json")
			got := lines(t, stdout)
			if code != exitViolated || len(got) != 1 {
				t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
			}
			if got[0]["minimal"] != (budget == "2000") {
				t.Errorf("budget %s: minimal is %v", budget, got[0]["minimal"])
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		if texts[0] != texts[1] {
			t.Errorf("budget %s: with --jobs 1 and with --jobs 3 the plans differ:\n%s\n%s", budget, texts[0], texts[1])
		}
	}
}

func TestShrinkNamesTheFileItself(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "p.yaml")
	want(t, exitViolated, nil, "run", "testdata/untidy.yaml", "--seed", "3", "--quiet", "--plan", plan)
	want(t, exitViolated, []string{"written: " + filepath.Join(dir, "p-small.yaml")}, "shrink", plan)
	want(t, exitViolated, nil, "run", filepath.Join(dir, "p-small.yaml"))
}

// TestShrinkKeepsTheFindingOfTheFile: of two, the one that the file is called
// like, though the other comes first.
func TestShrinkKeepsTheFindingOfTheFile(t *testing.T) {
	text, err := os.ReadFile("testdata/untidy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "    - {job: j2, starts: 9}\n"...)
	id := finding.ID("expectation", "job has N handler starts, expected N")
	file := filepath.Join(t.TempDir(), id+".yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	want(t, exitViolated, []string{"shrunk " + id, "has more, for --finding: expectation-"}, "shrink", file)
}

func TestShrinkOfWhatHolds(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small.yaml")
	want(t, exitHeld, []string{"holds: there is nothing to shrink"}, "shrink", "testdata/lapse.yaml", "-o", small)
	if _, err := os.Stat(small); err == nil {
		t.Error("a plan was written all the same")
	}
	want(t, exitUsage, []string{"the run has no such finding, but expectation-"}, "shrink", "testdata/untidy.yaml", "--finding", "fence", "-o", small)
}

// TestPlantedBugsAreShrunk is a small part of bwsim mutants --shrink: of random
// worlds with a fault of a call, of a clock, and of nothing at all there must
// be no more left than it takes.
func TestPlantedBugsAreShrunk(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := call("mutants", "--shrink", "--only", "fence-without-state", "--only", "fence-without-expiry", "--only", "retry-at-once",
		"--format", "json", "--output", dir)
	got := lines(t, stdout)
	if code != exitHeld || len(got) != 3 {
		t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	for _, m := range got {
		after, _ := m["after"].(map[string]any)
		if m["minimal"] != true || after["faults"].(float64) > 3 || after["jobs"].(float64) > 3 {
			t.Errorf("%v: minimal %v, left %v", m["mutant"], m["minimal"], after)
		}
		plan := filepath.Join(dir, m["mutant"].(string)+".yaml")
		code, stdout, _ := call("run", plan, "--quiet")
		if code != exitHeld {
			t.Errorf("without the bug the plan of %v has exit code %d:\n%s", m["mutant"], code, stdout)
		}
	}
}

// TestPlansOfShippedScenariosNameThem: a plan must not speak of a file that
// only a clone has.
func TestPlansOfShippedScenariosNameThem(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "p.yaml")
	for arg, origin := range map[string]string{"drain": "scenario: drain}", "testdata/lapse.yaml": "scenario: testdata/lapse.yaml}"} {
		want(t, exitHeld, nil, "run", arg, "--quiet", "--plan", plan)
		text, err := os.ReadFile(plan)
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(string(text), "\n"); !strings.HasSuffix(first, origin) {
			t.Errorf("the plan of %s begins with %q", arg, first)
		}
	}
}

// TestRunTakesPlansAsScenarios: with the seed of the plan, unless told.
func TestRunTakesPlansAsScenarios(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "p.yaml")
	seven := traceHash(t, "run", "testdata/lapse.yaml", "--seed", "7", "--plan", plan)
	if got := traceHash(t, "run", plan); got != seven {
		t.Errorf("run of the plan has trace hash %s, want %s", got, seven)
	}
	if got, eight := traceHash(t, "run", plan, "--seed", "8"), traceHash(t, "run", "testdata/lapse.yaml", "--seed", "8"); got != eight {
		t.Errorf("run of the plan with seed 8 has trace hash %s, want %s", got, eight)
	}
	_, stdout, _ := call("run", plan, "testdata/lapse.yaml", "--seeds", "2", "--format", "json")
	var seeds []any
	for _, m := range lines(t, stdout)[:4] {
		seeds = append(seeds, m["seed"])
	}
	if seeds[0] != 7.0 || seeds[1] != 8.0 || seeds[2] != 1.0 || seeds[3] != 2.0 {
		t.Errorf("seeds are %v, want those of the plan from 7 on and those of the scenario from 1 on", seeds)
	}
	want(t, exitHeld, []string{"the same in its twin"}, "run", plan, "--seeds", "2", "--twin")
}

// TestACrashIsAFinding panics within a world and outside of ours.
func TestACrashIsAFinding(t *testing.T) {
	broken := &sim.Scenario{For: 1, Timeline: []sim.Fault{sim.Crash{Node: "nobody"}}}
	o := &outcome{task: task{sc: broken}}
	o.run(sim.Options{})
	found := finding.Of(o.res)
	if len(found) != 1 || found[0].Invariant != crash || !strings.Contains(found[0].Shape, ", in sim.") {
		t.Errorf("got %+v", found)
	}
}
