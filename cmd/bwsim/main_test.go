package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// asProgram makes a process that the tests start be bwsim, or something that
// ends as a program with a planted bug might.
const asProgram = "BWSIM_TEST_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "":
		if err := os.Setenv(asProgram, "bwsim"); err != nil { // for the children
			panic(err)
		}
		os.Exit(m.Run())
	case "bwsim":
		main()
	case "crash":
		fmt.Println(`{"run":"seed 4","seeds":4}`)
		fmt.Fprintln(os.Stderr, "fatal error: stack overflow")
		os.Exit(2)
	case "hang":
		fmt.Println(`{"run":"seed 4","seeds":4}`)
		select {}
	case "mute":
		fmt.Fprintln(os.Stderr, "there is no mutant m")
		os.Exit(3)
	}
}

// call runs one command line in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = bwsim(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

// want fails the test unless a command line ends with a code and its output,
// both streams together, holds each text.
func want(t *testing.T, code int, texts []string, args ...string) {
	t.Helper()
	got, stdout, stderr := call(args...)
	if got != code {
		t.Errorf("bwsim %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, stdout, stderr)
	}
	for _, text := range texts {
		if !strings.Contains(stdout+stderr, text) {
			t.Errorf("bwsim %s: the output has no %q:\n%s%s", strings.Join(args, " "), text, stdout, stderr)
		}
	}
}

// volatile is what a golden file must not hold: what every change of the engine
// moves, and what the wall clock says.
var volatile = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "HASH"},
	{regexp.MustCompile(`[0-9,]+ events?\b`), "N events"},
	{regexp.MustCompile(`\(event [0-9,]+\)`), "(event N)"},
	{regexp.MustCompile(`\bevent [0-9,]+`), "event N"},
	{regexp.MustCompile(`(?m)^(. events  +)[0-9,]+  +[0-9,]+$`), "${1}N N"},
	{regexp.MustCompile(`"(events|event)":[0-9]+`), `"$1":N`},
	{regexp.MustCompile(`"(wall_s|check_s|events_per_s)":[0-9.e+-]+`), `"$1":T`},
	{regexp.MustCompile(`[0-9]+ invariants,`), "N invariants,"},
}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		args string
	}{
		{"help", 0, "--help"},
		{"help-run", 0, "run --help"},
		{"help-replay", 0, "replay --help"},
		{"help-whatif", 0, "whatif --help"},
		{"help-odds", 0, "odds --help"},
		{"help-check", 0, "check --help"},
		{"help-list", 0, "list --help"},
		{"help-explain", 0, "explain --help"},
		{"help-mutants", 0, "mutants --help"},
		{"help-timeline", 0, "timeline --help"},
		{"help-shrink", 0, "shrink --help"},
		{"help-swarm", 0, "swarm --help"},
		{"help-fmt", 0, "fmt --help"},
		{"help-lint", 0, "lint --help"},
		{"help-diff", 0, "diff --help"},
		{"help-real", 0, "real --help"},
		{"story", 0, "run testdata/lapse.yaml"},
		{"story-of-a-violation", 1, "run testdata/wrong.yaml"},
		{"violation", 1, "run testdata/wrong.yaml --seeds 2"},
		{"many", 0, "run testdata/lapse.yaml --seeds 3"},
		{"quiet", 1, "run testdata/lapse.yaml testdata/wrong.yaml --quiet --no-linear"},
		{"missing", 1, "run testdata/missing.yaml"},
		{"json", 1, "run testdata/lapse.yaml testdata/wrong.yaml --format json"},
		{"github", 1, "run testdata/lapse.yaml testdata/wrong.yaml --format github"},
		{"bad-file", 2, "run testdata/bad.yaml"},
		{"replay-to", 0, "replay testdata/lapse.yaml --break kind=start"},
		{"replay-dump", 0, "replay testdata/lapse.yaml --break kind=death --dump n2 --dump store --dump calls"},
		{"whatif", 1, "whatif testdata/lapse.yaml --without f1"},
		{"whatif-json", 0, "whatif testdata/lapse.yaml --shift f1 +1s --format json"},
		{"whatif-list", 0, "whatif testdata/lapse.yaml --list"},
		{"explain", 0, "explain fence"},
		{"check", 0, "check testdata/histories/worker-b.jsonl --midway"},
		{"check-merged", 0, "check testdata/histories/enqueues.jsonl testdata/histories/worker-a.jsonl testdata/histories/worker-b.jsonl testdata/histories/empty.jsonl"},
		{"check-merged-violation", 1, "check testdata/histories/enqueues.jsonl testdata/histories/worker-a.jsonl testdata/histories/worker-b.jsonl testdata/histories/zombie.jsonl"},
		{"check-merged-json", 0, "check testdata/histories/enqueues.jsonl testdata/histories/worker-a.jsonl testdata/histories/empty.jsonl --format json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := call(strings.Fields(c.args)...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			got := fmt.Sprintf("$ bwsim %s\n%s%s", c.args, stdout, stderr)
			for _, v := range volatile {
				got = v.is.ReplaceAllString(got, v.as)
			}
			file := filepath.Join("testdata", "golden", c.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			old, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(old) {
				t.Errorf("the output changed; if it should, go test ./cmd/bwsim -run Golden -update. It is now\n%s", got)
			}
		})
	}
}

func TestBadUsage(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.yaml")
	want(t, exitHeld, nil, "run", "testdata/lapse.yaml", "--plan", plan, "--quiet")
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"runn"}, exitUsage, `there is no command "runn" (did you mean "run"?)`},
		{[]string{"run", "--bogus"}, exitUsage, "see bwsim run --help"},
		{[]string{"run", "no-such-scenario"}, exitUsage, `no shipped scenario is called "no-such-scenario"`},
		{[]string{"run", "no.yaml"}, exitUsage, "cannot read no.yaml: no such file"},
		{[]string{"run", "--random", "drain"}, exitUsage, `leave out "drain", or --random`},
		{[]string{"run", "--seeds", "0"}, exitUsage, "--seeds 0: want at least 1"},
		{[]string{"run", "--random", "--seed", "18446744073709551615", "--seeds", "2"}, exitUsage, "the last seed is above"},
		{[]string{"run", "--jobs", "0"}, exitUsage, "--jobs 0: want at least 1"},
		{[]string{"run", "--format", "xml"}, exitUsage, "--format xml: want text, json or github"},
		{[]string{"run", "testdata/lapse.yaml", "./testdata/lapse.yaml", "--trace", filepath.Join(dir, "t")}, exitUsage, "would write the same files"},
		{[]string{"run", "testdata/lapse.yaml", "--quiet", "--trace", filepath.Join(dir, "no", "t")}, exitCannot, "write the trace: open"},
		{[]string{"run", "testdata/lapse.yaml", "--quiet", "--junit", filepath.Join(dir, "no", "j")}, exitCannot, "write the JUnit file: open"},
		{[]string{"replay"}, exitUsage, "want a plan"},
		{[]string{"replay", "testdata/lapse.yaml", "--to", "1", "--junit", "j.xml"}, exitUsage, "--junit is about a whole run"},
		{[]string{"replay", "testdata/lapse.yaml", "--to", "9999999"}, exitUsage, "--to 9999999: the run has "},
		{[]string{"replay", "testdata/lapse.yaml", "--break", "jobb=j1"}, exitUsage, "there is no field jobb, want one of job, attempt, node, "},
		{[]string{"replay", "testdata/lapse.yaml", "--break", "kind=forget"}, exitUsage, "no event of the run meets --break kind=forget"},
		{[]string{"replay", "testdata/lapse.yaml", "--dump", "n3"}, exitUsage, "--dump n3: want one of all, calls, n1, n2, store"},
		{[]string{"replay", "testdata/lapse.yaml", "--step", "--dump", "n1"}, exitUsage, "with --step, the command d shows it"},
		{[]string{"replay", "testdata/lapse.yaml", "--to", "1", "--format", "github"}, exitUsage, "want text or json"},
		{[]string{"whatif", "testdata/lapse.yaml"}, exitUsage, "want --without FAULT, --shift FAULT +3s, or --list"},
		{[]string{"whatif", "testdata/lapse.yaml", "--without", "f2"}, exitUsage, "there is no such entry, want f1 or 14, its line"},
		{[]string{"whatif", "testdata/wrong.yaml", "--without", "f1"}, exitUsage, "wrong has no timeline"},
		{[]string{"whatif", "testdata/lapse.yaml", "--shift", "f1"}, exitUsage, "by how much? write --shift f1=+3s"},
		{[]string{"whatif", "testdata/lapse.yaml", "--shift", "f1=soon"}, exitUsage, "want a span that is not 0"},
		{[]string{"whatif", "testdata/lapse.yaml", "--shift", "f1=1h"}, exitUsage, "it would happen at 1h0m35s, and the world lasts from 0s to 2m0s"},
		{[]string{"whatif", "testdata/lapse.yaml", "--without", "f1", "+3s"}, exitUsage, `"+3s" is for no --shift`},
		{[]string{"whatif", "testdata/lapse.yaml", "--without", "f1", "-o", filepath.Join(dir, "no", "p.yaml")}, exitCannot, "write the plan: open"},
		{[]string{"odds", "testdata/chance.yaml", "--points", "1"}, exitUsage, "--points 1: want at least 2"},
		{[]string{"odds", "testdata/chance.yaml", "--seeds", "0"}, exitUsage, "want at least 1"},
		{[]string{"odds", "testdata/wrong.yaml", "--finding", "fence"}, exitUsage, "the run has no such finding, but expectation-"},
		{[]string{"odds", "testdata/wrong.yaml", "--from", "99999999"}, exitUsage, "want an event before "},
		{[]string{"check"}, exitUsage, "want a history"},
		{[]string{"check", "no.jsonl"}, exitUsage, "cannot read no.jsonl"},
		{[]string{"check", plan}, exitUsage, "line 1: want the header"},
		{[]string{"check", "testdata/histories/empty.jsonl"}, exitUsage, "empty.jsonl: history: the file is empty"},
		{[]string{"check", "testdata/histories/enqueues.jsonl", "./testdata/histories/enqueues.jsonl"}, exitUsage, "enqueues.jsonl is given twice"},
		{[]string{"check", "testdata/histories/enqueues.jsonl", plan}, exitUsage, "line 1: want the header"},
		{[]string{"check", "testdata/histories/empty.jsonl", os.DevNull}, exitUsage, "all of them are empty"},
		{[]string{"check", plan, "--steps", "0"}, exitUsage, "--steps 0: want at least 1"},
		{[]string{"check", plan, "--format", "github"}, exitUsage, "want text or json"},
		{[]string{"list"}, exitUsage, "want one of scenarios, faults, invariants, mutants, situations"},
		{[]string{"list", "nodes"}, exitUsage, "list nodes: want one of"},
		{[]string{"list", "faults", "--format", "yaml"}, exitUsage, "want text or json"},
		{[]string{"explain", "fense"}, exitUsage, "explain fense: there is no such invariant, want one of effect-once, "},
		{[]string{"explain", "fence", "--mutants", plan}, exitUsage, "plan.yaml:1: want a line of bwsim mutants --format json"},
		{[]string{"mutants", "--only", "nobody"}, exitUsage, "--only nobody: there is no such mutant"},
		{[]string{"mutants", "--source", dir}, exitCannot, "there is no go.mod of module backwave"},
		{[]string{"mutants", "--format", "github"}, exitUsage, "want text or json"},
		{[]string{"mutants", "--seeds", "0"}, exitUsage, "want at least 1"},
		{[]string{"mutants", "--output", dir}, exitUsage, "nothing to write without --shrink"},
		{[]string{"shrink"}, exitUsage, "want a plan or a scenario"},
		{[]string{"shrink", "no.yaml"}, exitUsage, "cannot read no.yaml"},
		{[]string{"shrink", "testdata/lapse.yaml", "--budget", "0"}, exitUsage, "want at least 1"},
		{[]string{"shrink", "testdata/lapse.yaml", "--format", "github"}, exitUsage, "want text or json"},
		{[]string{"shrink", "testdata/untidy.yaml", "-o", filepath.Join(dir, "no", "p.yaml")}, exitCannot, "write the plan: open"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) { want(t, c.code, []string{c.text}, c.args...) })
	}
}

func TestMutantsOutsideOfTheSourceTree(t *testing.T) {
	t.Chdir(t.TempDir())
	want(t, exitCannot, []string{"needs BackWave's source tree", "--source DIR"}, "mutants")
}

func TestColourIsForTerminalsThatWantIt(t *testing.T) {
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = device.Close() })
	t.Setenv("TERM", "xterm")
	for _, c := range []struct {
		noColour string
		to       interface{ Write([]byte) (int, error) }
		want     bool
	}{
		{"", device, true},
		{"1", device, false},
		{"", &bytes.Buffer{}, false},
	} {
		t.Setenv("NO_COLOR", c.noColour)
		s := newScreen(c.to, &bytes.Buffer{})
		if painted := s.paint(red, "x") != "x"; painted != c.want {
			t.Errorf("NO_COLOR=%q, to %T: painted is %v, want %v", c.noColour, c.to, painted, c.want)
		}
	}
}

// program returns a command that runs this test binary as bwsim.
func program(args ...string) *exec.Cmd {
	return exec.Command(os.Args[0], args...)
}
