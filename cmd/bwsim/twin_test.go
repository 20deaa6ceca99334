package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"backwave/sim"
)

func TestTwinsAreTheSame(t *testing.T) {
	want(t, exitHeld, []string{"20 runs: 20 held, each the same in its twin"}, "run", "--random", "--seeds", "20", "--twin", "--quiet")
	want(t, exitHeld, []string{"3 runs: 3 held, each the same in its twin"}, "run", "testdata/lapse.yaml", "--seeds", "3", "--twin")
}

// stub is a twin that gives the hashes it is told to.
func stub(hashes string) *twin {
	return &twin{bufio.NewScanner(strings.NewReader(hashes)), func() string { return "killed" }}
}

// compared runs two outcomes past a stub.
func compared(tw *twin) (out []*outcome) {
	results := make(chan *outcome, 2)
	for _, h := range []uint64{1, 2} {
		results <- &outcome{task: task{sc: &sim.Scenario{Name: "s"}}, res: &sim.Result{Verdict: sim.Held, TraceHash: h}}
	}
	close(results)
	for o := range tw.compare(context.Background(), results) {
		out = append(out, o)
	}
	return out
}

func TestADifferentHashIsFoundAndTold(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out, &bytes.Buffer{})
	r, sum := &textReport{s: s}, &totals{asked: 2, compared: true}
	for _, o := range compared(stub(hash(1) + "\n" + hash(3) + "\n")) {
		sum.add(o)
		r.run(o)
	}
	if err := r.end(sum); err != nil {
		t.Fatal(err)
	}
	s.close()
	if sum.differ != 1 || sum.exit() != exitDiffers {
		t.Errorf("%d differ, exit code %d, want 1 and 5", sum.differ, sum.exit())
	}
	for _, text := range []string{"NOT DETERMINISTIC: trace hash 0000000000000002 here, 0000000000000003 in the twin", "2 runs: 2 held, 1 not deterministic"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the report has no %q:\n%s", text, out.String())
		}
	}
}

func TestATwinThatDiesIsNoPass(t *testing.T) {
	got := compared(stub(hash(1) + "\n"))
	if got[0].twinErr != nil || got[1].twinErr == nil || !strings.Contains(got[1].twinErr.Error(), "the twin ended early, at s seed 0: killed") {
		t.Errorf("got %v and %v", got[0].twinErr, got[1].twinErr)
	}
}

func TestCompareTraces(t *testing.T) {
	for _, c := range []struct {
		name, here, twin string
		found            bool
		want             difference
	}{
		{"same", "a\nb\n", "a\nb\n", false, difference{same: 2}},
		{"a line differs", "a\nb\nc\nd\ne\ng\n", "a\nb\nc\nd\nf\n", true, difference{4, []string{"b", "c", "d"}, []string{"e", "g"}, []string{"f"}}},
		{"one ends early", "a\nb\n", "a\n", true, difference{1, []string{"a"}, []string{"b"}, []string{"(the trace ends)"}}},
		{"at the start", "", "a\n", true, difference{0, nil, []string{"(the trace ends)"}, []string{"a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, found, err := compareTraces(strings.NewReader(c.here), strings.NewReader(c.twin), contextLines)
			if err != nil || found != c.found || d.same != c.want.same || !slices.Equal(d.here, c.want.here) || !slices.Equal(d.twin, c.want.twin) {
				t.Errorf("got %+v, %v, %v", d, found, err)
			}
			if found && strings.Join(d.before, ",") != strings.Join(c.want.before, ",") {
				t.Errorf("before it stand %q, want %q", d.before, c.want.before)
			}
		})
	}
	broken := errors.New("broken")
	if _, _, err := compareTraces(failing{broken}, strings.NewReader("a\n"), contextLines); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the reader", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestDivergeStartsTwoProcesses makes a run that is deterministic: both traces
// must be there, whole and equal.
func TestDivergeStartsTwoProcesses(t *testing.T) {
	w, err := newWorkload([]string{"testdata/lapse.yaml"}, false, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	task := w.task(1)
	sim.Run(task.sc, sim.Options{Seed: task.seed, Trace: func(string) { n++ }})
	d, found, err := w.diverge(1)
	if err != nil || found || d.same != n {
		t.Errorf("%d lines are the same, found %v, error %v; want all %d", d.same, found, err, n)
	}
}
