package main

import (
	"slices"
	"testing"
	"time"

	"backwave/checker"
	"backwave/sim"
)

func TestCondense(t *testing.T) {
	at := func(s int, who, text string) sim.Line {
		return sim.Line{At: time.Duration(s) * time.Second, Who: who, Text: text}
	}
	got := condense([]sim.Line{
		at(1, "n1", "starts a, attempt 1"),
		at(20, "n1", "renews a#1 until 1m20s"),
		at(20, "n1", "renews b#1 until 1m20s"),
		at(25, "n2", "renews a#1 until 1m25s"),
		at(40, "n1", "renews a#1 until 1m40s"),
		at(60, "n1", "renews a#1 until 2m0s"),
		at(61, "n1", "a, attempt 1, returns: ok"),
		at(80, "n1", "renews b#1 until 2m20s"),
		at(90, "n1", "renews its passport"),
	})
	want := []sim.Line{
		at(1, "n1", "starts a, attempt 1"),
		at(20, "n1", "renews a#1 … 3 times, last at 1:00.000"),
		at(20, "n1", "renews b#1 until 1m20s"),
		at(25, "n2", "renews a#1 until 1m25s"),
		at(61, "n1", "a, attempt 1, returns: ok"),
		at(80, "n1", "renews b#1 until 2m20s"),
		at(90, "n1", "renews its passport"),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

func TestTheStoryIsCutBeforeTheFirstViolation(t *testing.T) {
	var lines []sim.Line
	for i := range 50 {
		lines = append(lines, sim.Line{At: time.Duration(i) * time.Second})
	}
	o := &outcome{task: task{sc: &sim.Scenario{}}, res: &sim.Result{Virtual: time.Hour, Violations: []checker.Violation{{At: int64(40 * time.Second)}, {At: int64(30 * time.Second)}}}}
	got := o.before(lines)
	if len(got) != tail || got[tail-1].At != 30*time.Second {
		t.Errorf("got %d lines, the last at %v; want %d up to 30s", len(got), got[len(got)-1].At, tail)
	}
}

func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0:00.000", 100*time.Second + 5*time.Millisecond: "1:40.005", 2 * time.Hour: "120:00.000",
	} {
		if got := clock(d); got != want {
			t.Errorf("%v is printed as %s, want %s", d, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for arg, want := range map[string]string{"a/b-c.yaml": "a/b-c.yaml", "": "''", "my file": "'my file'", "it's": `'it'\''s'`} {
		if got := quote(arg); got != want {
			t.Errorf("%q is quoted as %s, want %s", arg, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is printed as %s, want %s", n, got, want)
		}
	}
}
