package pump

import (
	"time"

	"backwave/store"
)

// Walker is shown everything that the next steps of a pump depend on, in a
// fixed order, and may replace it: so it can write a pump down, and make
// another one the same. Values of one method are of one kind, so that a Walker
// can put them into a form that does not depend on when and after how many
// calls a pump came to be as it is.
type Walker interface {
	Text(*string) // the worker; the text of a fault, of which only whether there is one decides anything
	Byte(*uint8)
	Bool(*bool)
	Int(*int)
	Op(*Op)                  // only equality decides anything; 0 is none
	LastOp(*Op)              // the highest so far; none after it may be like one that is waited for
	Number(*uint64)          // of a claim; only order and equality decide anything
	Key(*store.LeaseKey)     // its Claim is as of Number
	Due(*Time)               // an instant to come; how far it is past decides nothing
	Since(*Time)             // an instant that is counted from, at most a lease
	AnyDue(*Time)            // when the next sweep covers any queue
	Span(*time.Duration)     // a length of time
	Outcome(*store.Outcome)  // may be nil
	Bytes(*[]byte)           // may be nil
	Len(have int) (want int) // of the list that follows; have is as it is, want as it shall be
}

// Walk shows w the state of p. What is left out is what New made of the
// configuration, and what no later step looks at: the times of a lane that is
// idle, the send that a lost lease rested on, everything but the handlers of a
// pump that has ended.
func (p *Pump) Walk(w Walker) {
	w.Text(&p.worker)
	w.Byte((*uint8)(&p.phase))
	w.Int(&p.running)
	if p.phase >= stopped {
		p.walkEnded(w)
		return
	}
	w.LastOp(&p.op)
	for k := range kinds {
		p.lanes[k].walk(w)
	}
	n := p.held.resize(w.Len(p.held.len()))
	for i := range n {
		p.held.at(i).walk(w)
	}
	p.claiming.walk(w)
	for i := range p.dispatch.credit {
		w.Int(&p.dispatch.credit[i])
	}
	w.Int(&p.waiting)
	// Both may be early, and how early decides nothing; too late they must stay.
	soon := Never
	for i := range n {
		soon = min(soon, p.attention(p.held.at(i)))
	}
	beat, _ := p.oldest()
	p.soon, p.beat = max(p.soon, soon), max(p.beat, beat)
	w.Due(&p.soon)
	w.Due(&p.beat)
	w.Bool(&p.urgent)
	w.AnyDue(&p.anyDue)
	w.Due(&p.limit)
}

// walkEnded shows the handlers that may still return.
func (p *Pump) walkEnded(w Walker) {
	n := 0
	for i := range p.held.len() {
		if p.held.at(i).running {
			n++
		}
	}
	want := w.Len(n)
	if want != n {
		p.held.resize(want)
		for i := range want {
			p.held.at(i).running = true
		}
	}
	for i := range p.held.len() {
		if h := p.held.at(i); h.running {
			w.Key(&h.key)
		}
	}
}

// Blank makes p what New made of it, but for what Walk shows, and moves it to
// now: a Walker that replaces all it is shown then makes it any pump of the
// same configuration.
func (p *Pump) Blank(now Time) {
	p.now = now
	p.lanes = [kinds]lane{}
	p.held.slots, p.held.free, p.held.order = p.held.slots[:0], p.held.free[:0], p.held.order[:0]
	p.claiming = claiming{awaited: p.claiming.awaited[:0], accepted: p.claiming.accepted[:0]}
	p.waiting = 0
	p.phase, p.op, p.running = serving, 0, 0
	p.soon, p.beat, p.limit, p.anyDue, p.urgent = Never, Never, Never, Never, false
}

func (l *lane) walk(w Walker) {
	w.Op(&l.op)
	w.Due(&l.due)
	w.Text(&l.fault)
	if l.op == 0 {
		w.Due(&l.hold)
		return
	}
	w.Since(&l.sent)
	w.Due(&l.giveUp)
	w.Bool(&l.any)
	if n := w.Len(len(l.renew)); n != len(l.renew) {
		l.renew = make([]store.RenewRow, n)
	}
	for i := range l.renew {
		w.Key(&l.renew[i].Key)
		w.Bytes(&l.renew[i].Progress)
	}
	if n := w.Len(len(l.report)); n != len(l.report) {
		l.report = make([]store.ReportRow, n)
	}
	for i := range l.report {
		w.Key(&l.report[i].Key)
		w.Outcome(&l.report[i].Outcome)
	}
}

func (h *held) walk(w Walker) {
	w.Key(&h.key)
	w.Bool(&h.lost)
	if !h.lost {
		w.Since(&h.sent)
	}
	w.Bool(&h.running)
	w.Bool(&h.abandoned)
	w.Byte((*uint8)(&h.told))
	w.Byte((*uint8)(&h.completion))
	w.Due(&h.timeoutAt)
	w.Due(&h.abandonAt)
	w.Due(&h.doubtUntil)
	w.Outcome(&h.outcome)
	w.Bool(&h.inReport)
	w.Bool(&h.lastTry)
	w.Due(&h.again)
	w.Bytes(&h.progress)
	w.Bool(&h.carried)
}

func (c *claiming) walk(w Walker) {
	w.Number(&c.number)
	w.Bool(&c.open)
	if c.open {
		w.Since(&c.first)
	}
	w.Due(&c.nextPoll)
	w.Span(&c.interval)
	w.Bool(&c.more)
	w.Bool(&c.hinted)
	if n := w.Len(len(c.awaited)); n != len(c.awaited) {
		c.awaited = make([]sentClaim, n)
	}
	for i := range c.awaited {
		a := &c.awaited[i]
		w.Op(&a.op)
		w.Number(&a.number)
		w.Since(&a.first)
	}
	if n := w.Len(len(c.accepted)); n != len(c.accepted) {
		c.accepted = make([]store.LeaseKey, n)
	}
	for i := range c.accepted {
		w.Key(&c.accepted[i])
	}
}

// resize makes t a table of n attempts, blank ones unless it is one already,
// and returns n.
func (t *table) resize(n int) int {
	if n == len(t.order) {
		return n
	}
	t.slots, t.free, t.order = t.slots[:0], t.free[:0], t.order[:0]
	for i := range n {
		t.slots = append(t.slots, held{})
		t.order = append(t.order, int32(i))
	}
	return n
}
