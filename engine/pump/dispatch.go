package pump

import "backwave/store"

// dispatch decides which queues a claim goes to, and how much of each. Under
// strict order that is the list itself. Under weights it is smooth weighted
// round robin: every queue earns its weight with each job taken and pays the
// sum of all weights for a job of its own, and the richest is served next.
type dispatch struct {
	queues   []Queue
	weighted bool
	total    int           // sum of weights
	credit   []int         // per queue
	strict   []store.Quota // the same for every claim
}

func newDispatch(c *Config) dispatch {
	d := dispatch{queues: c.Queues, weighted: c.Weighted}
	for _, q := range c.Queues {
		d.total += q.Weight
		d.strict = append(d.strict, store.Quota{Queue: q.Name, Most: c.ClaimBatch})
	}
	d.credit = make([]int, len(c.Queues))
	return d
}

// quotas shares n jobs among the queues. The result must not be changed.
func (d *dispatch) quotas(n int) []store.Quota {
	if !d.weighted {
		return d.strict
	}
	credit := append([]int(nil), d.credit...)
	rank := make([]int, len(d.queues)) // 1 = picked first; 0 = not picked
	most := make([]int, len(d.queues))
	picked := 0
	for range n {
		i := d.pick(credit)
		if most[i] == 0 {
			picked++
			rank[i] = picked
		}
		most[i]++
	}
	out := make([]store.Quota, 0, len(d.queues))
	for r := 1; r <= picked; r++ {
		for i, q := range d.queues {
			if rank[i] == r {
				out = append(out, store.Quota{Queue: q.Name, Most: most[i]})
			}
		}
	}
	for i, q := range d.queues { // the rest only if those with a quota have too little
		if rank[i] == 0 {
			out = append(out, store.Quota{Queue: q.Name})
		}
	}
	return out
}

// pick earns and pays for one job and returns the queue it should come from;
// the first listed of equals.
func (d *dispatch) pick(credit []int) int {
	best := 0
	for i := range credit {
		credit[i] += d.queues[i].Weight
		if credit[i] > credit[best] {
			best = i
		}
	}
	credit[best] -= d.total
	return best
}

// took books a job of the queue that a claim really took. Credit is bounded, or
// a queue that was empty for an hour could shut out the others for as long.
func (d *dispatch) took(queue string) {
	if !d.weighted {
		return
	}
	for i := range d.credit {
		d.credit[i] += d.queues[i].Weight
		if d.queues[i].Name == queue {
			d.credit[i] -= d.total
		}
		d.credit[i] = max(-d.total, min(d.total, d.credit[i]))
	}
}
