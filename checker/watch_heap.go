package checker

// The heap of a queue orders its live leases by their end, so that a sweep
// that found nothing is judged by a look at the first.

func (w *Watch) earlier(a, b Ghost) bool {
	x, y := w.lease(a).until, w.lease(b).until
	return x < y || x == y && a < b
}

func (w *Watch) heapAdd(q *queueBook, g Ghost) {
	q.leased = append(q.leased, g)
	w.heapUp(q, int32(len(q.leased)-1))
}

func (w *Watch) heapRemove(q *queueBook, g Ghost) {
	pos := w.lease(g).pos
	if pos < 0 {
		return
	}
	w.lease(g).pos = -1
	last := int32(len(q.leased) - 1)
	moved := q.leased[last]
	q.leased = q.leased[:last]
	if pos < last {
		q.leased[pos] = moved
		w.heapFix(q, pos)
	}
}

func (w *Watch) heapFix(q *queueBook, pos int32) {
	g := q.leased[pos]
	w.heapDown(q, pos)
	if q.leased[pos] == g {
		w.heapUp(q, pos)
	}
}

func (w *Watch) heapUp(q *queueBook, pos int32) {
	g := q.leased[pos]
	for pos > 0 {
		parent := (pos - 1) / 2
		if !w.earlier(g, q.leased[parent]) {
			break
		}
		w.heapPut(q, pos, q.leased[parent])
		pos = parent
	}
	w.heapPut(q, pos, g)
}

func (w *Watch) heapDown(q *queueBook, pos int32) {
	g := q.leased[pos]
	for n := int32(len(q.leased)); 2*pos+1 < n; {
		child := 2*pos + 1
		if child+1 < n && w.earlier(q.leased[child+1], q.leased[child]) {
			child++
		}
		if !w.earlier(q.leased[child], g) {
			break
		}
		w.heapPut(q, pos, q.leased[child])
		pos = child
	}
	w.heapPut(q, pos, g)
}

func (w *Watch) heapPut(q *queueBook, pos int32, g Ghost) {
	q.leased[pos] = g
	w.lease(g).pos = pos
}
