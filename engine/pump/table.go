package pump

import (
	"slices"

	"backwave/store"
)

// held is one attempt that the pump still has to do with: its handler runs, or
// its outcome has not reached the store.
type held struct {
	key  store.LeaseKey
	sent Time // the own view counts from here: send of the renewal, or first send of the claim number

	running   bool // the handler has not returned
	lost      bool // the own view is over, or a renewal was refused
	abandoned bool // no longer renewed: the handler ignores that it was told to stop
	told      Reason

	completion completion // by a transaction of the handler

	timeoutAt  Time // Never if the name has no timeout
	abandonAt  Time // Never until the handler was told to stop
	doubtUntil Time // 0, or until when a view that a jump of the wall clock ended is only in doubt

	outcome  store.Outcome // nil while running
	inReport bool          // in the report in flight
	lastTry  bool          // lost, but a success may still be sent once
	again    Time          // not to be reported before; 0 = at once
	progress []byte        // not known to be carried by a renewal; nil = none
	carried  bool          // progress is what the last renewal took along
}

// ready reports whether h waits to be put into a report.
func (h *held) ready() bool { return h.outcome != nil && !h.inReport }

// table holds attempts in the order of their keys. Slots are reused and moved
// never, so that one attempt more or less costs a shift of a few small
// integers.
type table struct {
	slots []held
	free  []int32
	order []int32 // indices into slots, by key
}

func (t *table) len() int { return len(t.order) }

// at returns the attempt at position i of the order.
func (t *table) at(i int) *held { return &t.slots[t.order[i]] }

// find returns the position of key, or where it would be.
func (t *table) find(key store.LeaseKey) (int, bool) {
	lo, hi := 0, len(t.order)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		c := t.slots[t.order[mid]].key.Compare(key)
		switch {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// lookup returns the attempt of key, or nil.
func (t *table) lookup(key store.LeaseKey) *held {
	if i, ok := t.find(key); ok {
		return t.at(i)
	}
	return nil
}

// insert adds h at position i, where find has missed its key.
func (t *table) insert(i int, h held) {
	slot := int32(len(t.slots))
	if n := len(t.free); n > 0 {
		slot = t.free[n-1]
		t.free = t.free[:n-1]
		t.slots[slot] = h
	} else {
		t.slots = append(t.slots, h)
	}
	t.order = slices.Insert(t.order, i, slot)
}

// remove drops the attempt at position i of the order. It is most often near
// the start, among the oldest, so that the shorter side is what moves.
func (t *table) remove(i int) {
	slot := t.order[i]
	t.slots[slot] = held{}
	t.free = append(t.free, slot)
	if i >= len(t.order)/2 {
		t.order = slices.Delete(t.order, i, i+1)
		return
	}
	copy(t.order[1:], t.order[:i])
	t.order = t.order[1:]
}

func (t *table) clone() table {
	return table{slots: slices.Clone(t.slots), free: slices.Clone(t.free), order: slices.Clone(t.order)}
}
