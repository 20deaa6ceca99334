package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/internal/mutant"
)

// TestSurroundingBugIsCaught builds the tests of the bubble with one bug: every
// delayed job shows it.
func TestSurroundingBugIsCaught(t *testing.T) {
	code, stdout, stderr := call("mutants", "--surroundings", "--only", "delay-left-out", "--seeds", "200", "--format", "json")
	got := lines(t, stdout)
	if code != exitHeld || len(got) != 2 {
		t.Fatalf("exit code %d:\n%s%s", code, stdout, stderr)
	}
	if fields := []string{"breaks", "caught_by", "file", "found", "func", "mutant", "worlds"}; !slices.Equal(keysOf(got[0]), fields) {
		t.Errorf("a mutant has the fields %q, want %q", keysOf(got[0]), fields)
	}
	by, _ := got[0]["caught_by"].(string)
	found, _ := got[0]["found"].(string)
	if !strings.HasPrefix(by, "TestWorlds/seed/") || !strings.Contains(found, "the client sends") {
		t.Errorf("got %v, want it caught by a random plan that sees what the client sends", got[0])
	}
	if got[1]["summary"] != true || got[1]["caught"] != 1.0 {
		t.Errorf("the sum is %v", got[1])
	}
}

func TestSurroundingsUsage(t *testing.T) {
	want(t, exitUsage, []string{"--format markdown: with --surroundings want text or json"}, "mutants", "--surroundings", "--format", "markdown")
	want(t, exitUsage, []string{"leave one out"}, "mutants", "--surroundings", "--shrink")
	want(t, exitUsage, []string{"want at least 1"}, "mutants", "--surroundings", "--seeds", "0")
	want(t, exitUsage, []string{"no such mutant of the surroundings"}, "mutants", "--surroundings", "--only", "nobody")
}

func TestASurroundingProcessThatHangsIsCaughtByHang(t *testing.T) {
	t.Setenv(asProgram, "hang")
	f := &mutantFlags{seeds: 8, limit: 300 * time.Millisecond}
	if r := f.bubble(context.Background(), os.Args[0], mutant.Mutant{Name: "m"}); r.err != nil || r.Caught != hang {
		t.Errorf("got %+v", r)
	}
}

func TestASurroundingProcessThatDoesNotBeginIsNoCatch(t *testing.T) {
	t.Setenv(asProgram, "mute")
	f := &mutantFlags{seeds: 8, limit: time.Minute}
	if r := f.bubble(context.Background(), os.Args[0], mutant.Mutant{Name: "m"}); r.err == nil || r.Caught != "" || !strings.Contains(r.err.Error(), "there is no mutant m") {
		t.Errorf("got %+v", r)
	}
}

func TestWhatATestPrints(t *testing.T) {
	const begun = "=== RUN   TestWorlds\n=== RUN   TestWorlds/seed/3\n=== PAUSE TestWorlds/seed/3\n=== CONT  TestWorlds/seed/9\n=== CONT  TestWorlds/seed/3\n"
	for _, c := range []struct {
		name, text  string
		test, found string
		worlds      int
	}{
		{"nothing is wrong", begun + "=== NAME  TestWorlds\n    bubble_test.go:101:    12 crash\n--- PASS: TestWorlds (0.10s)\nPASS\n", "TestWorlds", "", 2},
		{"a plan does not hold", begun + "    bubble_test.go:50: random-3 does not hold:\n          at 1s: fence: j1\n          at 2s: other\n", "TestWorlds/seed/3", "at 1s: fence: j1", 2},
		{"a subtest complains", "=== RUN   TestEachKind/drain\n    kinds_test.go:118: it had no effect\n", "TestEachKind/drain", "it had no effect", 0},
		{"a test complains", "=== RUN   TestHints\n    bubble_test.go:50: hints does not hold:\n          at 9s: late\n--- FAIL: TestHints (0.10s)\n", "TestHints", "at 9s: late", 0},
		{"too easy", begun + "=== NAME  TestWorlds\n    bubble_test.go:101:    12 crash\n    bubble_test.go:108: too easy\n--- FAIL: TestWorlds (0.10s)\n", "TestWorlds", "too easy", 2},
		{"the process ends", begun, "TestWorlds/seed/3", "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := testWatch{}
			if err := w.follow(strings.NewReader(c.text)); err != nil || w.test != c.test || w.found != c.found || w.worlds != c.worlds {
				t.Errorf("got test %q, found %q, %d worlds, error %v; want %q, %q, %d", w.test, w.found, w.worlds, err, c.test, c.found, c.worlds)
			}
		})
	}
}
