package main

import (
	"encoding/json"
	"io"
	"os"
	"slices"
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
	bench   *benchmark
	opts    *options
	where   map[string]string
	systems []system            // that took part
	leftOut []string            // why others did not
	runs    map[string][]values // by system, in the order of the runs
}

func newResults(b *benchmark, o *options, where map[string]string) *results {
	return &results{bench: b, opts: o, where: where, systems: b.systems, runs: map[string][]values{}}
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

// drop leaves a system out that failed: a peer's fault is told, and costs nobody
// else his figures.
func (r *results) drop(name string, why error) {
	r.leftOut = append(r.leftOut, leftOut(name, why))
	r.systems = slices.DeleteFunc(slices.Clone(r.systems), func(s system) bool { return s.name == name })
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

// row returns a figure of a system, nil if it has no such figure.
func (r *results) row(f figure, s system) *row {
	own := r.series(s.name, f.name)
	if len(own) == 0 {
		return nil
	}
	w := &row{Bench: r.bench.name, System: s.name, Figure: f.name, Value: spreadOf(own), digits: f.digits}
	if s.name != r.bench.peer {
		w.Ratio = ratioOf(own, r.series(r.bench.peer, f.name))
	}
	return w
}

func (r *results) rows() (out []row) {
	for _, f := range r.bench.figures {
		for _, s := range r.systems {
			if w := r.row(f, s); w != nil {
				out = append(out, *w)
			}
		}
	}
	return out
}

// series are a system's values of a figure, run by run.
func (r *results) series(system, figure string) (out []float64) {
	for _, v := range r.runs[system] {
		if x, ok := v[figure]; ok {
			out = append(out, x)
		}
	}
	return out
}

// ratioOf is nil if there is not a number other than 0 for each of own.
func ratioOf(own, other []float64) *spread {
	if len(own) != len(other) || slices.Contains(other, 0) {
		return nil
	}
	var all []float64
	for i := range own {
		all = append(all, own[i]/other[i])
	}
	return new(spreadOf(all))
}

// comparison is a figure of the benchmark's first system ÷ that of another, run
// by run.
type comparison struct {
	Bench  string `json:"bench"`
	System string `json:"system"`
	Than   string `json:"compared_with"`
	Figure string `json:"figure"`
	Ratio  spread `json:"ratio"`
}

func (r *results) comparisons() (out []comparison) {
	first := r.bench.systems[0].name
	if r.bench.against == "" || len(r.systems) == 0 || r.systems[0].name != first {
		return nil
	}
	for _, s := range r.systems[1:] {
		if q := ratioOf(r.series(first, r.bench.against), r.series(s.name, r.bench.against)); q != nil {
			out = append(out, comparison{r.bench.name, first, s.name, r.bench.against, *q})
		}
	}
	return out
}

// appendTo adds the results to a file, as JSON lines.
func (r *results) appendTo(name string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = r.writeJSON(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// writeJSON writes an object a line: the surroundings, then every figure, then
// the comparisons.
func (r *results) writeJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	head := map[string]any{
		"bench": r.bench.name, "jobs": r.opts.jobs, "runs": r.opts.runs, "peer": r.bench.peer, "surroundings": r.where, "left_out": r.leftOut,
		"for": r.opts.span.String(), "big": r.opts.big,
	}
	if err := e.Encode(head); err != nil {
		return err
	}
	for _, w := range r.rows() {
		if err := e.Encode(w); err != nil {
			return err
		}
	}
	for _, c := range r.comparisons() {
		if err := e.Encode(c); err != nil {
			return err
		}
	}
	return nil
}
