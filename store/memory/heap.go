package memory

// The heaps are slices of slots; places keeps the key and the position of
// every slot, so that a row in the middle can be moved or taken out.

// before orders two rows of one heap. Slots are in the order of enqueue.
func (s *Store) before(a, b int32) bool {
	ka, kb := s.places[a].key, s.places[b].key
	return ka < kb || ka == kb && a < b
}

// push adds a slot that is in no heap.
func (s *Store) push(h *[]int32, slot int32) {
	*h = append(*h, slot)
	s.up(*h, int32(len(*h)-1))
}

// remove takes a slot out, if it is in a heap at all.
func (s *Store) remove(h *[]int32, slot int32) {
	pos := s.places[slot].pos
	if pos < 0 {
		return
	}
	s.places[slot].pos = -1
	last := int32(len(*h) - 1)
	moved := (*h)[last]
	*h = (*h)[:last]
	if pos < last {
		(*h)[pos] = moved
		s.fix(*h, pos)
	}
}

// fix moves the slot at pos to where its key wants it.
func (s *Store) fix(h []int32, pos int32) {
	slot := h[pos]
	s.down(h, pos)
	if h[pos] == slot {
		s.up(h, pos)
	}
}

func (s *Store) up(h []int32, pos int32) {
	slot := h[pos]
	for pos > 0 {
		parent := (pos - 1) / 2
		if !s.before(slot, h[parent]) {
			break
		}
		h[pos] = h[parent]
		s.places[h[pos]].pos = pos
		pos = parent
	}
	h[pos] = slot
	s.places[slot].pos = pos
}

func (s *Store) down(h []int32, pos int32) {
	slot := h[pos]
	for n := int32(len(h)); 2*pos+1 < n; {
		child := 2*pos + 1
		if child+1 < n && s.before(h[child+1], h[child]) {
			child++
		}
		if !s.before(h[child], slot) {
			break
		}
		h[pos] = h[child]
		s.places[h[pos]].pos = pos
		pos = child
	}
	h[pos] = slot
	s.places[slot].pos = pos
}
