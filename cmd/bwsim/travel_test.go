package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/sim"
)

// steps gives lines to bwsim replay --step and returns what it prints.
func steps(t *testing.T, commands string, args ...string) string {
	t.Helper()
	cmd := program(append([]string{"replay", "testdata/lapse.yaml", "--step"}, args...)...)
	cmd.Stdin = strings.NewReader(commands)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// heads returns the lines that tell of events.
func heads(text string) (out []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "event ") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func TestStepGoesWhereItIsTold(t *testing.T) {
	all := heads(steps(t, "29\n\n"))
	if len(all) != 31 {
		t.Fatalf("the first, 29 and 1 more show %d events", len(all))
	}
	for i, h := range all {
		if want := "event " + grouped(uint64(i+1)) + "  "; !strings.HasPrefix(h, want) {
			t.Errorf("event %d is shown as %q", i+1, h)
		}
	}
	// Back and forth is the same run; --to skips, b makes it again.
	if got := heads(steps(t, "\nb 3\n\n", "--to", "20")); !slices.Equal(got, []string{all[19], all[20], all[17], all[18]}) {
		t.Errorf("from event 20 on by 1, back by 3 and on by 1 is\n%s", strings.Join(got, "\n"))
	}
	if got := steps(t, "b 7\nb x\nhop\nd n7\nq\n"); !strings.Contains(got, "b 7: this is event 1") || !strings.Contains(got, "b x: want a number") ||
		!strings.Contains(got, `"hop" is no command`) || !strings.Contains(got, "d n7: want one of all, calls, n1, n2, store") {
		t.Errorf("wrong commands are answered with\n%s", got)
	}
}

func TestStepStopsAtBreakpoints(t *testing.T) {
	got := steps(t, "c\nd store\nc\nd n2\nc\n", "--break", "kind=start", "--break", "kind=forget")
	if h := heads(got); len(h) != 3 || !strings.Contains(h[1], ": j1#1") || !strings.Contains(h[2], ": j1#2") {
		t.Errorf("the stops are\n%s", strings.Join(h, "\n"))
	}
	for _, want := range []string{
		"starts j1, attempt 1\n", "attempt 1 by n1.1/g/0 until 0:30.", "CRASHES\n", "lease    j1#2      believed until ", "the run ends here: held, ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") || strings.Contains(got, "> ") {
		t.Errorf("without a terminal there are colours, or prompts:\n%s", got)
	}
}

// TestReplayDumpsTheStateOfThatMoment compares it with what package sim says.
func TestReplayDumpsTheStateOfThatMoment(t *testing.T) {
	_, stdout, stderr := call("replay", "testdata/lapse.yaml", "--to", "150", "--format", "json")
	got := lines(t, stdout)
	if len(got) != 1 {
		t.Fatalf("got %s%s", stdout, stderr)
	}
	src, err := load("testdata/lapse.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want *sim.State
	told := 0
	sim.Run(src.sc, sim.Options{Seed: 1, Story: func(sim.Line) { told++ }, Step: func(m *sim.Moment) bool {
		want = m.State()
		return m.Number < 150
	}})
	state := got[0]["state"].(map[string]any)
	if state["event"] != 150.0 || state["at"] != float64(want.At) || len(state["nodes"].([]any)) != 2 || len(got[0]["story"].([]any)) != told {
		t.Errorf("got %s, want %+v after %d lines", stdout, want, told)
	}
	code, stdout, _ := call("replay", "testdata/lapse.yaml", "--dump", "store", "--format", "json")
	got = lines(t, stdout)
	rows := got[0]["state"].(map[string]any)["store"].(map[string]any)["rows"].([]any)
	if code != exitHeld || len(rows) != 1 || rows[0].(map[string]any)["state"] != "succeeded" || got[0]["at"].(float64) < float64(100*time.Second) {
		t.Errorf("the end is %s", stdout)
	}
}

func TestReplayOfAScenario(t *testing.T) {
	if was, is := traceHash(t, "run", "testdata/lapse.yaml", "--seed", "3"), traceHash(t, "replay", "testdata/lapse.yaml", "--seed", "3"); was != is {
		t.Errorf("seed 3 has trace hash %s, replayed %s", was, is)
	}
	want(t, exitViolated, []string{"to repeat it: bwsim replay testdata/wrong.yaml --seed 2"}, "replay", "testdata/wrong.yaml", "--seed", "2")
}

// TestWhatif: the plan that it writes is the run that it has shown, and two ways
// to name a fault are one.
func TestWhatif(t *testing.T) {
	file := filepath.Join(t.TempDir(), "changed.yaml")
	_, one, _ := call("whatif", "testdata/lapse.yaml", "--without", "f1", "--seed", "5", "--format", "json", "-o", file)
	_, other, _ := call("whatif", "testdata/lapse.yaml", "--without", "14", "--seed", "5", "--format", "json", "-o", file)
	if one != other || one == "" {
		t.Errorf("f1 and line 14 differ:\n%s\n%s", one, other)
	}
	got := lines(t, one)[0]
	if is := got["is"].(map[string]any); is["trace_hash"] != traceHash(t, "replay", file) || is["verdict"] != "violated" {
		t.Errorf("the changed run is %v, and the plan's run another", is)
	}
	if was := got["was"].(map[string]any); was["trace_hash"] != traceHash(t, "run", "testdata/lapse.yaml", "--seed", "5") {
		t.Errorf("the run as it is is %v", was)
	}
	jobs := got["jobs"].([]any)
	if job := jobs[0].(map[string]any); len(jobs) != 1 || job["was"].(map[string]any)["attempts"] != 2.0 || job["is"].(map[string]any)["attempts"] != 1.0 {
		t.Errorf("the jobs are %v", jobs)
	}
	_, one, _ = call("whatif", "testdata/lapse.yaml", "--shift", "f1", "+2s")
	_, other, _ = call("whatif", "testdata/lapse.yaml", "--shift", "f1=2s")
	if one != other || !strings.Contains(one, "happened 2s later") {
		t.Errorf("two spellings differ:\n%s\n%s", one, other)
	}
	// A fault in the last instant has no time to do anything.
	want(t, exitHeld, []string{"did not happen", "violated", "held"}, "whatif", "testdata/late.yaml", "--without", "f1")
}

// TestOdds: the failure is a matter of chance before the lease is lost, and
// certain after, and that does not depend on how much is done at once.
func TestOdds(t *testing.T) {
	args := []string{"odds", "testdata/chance.yaml", "--seed", "7", "--seeds", "20", "--points", "6", "--format", "json"}
	code, one, stderr := call(append(args, "--jobs", "1")...)
	_, three, _ := call(append(args, "--jobs", "3")...)
	if code != exitViolated || one != three {
		t.Fatalf("exit code %d; with --jobs 1 and 3:\n%s\n%s%s", code, one, three, stderr)
	}
	points := lines(t, one)[0]["points"].([]any)
	share := func(i int) float64 { return points[i].(map[string]any)["same"].(float64) }
	if len(points) != 6 || share(0) > 10 || share(5) != 20 {
		t.Errorf("the points are %v", points)
	}
	for i := range points {
		p := points[i].(map[string]any)
		if p["runs"] != 20.0 || p["same"].(float64)+p["other"].(float64)+p["held"].(float64) != 20 {
			t.Errorf("point %d is %v", i, p)
		}
	}
	// From the first event on, chance decides as in runs of those seeds.
	failing := 0
	_, runs, _ := call("run", "testdata/chance.yaml", "--seed", "8", "--seeds", "20", "--format", "json", "--no-linear")
	for _, r := range lines(t, runs)[:20] {
		if r["verdict"] == "violated" {
			failing++
		}
	}
	if share(0) != float64(failing) {
		t.Errorf("%v of 20 fail with another seed from the first event on, %d with that seed", share(0), failing)
	}
	want(t, exitHeld, []string{"holds: there is no failure"}, "odds", "testdata/lapse.yaml")
	want(t, exitViolated, []string{"what the plan says decides it, not chance"}, "odds", "testdata/wrong.yaml", "--seeds", "2", "--points", "3")
}
