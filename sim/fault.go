package sim

import "time"

// schedule makes fault i happen at at, and again, as its end, after length if
// that is more than 0.
func (w *world) schedule(i int32, at, length time.Duration) {
	w.push(event{at: int64(at), kind: evFault, ref: i, step: 0})
	if length > 0 {
		w.push(event{at: int64(at + length), kind: evFault, ref: i, step: 1})
	}
}

// sign is +1 at the begin of a fault and -1 at its end.
func sign(begin bool) int {
	if begin {
		return 1
	}
	return -1
}

func (w *world) nodeNamed(name string) *node {
	for _, n := range w.nodes {
		if n.spec.Name == name {
			return n
		}
	}
	return nil
}

// among calls do for each node named; none = all.
func (w *world) among(names []string, do func(*node)) {
	for _, n := range w.nodes {
		if len(names) == 0 || contains(names, n.spec.Name) {
			do(n)
		}
	}
}
