package explore

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"backwave/engine/pump"
)

// worlds are small worlds that have everything in them.
var worlds = []Options{
	{Nodes: 2, Jobs: 1, Faults: 3},
	{Nodes: 2, Jobs: 2, Faults: 3, Pool: 2, Sweep: 1},
	{Nodes: 1, Jobs: 2, Faults: 4, Pool: 2, Fused: true, Attempts: 3},
	{Nodes: 2, Jobs: 1, Faults: 3, Kinds: every, Release: true},
	{Nodes: 2, Jobs: 1, Faults: 3, Kinds: every, Finish: true, Timeout: true},
	{Nodes: 3, Jobs: 2, Faults: 2, Fused: true},
}

// raw is a machine that goes on and on: its calls, claims and times count up,
// its history grows, and nothing is put into canonical form.
type raw struct {
	*machine
	born int
}

// take takes a move, and lets nobody have the name of somebody who is gone.
func (r *raw) take(mv move) {
	r.machine.take(mv)
	kept := r.procs[:0:0]
	for _, p := range r.procs {
		if p.alive || len(p.calls) > 0 {
			kept = append(kept, p)
		}
	}
	r.procs = kept
	for i := range r.pool {
		if p := &r.pool[i]; r.process(p.name) != p {
			r.born++
			p.name = fmt.Sprintf("x%d", r.born)
		}
	}
	r.round()
	r.know()
}

// rounder is a Walker that moves what comes due between two ticks to the later
// one, as the abstraction of time has it.
type rounder struct {
	gatherer
	now pump.Time
}

// Due implements pump.Walker.
func (r *rounder) Due(t *pump.Time) {
	if d := t.Sub(r.now); *t != pump.Never && d > 0 {
		for *t = r.now; t.Sub(r.now) < d; {
			*t = t.Add(Tick)
		}
	}
}

// round rounds all times of r.
func (r *raw) round() {
	w := &rounder{now: r.now}
	for _, p := range r.procs {
		if !p.alive {
			continue
		}
		p.pump.Walk(w)
		b := &p.book
		times := []*pump.Time{&b.limit, &b.sweepDue, &b.pollDue}
		for k := range b.lanes {
			times = append(times, &b.lanes[k].giveUp, &b.lanes[k].hold)
		}
		for i := range b.holds {
			times = append(times, &b.holds[i].timeoutAt, &b.holds[i].abandonAt, &b.holds[i].again)
		}
		for _, t := range times {
			w.Due(t)
		}
	}
}

// know marks the calls that nobody waits for, which a reader sees as stale.
func (r *raw) know() {
	for _, p := range r.procs {
		p.raw = nil // it was not read
		r.gather(p)
		for i := range p.calls {
			if c := &p.calls[i]; !slices.Contains(p.ops, c.op) {
				c.op = staleOp
			}
		}
	}
}

// next returns what the moves of m from state lead to, with as many zeros as
// there are that it does not survive.
func next(m *machine, state []byte) (out [][]byte) {
	m.load(state)
	for i, mv := range m.moves(nil) {
		if i > 0 {
			m.again()
		}
		out = append(out, m.try(mv, nil))
	}
	return out
}

// The canonical form forgets nothing that matters: a machine that is put into
// it at every step can do exactly what one can do that never is.
func TestCanonicalFormForgetsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom(worlds).Draw(t, "world").Resolved()
		r := &raw{machine: newMachine(o)}
		r.begin()
		r.know()
		form := newMachine(o)
		r.thorough, form.thorough = true, true // which of two hasty moves goes first is another matter
		state := r.save(nil)
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			moves := r.moves(nil)
			ways := next(form, state)
			if len(ways) != len(moves) {
				t.Fatalf("%d moves, and in canonical form %d", len(moves), len(ways))
			}
			mv := moves[rapid.IntRange(0, len(moves)-1).Draw(t, "move")]
			r.take(mv)
			if r.bad != nil {
				t.Fatalf("%+v", *r.bad)
			}
			state = r.save(nil)
			found := false
			for _, way := range ways {
				found = found || bytes.Equal(way, state)
			}
			if !found {
				t.Fatalf("no move from the canonical form leads to where move %+v led:\n%v\nbut to %v", mv, state, ways)
			}
		}
	})
}

// What was written is read and written again as it was.
func TestStatesSurviveReading(t *testing.T) {
	for _, o := range worlds {
		m := newMachine(o.Resolved())
		m.begin()
		state := m.save(nil)
		for i := range 3000 {
			m.load(state)
			for _, p := range m.procs {
				p.dirty = true // else the bytes are used again
			}
			if again := m.save(nil); !bytes.Equal(again, state) {
				t.Fatalf("%+v: read and written again\n got %v\nwant %v", o, again, state)
			}
			ways := next(m, state)
			state = ways[i*7%len(ways)]
		}
	}
}
