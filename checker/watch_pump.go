package checker

import (
	"slices"

	"backwave/store"
)

// phase is where a pump is in its life, as far as the world asked it.
type phase uint8

const (
	phaseServing phase = iota
	phaseFinishing
	phaseDraining
)

// pumpBook is what the Watch knows of one start of a pump. All instants are of
// its node's time, in ns.
type pumpBook struct {
	info   PumpInfo
	view   int64   // how long after a send a lease may be believed in
	retry  int64   // how long after a failed renewal the next one goes out
	queues []int32 // served

	dead   bool
	phase  phase
	limit  int64 // end of finishing, or of draining
	fatal  bool  // it met what must fail-stop it
	halted bool
	marks  uint8 // degraded marks that it last showed

	lanes    [CallSweep + 1]lane
	degraded uint8 // a bit per kind whose last ended call failed transiently

	soon     int64 // nothing comes due by itself before; may be early
	advanced int64 // node time up to which dues are booked

	holds   []hold // by key
	running int

	number, closed uint64 // claim number sent last; highest one that was answered in time
	first          int64  // first send of number
	open           bool   // number was not answered
	took           uint64 // highest number that took leases, and their ghosts
	tookFrom       Ghost
	tookTo         Ghost

	urgent   bool // a renewal must go out at once
	sweepDue int64
	pollDue  int64 // the longest interval after the last claim was sent
	anyFrom  int64 // last send of a sweep of any queue, or the beginning
}

// lane is the call of one kind that is in flight.
type lane struct {
	call   *Call
	giveUp int64 // when it counts as failed
	hold   int64 // no other before, after a fault
}

// hold is one attempt that a pump has to do with.
type hold struct {
	key   store.LeaseKey
	ghost Ghost
	sent  int64 // the own view counts from here
	doubt int64 // a view that a jump of the wall clock ended is only in doubt until then

	completion completion

	running   bool
	lost      bool // the own view is over, or a renewal was refused
	cancel    bool // a renewal's answer carried a cancel
	timedOut  bool
	abandoned bool
	told      Why
	timeoutAt int64
	abandonAt int64

	fresh    bool          // answered in this step, not started yet
	optional bool          // need not be given back: learned late, in a drain
	damaged  bool          // the row cannot be read
	engine   bool          // the outcome is not a handler's
	owed     store.EndKind // outcome that the store has not decided; 0 = none, or the engine's choice
	inReport bool
	lastSent int   // sends of the outcome after the lease was lost
	again    int64 // not to be sent before
}

// owes reports whether an outcome waits to be decided by the store.
func (h *hold) owes() bool { return !h.running }

// PumpBegan tells that a pump starts.
func (w *Watch) PumpBegan(info PumpInfo, trueNow, node int64) {
	w.time(trueNow)
	p := &pumpBook{
		info: info, view: int64(info.Lease - info.Lease/50), retry: int64(min(info.Poll, info.Lease/20)),
		limit: forever, soon: node, advanced: node - 1,
		sweepDue: node + int64(info.Maintenance), anyFrom: node,
		pollDue: node + int64(max(info.Poll, info.MaxPoll)),
	}
	for _, q := range info.Queues {
		p.queues = append(p.queues, w.queue(q))
	}
	for len(w.pumps) <= int(info.ID) {
		w.pumps = append(w.pumps, nil)
	}
	w.pumps[info.ID] = p
}

// PumpDied tells that the process of a pump ended: its memory and its handlers
// are gone. Calls under way may still arrive.
func (w *Watch) PumpDied(id PumpID, trueNow int64) {
	w.time(trueNow)
	if p := w.pump(id); p != nil {
		p.dead = true
		p.holds, p.running = nil, 0
	}
}

// pump returns the book of a pump, dead or alive; nil for clients.
func (w *Watch) pump(id PumpID) *pumpBook {
	if id < 0 || int(id) >= len(w.pumps) {
		return nil
	}
	return w.pumps[id]
}

// alive returns the book of a pump at node time now, with what has come due by
// then booked; nil if it is dead or halted, and nothing is asked of it.
func (w *Watch) alive(id PumpID, node int64) *pumpBook {
	p := w.pump(id)
	if p == nil || p.dead {
		return nil
	}
	p.advance(node)
	return p
}

// find returns the attempt of key, or nil.
func (p *pumpBook) find(key store.LeaseKey) *hold {
	if i, ok := p.place(key); ok {
		return &p.holds[i]
	}
	return nil
}

// place finds key by hand: slices.BinarySearchFunc would copy every attempt it
// looks at.
func (p *pumpBook) place(key store.LeaseKey) (int, bool) {
	lo, hi := 0, len(p.holds)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := p.holds[mid].key.Compare(key); {
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

func (p *pumpBook) add(h hold) {
	i, _ := p.place(h.key)
	p.holds = slices.Insert(p.holds, i, h)
}

func (p *pumpBook) remove(key store.LeaseKey) {
	if i, ok := p.place(key); ok {
		p.holds = slices.Delete(p.holds, i, i+1)
	}
}

// viewEnd is when the own view of h is over.
func (p *pumpBook) viewEnd(h *hold) int64 {
	if h.completion.apart {
		return forever
	}
	return max(h.sent+p.view, h.doubt)
}

// keeps reports whether the lease of h is to be renewed.
func (p *pumpBook) keeps(h *hold) bool {
	return !h.lost && !h.abandoned && !h.completion.apart && (p.phase != phaseDraining || h.owes())
}

// over reports whether a drain has used up its time.
func (p *pumpBook) over(node int64) bool { return p.phase == phaseDraining && node >= p.limit }

// drop reports whether the outcome of h comes to nothing, once its lease is
// lost: of what was returned only a success may still be sent, once.
func (h *hold) drop() bool {
	return h.lost && (h.lastSent > 0 || h.owed != store.EndSuccess)
}
