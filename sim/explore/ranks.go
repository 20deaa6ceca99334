package explore

import (
	"slices"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// ranks is a small ordered set of numbers of which only the order matters: the
// canonical form of one is its place, from 1. 0 is no number.
type ranks []uint64

func (r *ranks) add(v uint64) {
	if v == 0 {
		return
	}
	s := *r
	i := len(s)
	for i > 0 && s[i-1] >= v {
		if s[i-1] == v {
			return
		}
		i--
	}
	s = append(s, 0)
	copy(s[i+1:], s[i:])
	s[i] = v
	*r = s
}

// of returns the place of v, which must be in the set.
func (r ranks) of(v uint64) byte {
	if v == 0 {
		return 0
	}
	for i, x := range r {
		if x == v {
			return byte(i + 1)
		}
	}
	panic("explore: a number that nobody has gathered")
}

// gatherer is a Walker that collects the numbers of calls and claims, and
// changes nothing.
type gatherer struct {
	m *machine
	p *process
}

// Text implements pump.Walker, as the others do.
func (g *gatherer) Text(*string)            {}
func (g *gatherer) Byte(*uint8)             {}
func (g *gatherer) Bool(*bool)              {}
func (g *gatherer) Int(*int)                {}
func (g *gatherer) Due(*pump.Time)          {}
func (g *gatherer) Since(*pump.Time)        {}
func (g *gatherer) AnyDue(*pump.Time)       {}
func (g *gatherer) Span(*time.Duration)     {}
func (g *gatherer) Outcome(*store.Outcome)  {}
func (g *gatherer) Bytes(*[]byte)           {}
func (g *gatherer) Len(have int) (want int) { return have }
func (g *gatherer) Key(k *store.LeaseKey) {
	if g.p != nil {
		g.m.about(g.p, *k)
	}
}
func (g *gatherer) LastOp(*pump.Op) {}
func (g *gatherer) Op(o *pump.Op) {
	if g.p != nil && *o != 0 {
		g.p.ops = append(g.p.ops, *o)
	}
}

func (g *gatherer) Number(n *uint64) {
	if g.p != nil {
		g.p.numbers.add(*n)
	}
}

// about notes that p has to do with an attempt.
func (m *machine) about(p *process, k store.LeaseKey) {
	p.numbers.add(k.Claim)
	p.keys = append(p.keys, k)
	p.touches |= 1 << m.jobOf(k.Job)
}

// over reports whether job i has ended and nobody has to do with it any more:
// all that is kept of it is that.
func (m *machine) over(i int) bool {
	return m.touched&(1<<i) == 0 && m.row(i).State.Terminal()
}

// gather collects the numbers of p: of its pump, its calls, and the rows that
// it leased; and which jobs it has to do with.
func (m *machine) gather(p *process) {
	p.ops, p.numbers, p.keys, p.touches = p.ops[:0], p.numbers[:0], p.keys[:0], 0
	if p.alive {
		p.pump.Walk(&gatherer{m, p})
		for i := range p.runs {
			m.about(p, p.runs[i].key)
		}
		p.book.gather(m, p)
	}
	for i := range p.calls {
		c := &p.calls[i]
		switch req := c.req.(type) {
		case *store.Claim:
			p.numbers.add(req.Number)
		case *store.Renew:
			for k := range req.Rows {
				m.about(p, req.Rows[k].Key)
			}
		case *store.Report:
			for k := range req.Rows {
				m.about(p, req.Rows[k].Key)
			}
		case *store.Sweep, *store.Enqueue, *store.Do:
		}
		if r, ok := c.reply.(*store.Claimed); ok {
			for k := range r.Leases {
				m.about(p, r.Leases[k].Key)
			}
		}
	}
	for i := range m.opt.Jobs {
		row := m.row(i)
		if row.State == store.Executing && row.Worker == p.name {
			p.numbers.add(row.Claim)
		}
		for k := range row.Ends {
			if e := &row.Ends[k]; e.Worker == p.name && p.mayReport(row.ID, e) {
				p.numbers.add(e.Claim)
			}
		}
	}
}

// mayReport reports whether p may still send, or has under way, a report that
// the recorded end e of a job would answer. What it does not know it cannot
// report; more is told apart than needs be.
func (p *process) mayReport(id store.JobID, e *store.End) bool {
	return slices.Contains(p.keys, store.LeaseKey{Job: id, Attempt: e.Attempt, Claim: e.Claim})
}

func (b *book) gather(m *machine, p *process) {
	if b.stood {
		return
	}
	p.numbers.add(b.number)
	for i := range b.holds {
		m.about(p, b.holds[i].key)
	}
}
