package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"backwave/checker"
	"backwave/sim"
	"backwave/sim/swarm"
)

// times are what differs from one search to the same search made again.
var times = regexp.MustCompile(`(?m)^(\d+ seeds) in \d+ s \([^)]*/s\)(.*events) \([^)]*\)$`)

func timeless(text string) string { return times.ReplaceAllString(text, "$1$2") }

func TestASwarmDoesNotDependOnHowMuchIsDoneAtOnce(t *testing.T) {
	for guided, seeds := range map[string]string{"--guided=false": "30", "--guided": "150"} {
		_, one, _ := call("swarm", "--seeds", seeds, "--jobs", "1", guided)
		_, five, _ := call("swarm", "--seeds", seeds, "--jobs", "5", guided)
		if timeless(one) != timeless(five) || !strings.Contains(timeless(one), seeds+" seeds, ") {
			t.Errorf("%s: with --jobs 1 and --jobs 5 the search differs:\n%s\n%s", guided, one, five)
		}
	}
}

// TestShardsAreTheWhole: what two shards reach is what one search of the same
// seeds reaches, run by run.
func TestShardsAreTheWhole(t *testing.T) {
	hits := func(args ...string) map[string]float64 {
		code, stdout, _ := call(append([]string{"swarm", "--format", "json"}, args...)...)
		if code != exitHeld {
			t.Fatalf("%v: exit code %d\n%s", args, code, stdout)
		}
		out := map[string]float64{}
		for name, n := range lines(t, stdout)[0]["situations"].(map[string]any) {
			out[name] = n.(float64)
		}
		return out
	}
	whole := hits("--seed", "10", "--seeds", "20")
	first, second := hits("--seed", "10", "--seeds", "10", "--shard", "1/2"), hits("--seed", "10", "--seeds", "10", "--shard", "2/2")
	for name, n := range whole {
		if first[name]+second[name] != n {
			t.Errorf("%s: %v runs in all, %v and %v in the shards", name, n, first[name], second[name])
		}
	}
}

func TestSwarmUsage(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"--shard 0/2", "want I/N"},
		{"--shard 3/2", "want I/N"},
		{"--shard 2", "want I/N"},
		{"--level none", "want pristine, recoverable or adversarial"},
		{"--format xml", "want text, json, github or markdown"},
		{"--seeds -1", "want none below 0"},
		{"--out-max 3furlongs", "want a size"},
		{"--known testdata/nowhere.txt", "cannot read"},
	} {
		code, _, stderr := call(append([]string{"swarm"}, strings.Fields(c.args)...)...)
		if code != exitUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("swarm %s: exit code %d and %q, want 2 and %q", c.args, code, stderr, c.says)
		}
	}
}

func TestMustIsNotReachedInOneSeed(t *testing.T) {
	code, stdout, _ := call("swarm", "--seeds", "1", "--must")
	if code != exitUndecided || !strings.Contains(stdout, "missing: a handler was given up") {
		t.Errorf("exit code %d, want 4, and what is missing:\n%s", code, stdout)
	}
	if code, _, _ := call("swarm", "--seeds", "1"); code != exitHeld {
		t.Errorf("exit code %d without --must, want 0", code)
	}
}

// broken is a search in which a run, as it were, has violated the fence.
func broken(t *testing.T, f *swarmFlags, known map[string]string) *swarmRun {
	t.Helper()
	shelf, err := openShelf(f.out, f.outMax)
	if err != nil {
		t.Fatal(err)
	}
	return newSwarmRun(f, swarm.Config{First: 1}, swarm.NewFindings(known), shelf)
}

func (h *swarmRun) violate(t *testing.T, seed uint64, message string, reports ...swarmReport) {
	t.Helper()
	p := swarm.Plan{Scenario: sim.Random(seed), Seed: seed, Drawn: true}
	o := &outcome{task: task{sc: p.Scenario, seed: seed}, res: &sim.Result{Scenario: p.Scenario, Verdict: sim.Violated, Violations: []checker.Violation{{Invariant: "fence", Message: message}}}}
	if err := h.book(p, o, reports); err != nil {
		t.Fatal(err)
	}
}

func TestFindingsAreKeptOnce(t *testing.T) {
	dir := t.TempDir()
	h := broken(t, &swarmFlags{jobs: 1, out: dir, outMax: "1MB"}, nil)
	h.violate(t, 7, "job j1: was written by a zombie")
	h.violate(t, 9, "job j2: was written by a zombie")
	h.violate(t, 9, "job j2: was renewed by a zombie")
	if len(h.shown) != 2 || h.shown[0].Runs != 2 || h.exit() != exitViolated {
		t.Fatalf("%d findings, exit code %d, want 2 and 1", len(h.shown), h.exit())
	}
	file := h.shown[0].file
	if filepath.Base(file) != h.shown[0].ID+".yaml" {
		t.Errorf("the plan is in %s, want it called like %s", file, h.shown[0].ID)
	}
	code, stdout, stderr := call("run", file, "--format", "json")
	if code != exitHeld { // the violation was made up
		t.Fatalf("the plan does not run: exit code %d\n%s", code, stderr)
	}
	_, drawn, _ := call("run", "--random", "--seed", "7", "--format", "json")
	if a, b := lines(t, stdout)[0]["trace_hash"], lines(t, drawn)[0]["trace_hash"]; a != b {
		t.Errorf("the plan of seed 7 has trace hash %v, its world %v", a, b)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), "# "+h.shown[0].ID+": a violation of fence.\n# Found: job j1: was written by a zombie\n") {
		t.Errorf("the plan does not say what was found: %v\n%.200s", err, text)
	}
}

func TestTheShelfDoesNotOverflow(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old.yaml"), make([]byte, 900), 0o644); err != nil {
		t.Fatal(err)
	}
	h := broken(t, &swarmFlags{jobs: 1, out: dir, outMax: "1KB"}, nil)
	h.violate(t, 7, "a")
	if h.shown[0].file != "" || h.shelf.full != 1 || h.shown[0].repeat != "bwsim run --random --seed 7" {
		t.Errorf("a plan was kept beyond the bound, or cannot be repeated: %+v", h.shown[0])
	}
}

func TestKnownFailuresDoNotFail(t *testing.T) {
	h := broken(t, &swarmFlags{jobs: 1, outMax: "0B"}, nil)
	h.violate(t, 7, "a")
	id := h.shown[0].ID
	h = broken(t, &swarmFlags{jobs: 1, outMax: "0B"}, map[string]string{id: "issue 12"})
	h.violate(t, 7, "a")
	if h.exit() != exitHeld || !strings.Contains(strings.Join(h.sum(), "\n"), "known: issue 12") {
		t.Errorf("exit code %d, want 0, and the reason:\n%s", h.exit(), strings.Join(h.sum(), "\n"))
	}
	h.violate(t, 8, "b")
	if h.exit() != exitViolated {
		t.Errorf("exit code %d with another finding, want 1", h.exit())
	}
}

// TestFormats holds what CI reads of a search with a finding against what it
// must find there.
func TestFormats(t *testing.T) {
	var out strings.Builder
	s := newScreen(&out, &out)
	dir := t.TempDir()
	f := &swarmFlags{jobs: 1, outMax: "0B", must: true, junit: filepath.Join(dir, "j.xml"), summary: filepath.Join(dir, "s.md")}
	for _, format := range []string{"text", "json", "github", "markdown"} {
		out.Reset()
		f.format = format
		reports, err := f.reports(s)
		if err != nil {
			t.Fatal(err)
		}
		h := broken(t, f, nil)
		h.violate(t, 7, "a | 50%", reports...)
		for _, r := range reports {
			if err := r.end(h); err != nil {
				t.Fatal(err)
			}
		}
		s.flush()
		want := map[string]string{
			"text": "FOUND " + h.shown[0].ID, "json": `"repeat":"bwsim run --random --seed 7"`,
			"github": "::error title=" + h.shown[0].ID + "::a | 50%25.", "markdown": "| `" + h.shown[0].ID + "` | 1 | a \\| 50% |",
		}[format]
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: want %q in\n%s", format, want, out.String())
		}
		if format == "json" {
			for line := range strings.Lines(out.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("no JSON: %s", line)
				}
			}
		}
	}
	var suite junitSuite
	text, err := os.ReadFile(f.junit)
	if err == nil {
		err = xml.Unmarshal(text, &suite)
	}
	if err != nil || suite.Failures != 1 || suite.Errors == 0 {
		t.Errorf("%v: %d failures and %d errors in\n%s", err, suite.Failures, suite.Errors, text)
	}
	if text, err := os.ReadFile(f.summary); err != nil || strings.Count(string(text), "### bwsim swarm: 1 finding") != 4 {
		t.Errorf("%v: want the summary of four searches in\n%s", err, text)
	}
}
