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
	var text, table, lines bytes.Buffer
	if err := r.write(&text, "text"); err != nil {
		t.Fatal(err)
	}
	if err := r.write(&table, "markdown"); err != nil {
		t.Fatal(err)
	}
	if want := "| ours | 20 [10–60] · **2.00 [0.50–3.00]** | 1.0 |\n| theirs | 20 [10–20] |  |\n"; !strings.Contains(table.String(), want) {
		t.Errorf("no lines %q in\n%s", want, table.String())
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
	all, o, err := parse([]string{"drain", "--jobs", "10", "--format", "json", "--systems", "river,statements 2x500"})
	if err != nil || len(all) != 1 || all[0].name != "drain" || o.of(all[0]).jobs != 10 || o.runs != 3 || o.format != "json" {
		t.Fatalf("got %+v, %+v, %v", all, o, err)
	}
	if !o.wants("river") || !o.wants("statements 2x500") || o.wants("backwave") {
		t.Errorf("wants the wrong ones of %q", o.systems)
	}
	if all, _, err := parse([]string{"scale"}); err != nil || len(all) != 3 {
		t.Errorf("scale is %d benchmarks, %v", len(all), err)
	}
	all, o, err = parse([]string{"all", "--jobs", "10"})
	if err != nil || len(all) != len(benchmarks()) {
		t.Fatalf("got %+v, %v", all, err)
	}
	for _, b := range all {
		if want := min(b.jobs, 10); o.of(b).jobs != want {
			t.Errorf("%s has %d jobs, want %d", b.name, o.of(b).jobs, want)
		}
	}
	if all, _, err := parse([]string{"all", "--systems", "pg-boss"}); err != nil || len(all) != 4 {
		t.Errorf("pg-boss is in %d benchmarks, %v", len(all), err)
	}
	for _, bad := range []string{
		"", "race", "drain --runs 0", "drain --jobs -1", "drain --pumps 0", "drain --format xml", "drain more",
		"drain --systems nobody", "idle --systems river", "steady --for 1ms", "scale --big 1",
	} {
		if _, _, err := parse(strings.Fields(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// Every figure of a table must be one that its benchmark can yield, and every
// name of a system one that --systems can name.
func TestNamesAreDistinct(t *testing.T) {
	for _, b := range benchmarks() {
		seen := map[string]bool{}
		for _, s := range b.systems {
			if seen[s.name] || strings.Contains(s.name, ",") {
				t.Errorf("%s: the name %q is taken or has a comma", b.name, s.name)
			}
			seen[s.name] = true
		}
		if b.peer != "" && !seen[b.peer] {
			t.Errorf("%s: no system is called %q", b.name, b.peer)
		}
		figures := map[string]bool{}
		for _, f := range b.figures {
			if figures[f.name] {
				t.Errorf("%s: two figures are %q", b.name, f.name)
			}
			figures[f.name] = true
		}
		if b.against != "" && !figures[b.against] {
			t.Errorf("%s: no figure is %q", b.name, b.against)
		}
	}
}

func TestNumberPartsThousands(t *testing.T) {
	for _, c := range []struct {
		x      float64
		digits int
		want   string
	}{{0, 0, "0"}, {999, 0, "999"}, {1000, 0, "1,000"}, {1234567.891, 2, "1,234,567.89"}, {-1234, 0, "-1,234"}, {-123, 1, "-123.0"}} {
		if got := number(c.x, c.digits); got != c.want {
			t.Errorf("number(%v, %d) = %q, want %q", c.x, c.digits, got, c.want)
		}
	}
}

func TestPayloadHasHundredBytes(t *testing.T) {
	b, err := json.Marshal(payload{Sent: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano(), Fill: fill})
	if err != nil || len(b) != 100 {
		t.Errorf("got %d bytes, %v: %s", len(b), err, b)
	}
}
