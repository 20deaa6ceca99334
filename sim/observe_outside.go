package sim

import (
	"errors"

	"backwave/checker"
	"backwave/store"
)

// SeenOutside is a call of a handler in Go to the world outside. It may be kept.
type SeenOutside struct {
	Number   int // among all such calls of the world, from 0, in the order in which they leave
	Pump     checker.PumpID
	Key      store.LeaseKey
	Nth      int    // among all calls of its attempt that faults can hit, from 1
	To, Text string // whom, and what, for people
}

type (
	// SawOutsideLeft is a call of a handler in Go to the world outside that
	// leaves.
	SawOutsideLeft struct {
		At   int64
		Call SeenOutside
	}
	// SawOutsideArrived is such a call that arrives and is carried out, whatever
	// has become of its sender.
	SawOutsideArrived struct {
		At     int64
		Call   SeenOutside
		Answer string // for people
	}
	// SawOutsideRefused is such a call that arrives and is refused, without
	// effect.
	SawOutsideRefused struct {
		At   int64
		Call SeenOutside
	}
	// SawOutsideLost is such a call, or the answer to one, that gets lost.
	SawOutsideLost struct {
		At    int64
		Call  SeenOutside
		Reply bool
	}
	// SawOutsideAnswered is an answer to such a call, be it a refusal, that
	// reaches its node.
	SawOutsideAnswered struct {
		At   int64
		Call SeenOutside
		Late bool // nobody waits for it any more
	}
	// SawOutsideGivenUp is a handler that goes on without the answer.
	SawOutsideGivenUp struct {
		At   int64
		Call SeenOutside
		Told bool // it was told to stop, else its patience was over
	}
)

func (SawOutsideLeft) seen()     {}
func (SawOutsideArrived) seen()  {}
func (SawOutsideRefused) seen()  {}
func (SawOutsideLost) seen()     {}
func (SawOutsideAnswered) seen() {}
func (SawOutsideGivenUp) seen()  {}

// waiting is a call outside that a run waits for; runs are used again.
type waiting struct {
	call     SeenOutside
	answered bool
}

// leftOutside is told of call i to the world outside as it leaves.
func (x *witness) leftOutside(i int32) {
	if x.see == nil {
		return
	}
	if x.waits == nil {
		x.waits = map[int32]waiting{}
	}
	o := &x.w.outs[i]
	x.waits[o.run] = waiting{call: o.seen}
	x.see(SawOutsideLeft{At: x.w.now, Call: o.seen})
	if o.hit.loseRequest {
		x.see(SawOutsideLost{At: x.w.now, Call: o.seen})
	}
}

func (x *witness) arrivedOutside(o *outside, answer string) {
	if x.see != nil {
		x.see(SawOutsideArrived{At: x.w.now, Call: o.seen, Answer: answer})
	}
}

func (x *witness) refusedOutside(o *outside) {
	if x.see != nil {
		x.see(SawOutsideRefused{At: x.w.now, Call: o.seen})
	}
}

func (x *witness) lostOutside(o *outside) {
	if x.see != nil {
		x.see(SawOutsideLost{At: x.w.now, Call: o.seen, Reply: true})
	}
}

// answeredOutside is told of an answer that reaches its node, and whether the
// handler still waits for it.
func (x *witness) answeredOutside(o *outside, heard bool) {
	if x.see == nil {
		return
	}
	if heard {
		x.waits[o.run] = waiting{call: o.seen, answered: true}
	}
	x.see(SawOutsideAnswered{At: x.w.now, Call: o.seen, Late: !heard})
}

// goesOn is told of a handler that is about to go on, and with what error.
func (x *witness) goesOn(i int32, key store.LeaseKey, err error) {
	if x.see == nil {
		return
	}
	if q, ok := x.waits[i]; ok {
		delete(x.waits, i)
		if q.call.Key == key && !q.answered {
			x.see(SawOutsideGivenUp{At: x.w.now, Call: q.call, Told: errors.Is(err, ErrTold)})
		}
	}
}
