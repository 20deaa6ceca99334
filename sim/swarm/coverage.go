package swarm

import (
	"slices"

	"backwave/sim"
)

// Coverage counts the situations that runs have reached, and the pairs of them
// that met in one run.
type Coverage struct {
	runs  int
	names []string
	index map[string]int
	pairs []int // by a*len(names)+b with a <= b; of a name with itself: runs that reached it
	met   int   // pairs of two names
	hit   int   // names
}

// NewCoverage returns one that has seen no run.
func NewCoverage() *Coverage {
	c := &Coverage{names: sim.Situations(), index: map[string]int{}}
	for i, n := range c.names {
		c.index[n] = i
	}
	c.pairs = make([]int, len(c.names)*len(c.names))
	return c
}

// Add books a run that reached situations, and reports whether one of them, or a
// pair of them, was reached for the first time.
func (c *Coverage) Add(situations []string) (fresh bool) {
	c.runs++
	at := make([]int, 0, len(situations))
	for _, s := range situations {
		at = append(at, c.index[s])
	}
	slices.Sort(at)
	for i, a := range at {
		for _, b := range at[i:] {
			n := &c.pairs[a*len(c.names)+b]
			*n++
			if *n > 1 {
				continue
			}
			fresh = true
			if a == b {
				c.hit++
			} else {
				c.met++
			}
		}
	}
	return fresh
}

// Runs returns how many runs were booked.
func (c *Coverage) Runs() int { return c.runs }

// Reached returns how many situations were reached, of how many there are.
func (c *Coverage) Reached() (n, of int) { return c.hit, len(c.names) }

// Met returns how many pairs of situations met in one run, of how many there
// are.
func (c *Coverage) Met() (n, of int) {
	return c.met, len(c.names) * (len(c.names) - 1) / 2
}

// Hits returns in how many runs a situation was reached.
func (c *Coverage) Hits(name string) int { return c.Both(name, name) }

// Both returns in how many runs two situations met; 0 if one of them does not
// exist.
func (c *Coverage) Both(a, b string) int {
	i, ok := c.index[a]
	k, ok2 := c.index[b]
	if !ok || !ok2 {
		return 0
	}
	return c.pairs[min(i, k)*len(c.names)+max(i, k)]
}

// Never lists the situations that no run reached, in the order of
// sim.Situations.
func (c *Coverage) Never() (out []string) {
	for _, n := range c.names {
		if c.Hits(n) == 0 {
			out = append(out, n)
		}
	}
	return out
}

// Pair is two situations that met in Runs runs.
type Pair struct {
	A, B string
	Runs int
}

// Rarest lists up to n pairs that met, those in the fewest runs first.
func (c *Coverage) Rarest(n int) (out []Pair) {
	for i, a := range c.names {
		for k := i + 1; k < len(c.names); k++ {
			if runs := c.pairs[i*len(c.names)+k]; runs > 0 {
				out = append(out, Pair{a, c.names[k], runs})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Pair) int { return a.Runs - b.Runs })
	return out[:min(n, len(out))]
}

// Bound returns the rate per run below which something lies that was not seen in
// so many runs, each drawn independently of the others: at 95 % confidence, by
// the rule of three. It is 1 if there were too few runs to say anything.
func Bound(runs int) float64 {
	if runs < 3 {
		return 1
	}
	return 3 / float64(runs)
}
