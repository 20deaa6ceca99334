package main

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"backwave/checker"
	"backwave/sim"
)

// lines decodes JSON lines.
func lines(t *testing.T, text string) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		out = append(out, m)
	}
	return out
}

func keysOf(m map[string]any) []string {
	out := []string{}
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func TestJSONHasTheFieldsOfItsReference(t *testing.T) {
	code, stdout, _ := call("run", "testdata/wrong.yaml", "testdata/lapse.yaml", "--format", "json")
	got := lines(t, stdout)
	if code != exitViolated || len(got) != 3 {
		t.Fatalf("exit code %d and %d lines, want 1 and 3:\n%s", code, len(got), stdout)
	}
	run := []string{"events", "scenario", "seed", "trace_hash", "verdict", "violations", "virtual_s", "wall_s"}
	for _, m := range got[:2] {
		if !slices.Equal(keysOf(m), run) {
			t.Errorf("a run has the fields %q, want %q", keysOf(m), run)
		}
	}
	v, _ := got[0]["violations"].([]any)
	if len(v) != 1 {
		t.Fatalf("violations are %v, want one", got[0]["violations"])
	}
	if keys := keysOf(v[0].(map[string]any)); !slices.Equal(keys, []string{"at", "event", "invariant", "job", "message"}) {
		t.Errorf("a violation has the fields %q", keys)
	}
	sum := []string{"check_s", "events", "events_per_s", "held", "runs", "summary", "undecided", "violated"}
	if !slices.Equal(keysOf(got[2]), sum) || got[2]["summary"] != true {
		t.Errorf("the last line is %v, want the fields %q", got[2], sum)
	}
	if total, each := got[2]["events"], got[0]["events"].(float64)+got[1]["events"].(float64); total != each {
		t.Errorf("the sum has %v events, the runs %v", total, each)
	}
}

func TestOutputDoesNotDependOnHowMuchIsDoneAtOnce(t *testing.T) {
	_, one, _ := call("run", "--random", "--seeds", "40", "--jobs", "1")
	_, seven, _ := call("run", "--random", "--seeds", "40", "--jobs", "7")
	if one != seven || strings.Count(one, "\n") < 40 {
		t.Errorf("with --jobs 1 and --jobs 7 the output differs:\n%s\n%s", one, seven)
	}
}

// traceHash runs a command line with --format json and returns the hash of its
// only run.
func traceHash(t *testing.T, args ...string) string {
	t.Helper()
	_, stdout, stderr := call(append(args, "--format", "json")...)
	got := lines(t, stdout)
	if len(got) != 2 {
		t.Fatalf("bwsim %q: want one run, got\n%s%s", args, stdout, stderr)
	}
	return got[0]["trace_hash"].(string)
}

func TestReplayGivesTheRunBack(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.yaml")
	for seed := range 40 {
		args := []string{"run", "--random", "--seed", fmt.Sprint(seed), "--plan", plan}
		if seed == 0 {
			args = []string{"run", "testdata/lapse.yaml", "--seed", "7", "--plan", plan}
		}
		if was, is := traceHash(t, args...), traceHash(t, "replay", plan); was != is {
			t.Errorf("%q has trace hash %s, replayed %s", args, was, is)
		}
	}
}

func TestSeedsOfSeveralRunsWriteFilesOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	want(t, exitViolated, nil, "run", "testdata/lapse.yaml", "testdata/wrong.yaml", "--seeds", "2", "--quiet", "--no-linear", "--trace", filepath.Join(dir, "t.txt"))
	want(t, exitHeld, nil, "run", "--random", "--seed", "5", "--seeds", "2", "--history", filepath.Join(dir, "h.jsonl"), "--plan", filepath.Join(dir, "p.yaml"))
	got, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, g := range got {
		names = append(names, filepath.Base(g))
	}
	if files := []string{"h-random-5.jsonl", "h-random-6.jsonl", "p-random-5.yaml", "p-random-6.yaml", "t-lapse-1.txt", "t-lapse-2.txt", "t-wrong-1.txt", "t-wrong-2.txt"}; !slices.Equal(names, files) {
		t.Errorf("files are %q, want %q", names, files)
	}
}

func TestHistoryCanBeChecked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.jsonl")
	want(t, exitHeld, []string{"written: " + file}, "run", "testdata/lapse.yaml", "--history", file)
	want(t, exitHeld, []string{"held " + file + ": 1 job, ", "black-box held, bounded held", "nothing was left unjudged"}, "check", file)
	cut := filepath.Join(t.TempDir(), "cut.jsonl")
	want(t, exitHeld, nil, "run", "testdata/cut.yaml", "--history", cut)
	want(t, exitHeld, []string{"held " + cut + ": 1 job, ", "could not judge:", "without an answer", "renew by n1.1/g/0, sent at 0:20.00"}, "check", cut)
	code, stdout, _ := call("check", file, "--format", "json")
	if got := lines(t, stdout); code != exitHeld || len(got) != 1 || got[0]["verdict"] != "held" || got[0]["jobs"] != 1.0 {
		t.Errorf("exit code %d, %s", code, stdout)
	}
	want(t, exitHeld, []string{"held 2 merged files: 4 jobs, ", "no bounded verdict", "what only a world knows of " + file + " is left out"}, "check", file, "testdata/histories/enqueues.jsonl", "--midway")
	// One step of the model is not enough for anybody.
	want(t, exitUndecided, []string{"UNDECIDED", "1 job undecided: the budget of 1 steps was spent"}, "check", file, "--steps", "1")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// A success is made a discard: the worker was told something else.
	forged := strings.ReplaceAll(string(text), `"to":"succeeded"`, `"to":"dead-lettered"`)
	if err := os.WriteFile(file, []byte(forged), 0o644); err != nil {
		t.Fatal(err)
	}
	if forged == string(text) {
		t.Fatal("the history has no success to forge")
	}
	want(t, exitViolated, []string{"VIOLATED", "violates linearizable, shown by call ", "then this one could not:"}, "check", file)
	// A writer that was killed leaves half a line.
	if err := os.WriteFile(file, text[:len(text)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	want(t, exitHeld, []string{"was cut off when its writer ended"}, "check", file)
}

func TestJUnitFileHasACasePerRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "junit.xml")
	want(t, exitViolated, nil, "run", "testdata/lapse.yaml", "testdata/wrong.yaml", "--quiet", "--junit", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got junitSuite
	if err := xml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 2 || got.Failures != 1 || got.Errors != 0 || len(got.Cases) != 2 || got.Cases[0].Failure != nil || got.Cases[1].Failure == nil {
		t.Fatalf("the suite is\n%s", text)
	}
	if p := got.Cases[1].Failure; p.Message != "expectation" || !strings.Contains(p.Text, "to repeat it: bwsim run testdata/wrong.yaml --seed 1") {
		t.Errorf("the failure is %q: %q", p.Message, p.Text)
	}
}

func TestWorkflowCommandsAreEscaped(t *testing.T) {
	if got := property("a:b,c%\n") + data("d:e,f%\r\n"); got != "a%3Ab%2Cc%25%0Ad:e,f%25%0D%0A" {
		t.Errorf("got %s", got)
	}
}

func TestAPanicInAWorldIsAViolation(t *testing.T) {
	p := newPlayer(1)
	o := p.play(0, task{sc: &sim.Scenario{Name: "broken", For: 1, Timeline: []sim.Fault{sim.Crash{Node: "nobody"}}}, seed: 1})
	if o.res.Verdict != sim.Violated || len(o.res.Violations) != 1 || o.res.Violations[0].Invariant != crash || !strings.Contains(o.stack, "sim.Run") {
		t.Errorf("got %v and the stack %q", o.res.Violations, o.stack)
	}
}

func TestTheWorstDecidesTheExitCode(t *testing.T) {
	for _, c := range []struct {
		t    totals
		want int
	}{
		{totals{held: 3}, exitHeld},
		{totals{held: 3, undecided: 1}, exitUndecided},
		{totals{undecided: 1, interrupted: true}, exitCannot},
		{totals{violated: 1, undecided: 1, interrupted: true}, exitViolated},
		{totals{violated: 1, differ: 1}, exitDiffers},
	} {
		if got := c.t.exit(); got != c.want {
			t.Errorf("%+v: exit code %d, want %d", c.t, got, c.want)
		}
	}
}

func TestUndecidedIsSaid(t *testing.T) {
	o := &outcome{linear: true, res: &sim.Result{Verdict: sim.Undecided, Linear: checker.Linear{BlackBox: checker.Undecided, Bounded: checker.Held, Jobs: 9, Undecided: 2}}}
	if got := linearWords(o); got != "linearizability undecided for 2 of 9 jobs" {
		t.Errorf("got %q", got)
	}
}

// TestInterrupt sends SIGINT to a run that would go on for days, once it is
// seen to have begun.
func TestInterrupt(t *testing.T) {
	cmd := program("run", "--random", "--seeds", "1000000000")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scan := bufio.NewScanner(out)
	last := ""
	for n := 0; scan.Scan(); n++ {
		last = scan.Text()
		if n == 0 {
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = cmd.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != exitCannot {
		t.Errorf("ended with %v, want exit code 3", err)
	}
	if !strings.Contains(last, " of 1,000,000,000 runs: ") || !strings.Contains(said.String(), "bwsim: interrupted after ") {
		t.Errorf("the last line was %q, and to standard error %q", last, said.String())
	}
}
