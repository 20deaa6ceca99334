package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestSpreadIsMedianAndRange(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want spread
	}{
		{[]float64{3}, spread{3, 3, 3}},
		{[]float64{9, 1, 2}, spread{2, 1, 9}},
		{[]float64{4, 1, 2, 9}, spread{3, 1, 9}},
	} {
		if got := spreadOf(c.in); got != c.want {
			t.Errorf("spreadOf(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestQuantileOfHundred(t *testing.T) {
	var all []time.Duration
	for i := 100; i >= 1; i-- {
		all = append(all, time.Duration(i)*time.Millisecond)
	}
	if p50, p99 := quantile(all, 50), quantile(all, 99); p50 != 50 || p99 != 99 {
		t.Errorf("got %v and %v, want 50 and 99", p50, p99)
	}
}

// A ratio is of one run; that of medians would be 1 here.
func TestRatiosAreRunByRun(t *testing.T) {
	b := &benchmark{name: "x", peer: "theirs", systems: []system{{name: "ours"}, {name: "theirs"}}, figures: []figure{{"jobs/s", 0}, {"only ours", 1}}}
	r := newResults(b, &options{jobs: 7, runs: 3}, map[string]string{"cores": "2"})
	for i, ours := range []float64{10, 20, 60} {
		r.add("ours", values{"jobs/s": ours, "only ours": 1})
		r.add("theirs", values{"jobs/s": []float64{20, 10, 20}[i]})
	}
	rows := r.rows()
	if len(rows) != 3 {
		t.Fatalf("got %d rows, want 3: %+v", len(rows), rows)
	}
	if got := *rows[0].Ratio; got != (spread{2, 0.5, 3}) {
		t.Errorf("ratio of ours is %v", got)
	}
	if rows[1].Ratio != nil || rows[2].Ratio != nil {
		t.Errorf("a ratio without a peer: %+v", rows[1:])
	}
	var text, lines bytes.Buffer
	if err := r.writeText(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "20 [10–60]") || !strings.Contains(text.String(), "2.00 [0.50–3.00]") || !strings.Contains(text.String(), "cores 2") {
		t.Errorf("got\n%s", text.String())
	}
	if err := r.writeJSON(&lines); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(lines.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

func TestStatOfProcessWithOddName(t *testing.T) {
	p, err := parseStat("42 (postgres: a) b (c) S 7 42 42 0 -1 4194304 1 2 3 4 150 50 20 5 20 0 1 0 99 1 1")
	if err != nil {
		t.Fatal(err)
	}
	if want := (process{comm: "postgres: a) b (c", parent: 7, own: 2 * time.Second, dead: 250 * time.Millisecond}); p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	for _, line := range []string{"", "42 postgres S 7", "42 (postgres) S 7 1", "42 (p) S x 42 42 0 -1 4194304 1 2 3 4 150 50 20 5 20 0"} {
		if p, err := parseStat(line); err == nil {
			t.Errorf("%q was read as %+v", line, p)
		}
	}
}

func TestCommandLine(t *testing.T) {
	b, o, err := parse([]string{"drain", "--jobs", "10", "--format", "json"})
	if err != nil || b.name != "drain" || o.jobs != 10 || o.runs != 3 || !o.json {
		t.Errorf("got %+v, %+v, %v", b, o, err)
	}
	if b, _, err := parse([]string{"idle", "--runs", "1"}); err != nil || b.name != "idle" {
		t.Errorf("got %+v, %v", b, err)
	}
	for _, bad := range []string{"", "race", "drain --runs 0", "drain --jobs 0", "drain --pumps 0", "drain --format xml", "drain more"} {
		if _, _, err := parse(strings.Fields(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestPayloadHasHundredBytes(t *testing.T) {
	b, err := json.Marshal(payload{Sent: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano(), Fill: fill})
	if err != nil || len(b) != 100 {
		t.Errorf("got %d bytes, %v: %s", len(b), err, b)
	}
}
