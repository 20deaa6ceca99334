package explore

import (
	"math/bits"
	"sync" //det:ok shards of the set; which of two workers comes first decides nothing
)

// fingerprint hashes a state. It differs from 0.
func fingerprint(b []byte) uint64 {
	h := uint64(len(b)) ^ 0x9e3779b97f4a7c15
	for len(b) >= 8 {
		x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		h = fold(h^x, 0xa0761d6478bd642f)
		b = b[8:]
	}
	x := uint64(0)
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	h = fold(h^x, 0xe7037ed1a0b428db)
	h = fold(h^h>>32, 0x8ebc6af09c88c6e3)
	return max(h, 1)
}

// fold multiplies to 128 bits and folds them to 64.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x589965cc75374cc3, b)
	return hi ^ lo
}

// The set is cut into shards by bits of a fingerprint that no slot is chosen
// by: sharing them makes slots cluster.
const shards = 64

// set holds the fingerprints of the states that were found, each with that of a
// state one move before it.
type set struct{ shards [shards]shard }

type shard struct {
	mu    sync.Mutex
	slots []found
	used  int
}

// found is a state that was found. The last byte of from is the level that it
// was found on.
type found struct{ state, from uint64 }

const levelBits = 0xff

// add adds a state that was found from another on a level, and reports whether
// it is new. Of several states that lead to one on the same level the smallest
// is remembered, so that nothing depends on who came first.
func (s *set) add(state, from uint64, level int) bool {
	from = from&^levelBits | uint64(level)&levelBits
	h := &s.shards[state>>58]
	h.mu.Lock()
	defer h.mu.Unlock()
	if 4*h.used >= 3*len(h.slots) {
		h.grow()
	}
	f := h.place(state)
	if f.state != 0 {
		if f.from&levelBits == from&levelBits && from < f.from {
			f.from = from
		}
		return false
	}
	*f = found{state, from}
	h.used++
	return true
}

// put adds what another set has found.
func (s *set) put(f found) {
	h := &s.shards[f.state>>58]
	if 4*h.used >= 3*len(h.slots) {
		h.grow()
	}
	*h.place(f.state) = f
	h.used++
}

// place returns where state is, or would be.
func (h *shard) place(state uint64) *found {
	mask := uint64(len(h.slots) - 1)
	for i := state & mask; ; i = (i + 1) & mask {
		if f := &h.slots[i]; f.state == state || f.state == 0 {
			return f
		}
	}
}

func (h *shard) grow() {
	old := h.slots
	h.slots = make([]found, max(1024, 2*len(old)))
	for _, f := range old {
		if f.state != 0 {
			*h.place(f.state) = f
		}
	}
}

// from returns the state, but for its last byte, from which state was found.
func (s *set) from(state uint64) (from uint64, ok bool) {
	f := s.shards[state>>58].place(state)
	return f.from &^ levelBits, f.state != 0
}

// whole returns the state of which start is all but the last byte.
func (s *set) whole(start uint64) (state uint64, ok bool) {
	h := &s.shards[start>>58]
	for b := range uint64(levelBits + 1) {
		if f := h.place(start | b); f.state != 0 {
			return f.state, true
		}
	}
	return 0, false
}

// bytes is how much memory the set takes.
func (s *set) bytes() (n int64) {
	for i := range s.shards {
		s.shards[i].mu.Lock()
		n += int64(len(s.shards[i].slots)) * 16
		s.shards[i].mu.Unlock()
	}
	return n
}
