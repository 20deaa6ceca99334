package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// figure is one number that a run yields.
type figure struct {
	name   string // with its unit
	digits int    // after the point
}

// values are the figures of one run of one system, by name.
type values map[string]float64

// results are all runs of a benchmark.
type results struct {
	bench *benchmark
	opts  *options
	where map[string]string
	runs  map[string][]values // by system, in the order of the runs
}

func newResults(b *benchmark, o *options, where map[string]string) *results {
	return &results{bench: b, opts: o, where: where, runs: map[string][]values{}}
}

func (r *results) add(system string, v values) { r.runs[system] = append(r.runs[system], v) }

// spread is a median and the range around it.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf returns the spread of at least one number.
func spreadOf(all []float64) spread {
	s := slices.Sorted(slices.Values(all))
	mid := s[len(s)/2]
	if len(s)%2 == 0 {
		mid = (s[len(s)/2-1] + mid) / 2
	}
	return spread{Median: mid, Min: s[0], Max: s[len(s)-1]}
}

func (s spread) text(digits int) string {
	return fmt.Sprintf("%.*f [%.*f–%.*f]", digits, s.Median, digits, s.Min, digits, s.Max)
}

// row is one figure of one system.
type row struct {
	Bench  string  `json:"bench"`
	System string  `json:"system"`
	Figure string  `json:"figure"`
	Value  spread  `json:"value"`
	Ratio  *spread `json:"ratio,omitempty"` // to the peer, run by run; absent for the peer itself, and where the peer has nothing
	digits int
}

func (r *results) rows() (out []row) {
	for _, f := range r.bench.figures {
		for _, s := range r.bench.systems {
			w := row{Bench: r.bench.name, System: s.name, Figure: f.name, digits: f.digits}
			var own, ratios []float64
			for i, v := range r.runs[s.name] {
				x, ok := v[f.name]
				if !ok {
					continue
				}
				own = append(own, x)
				if y := r.runs[r.bench.peer][i][f.name]; y > 0 && s.name != r.bench.peer {
					ratios = append(ratios, x/y)
				}
			}
			if len(own) == 0 {
				continue // this system has no such figure
			}
			w.Value = spreadOf(own)
			if len(ratios) == len(own) {
				w.Ratio = new(spreadOf(ratios))
			}
			out = append(out, w)
		}
	}
	return out
}

func (r *results) writeText(out io.Writer) error {
	jobs := ""
	if r.opts.jobs > 0 {
		jobs = fmt.Sprintf("%d jobs, ", r.opts.jobs)
	}
	fmt.Fprintf(out, "%s: %s%d runs in turn; median [min–max]\n", r.bench.name, jobs, r.opts.runs)
	var where []string
	for _, k := range slices.Sorted(maps.Keys(r.where)) {
		where = append(where, k+" "+r.where[k])
	}
	fmt.Fprintf(out, "%s\n\n", strings.Join(where, "; "))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "figure\tsystem\tvalue\t÷ %s\n", r.bench.peer)
	for _, w := range r.rows() {
		ratio := ""
		if w.Ratio != nil {
			ratio = w.Ratio.text(2)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", w.Figure, w.System, w.Value.text(w.digits), ratio)
	}
	return t.Flush()
}

// writeJSON writes an object a line: the surroundings, then every figure.
func (r *results) writeJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	if err := e.Encode(map[string]any{"bench": r.bench.name, "jobs": r.opts.jobs, "runs": r.opts.runs, "peer": r.bench.peer, "surroundings": r.where}); err != nil {
		return err
	}
	for _, w := range r.rows() {
		if err := e.Encode(w); err != nil {
			return err
		}
	}
	return nil
}
