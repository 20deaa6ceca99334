package sim

import "math"

// never is later than any true time of a world.
const never = math.MaxInt64

// kind says what an event is about.
type kind uint8

const (
	evApply    kind = iota + 1 // ref: call; the request reaches the store
	evReply                    // ref: call; the answer reaches its sender
	evReturn                   // ref: run; its handler ends
	evProgress                 // ref: run
	evWake                     // ref: pump; only while its node stood still
	evHint                     // ref: pump
	evBoot                     // ref: node
	evExit                     // ref: node; the process ends at last
	evFault                    // ref: index into the timeline; step: which part of it
	evEnqueue                  // ref: job; its client sends, or sends again
	evProbe                    // ref: index into the expectations of health
	evHandler                  // ref: run; its handler in Go goes on
	evOutside                  // ref: index into outs; step: its request, or the answer
)

// event is one entry of the world's queue.
type event struct {
	at   int64  // true time, ns
	seq  uint64 // order of entry: breaks ties
	ref  int32
	gen  uint32 // of what ref names; a stale one is ignored
	kind kind
	step uint8
}

func (e *event) before(o *event) bool {
	return e.at < o.at || (e.at == o.at && e.seq < o.seq)
}

// queue is a 4-ary heap of events by (at, seq): a third of the cost of
// container/heap, which boxes every entry.
type queue struct {
	heap []event
	seq  uint64
}

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
}

// next returns when the first event is due, never if there is none.
func (q *queue) next() int64 {
	if len(q.heap) == 0 {
		return never
	}
	return q.heap[0].at
}

func (q *queue) pop() event {
	h := q.heap
	top := h[0]
	n := len(h) - 1
	last := h[n]
	q.heap = h[:n]
	if n == 0 {
		return top
	}
	h = h[:n]
	i := 0
	for {
		c := 4*i + 1
		if c >= n {
			break
		}
		best := c
		for k := c + 1; k < min(c+4, n); k++ {
			if h[k].before(&h[best]) {
				best = k
			}
		}
		if !h[best].before(&last) {
			break
		}
		h[i] = h[best]
		i = best
	}
	h[i] = last
	return top
}

// timers holds at most one wake-up per pump: a heap with positions, so that a
// timer that is set again leaves nothing stale behind.
type timers struct {
	heap []int32 // pumps
	pos  []int32 // by pump; -1 = not set
	at   []int64 // by pump
}

func (t *timers) grow() {
	t.pos = append(t.pos, -1)
	t.at = append(t.at, never)
}

func (t *timers) next() int64 {
	if len(t.heap) == 0 {
		return never
	}
	return t.at[t.heap[0]]
}

func (t *timers) less(a, b int32) bool {
	return t.at[a] < t.at[b] || (t.at[a] == t.at[b] && a < b)
}

// set makes pump p due at at; never takes it out.
func (t *timers) set(p int32, at int64) {
	i := t.pos[p]
	switch {
	case at == never && i < 0:
		return
	case at == never:
		t.remove(i)
		return
	case i < 0:
		i = int32(len(t.heap))
		t.heap = append(t.heap, p)
		t.pos[p] = i
	case t.at[p] == at:
		return
	}
	t.at[p] = at
	t.down(t.up(i))
}

func (t *timers) remove(i int32) {
	n := int32(len(t.heap)) - 1
	t.pos[t.heap[i]] = -1
	if i != n {
		t.heap[i] = t.heap[n]
		t.pos[t.heap[i]] = i
	}
	t.heap = t.heap[:n]
	if i != n {
		t.down(t.up(i))
	}
}

func (t *timers) up(i int32) int32 {
	for i > 0 {
		up := (i - 1) / 2
		if !t.less(t.heap[i], t.heap[up]) {
			break
		}
		t.swap(i, up)
		i = up
	}
	return i
}

func (t *timers) down(i int32) {
	n := int32(len(t.heap))
	for {
		c := 2*i + 1
		if c >= n {
			return
		}
		if c+1 < n && t.less(t.heap[c+1], t.heap[c]) {
			c++
		}
		if !t.less(t.heap[c], t.heap[i]) {
			return
		}
		t.swap(i, c)
		i = c
	}
}

func (t *timers) swap(i, j int32) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.pos[t.heap[i]], t.pos[t.heap[j]] = i, j
}
