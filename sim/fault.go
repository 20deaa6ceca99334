package sim

import "time"

// schedule makes fault i happen at at, and again, as its end, after length if
// that is more than 0.
func (w *world) schedule(i int32, at, length time.Duration) {
	w.expect(event{at: int64(at), kind: evFault, ref: i, step: 0})
	if length > 0 {
		w.expect(event{at: int64(at + length), kind: evFault, ref: i, step: 1})
	}
}

// expect is push for what an early end of the world must wait for.
func (w *world) expect(e event) {
	if e.at <= w.end {
		w.coming++
	}
	w.push(e)
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

// moot reports whether there is nothing that f could do now.
func (w *world) moot(f Fault) bool {
	gone := func(job string) bool {
		_, there := w.store.Lookup(w.jobs[w.byName[job]].id)
		return !there
	}
	switch f := f.(type) {
	case Crash:
		return !w.nodeNamed(f.Node).up
	case Drain:
		return !w.nodeNamed(f.Node).up
	case Start:
		return w.nodeNamed(f.Node).up
	case Damage:
		return gone(f.Job)
	case Hold:
		return gone(f.Job)
	}
	return false
}
