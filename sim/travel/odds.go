package travel

import "slices"

// Points returns up to n numbers of events, from first to last, as evenly spread
// as whole numbers are: where a run is given another seed to see what still
// decides it. n is at least 2, and last not before first.
func Points(first, last uint64, n int) (out []uint64) {
	for i := range uint64(n) {
		out = append(out, first+i*(last-first)/uint64(n-1))
	}
	return slices.Compact(out)
}

// Odds says how the runs went that were given another seed at one point.
type Odds struct {
	Event uint64 `json:"event"` // the first that is drawn with another seed
	At    int64  `json:"at"`    // true time of it, ns
	Runs  int    `json:"runs"`
	Same  int    `json:"same"`  // have the finding
	Other int    `json:"other"` // have none of that kind, but others
	Held  int    `json:"held"`  // the rest
}

// Share is the part of the runs that have the finding, in percent, rounded down.
func (o Odds) Share() int {
	if o.Runs == 0 {
		return 0
	}
	return 100 * o.Same / o.Runs
}

// Rise returns the place of the point before which the share rises most, the
// first of those that are equal; 0 if it never rises. All points have as many
// runs.
func Rise(list []Odds) int {
	best := 0
	for i := 1; i < len(list); i++ {
		d := list[i].Same - list[i-1].Same
		if d > 0 && (best == 0 || d > list[best].Same-list[best-1].Same) {
			best = i
		}
	}
	return best
}
