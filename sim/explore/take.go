package explore

import (
	"errors"
	"slices"

	"backwave/engine/pump"
	"backwave/store"
)

// take makes mv happen.
func (m *machine) take(mv move) {
	if mv.do >= crash {
		m.left--
	}
	switch mv.do {
	case boot:
		m.bootOne()
		return
	case tick:
		m.now = m.now.Add(Tick)
		m.ticks++
		m.moved = true
		return
	case cancel:
		m.cancel(int(mv.at))
		return
	case wake, succeed, fail, resume, crash, pause, drain:
		m.procs[mv.proc].dirty = true
		m.takeNode(m.procs[mv.proc], mv)
	case apply, deliver, vanish, lose, delay, delayBack, double, refuse, refuseBadly:
		m.procs[mv.proc].dirty = true
		m.takeCall(m.procs[mv.proc], mv)
	}
}

func (m *machine) takeNode(p *process, mv move) {
	switch mv.do {
	case wake:
		p.book.advance(m)
		m.step(p, pump.Woken{})
	case succeed:
		m.returned(p, int(mv.at), store.Success{})
	case fail:
		m.returned(p, int(mv.at), store.Failure{Error: failed})
	case resume:
		m.tell(p, "goes on")
		p.paused = false
	case crash:
		m.seen |= sawCrash
		m.tell(p, "CRASHES")
		m.die(p)
	case pause:
		m.seen |= sawPause
		m.tell(p, "STANDS STILL")
		p.paused = true
	case drain:
		m.tell(p, "is asked to shut down")
		p.asked = true
		p.book.drainAsked(m)
		m.step(p, pump.Drained{})
	case apply, deliver, boot, vanish, tick, lose, delay, delayBack, double, cancel, refuse, refuseBadly:
	}
}

func (m *machine) takeCall(p *process, mv move) {
	c := &p.calls[mv.at]
	switch mv.do {
	case apply:
		m.apply(p, c)
		switch {
		case !p.alive:
			p.drop(mv.at)
		case m.opt.Fused && !p.paused:
			m.deliver(p, mv.at)
		}
	case deliver:
		m.deliver(p, mv.at)
	case vanish:
		m.tell(p, "is gone, and its %s is lost on the way", c.kind)
		p.drop(mv.at)
	case lose:
		if !c.answered {
			m.apply(p, c)
		}
		m.seen |= sawLostReply
		m.tell(p, "will not hear the answer to its %s: the reply is LOST", c.kind)
		p.drop(mv.at)
	case delay:
		m.tell(p, "has its %s DELAYED on the way to the store", c.kind)
		c.late = true
	case delayBack:
		if !c.answered {
			m.apply(p, c)
		}
		m.tell(p, "has the answer to its %s DELAYED", c.kind)
		c.late = true
	case double:
		m.tell(p, "has its %s DOUBLED on the way to the store", c.kind)
		twin := *c
		twin.late = true
		p.calls = append(p.calls, twin)
	case refuse, refuseBadly:
		c.answered, c.refused, c.failed = true, true, store.FaultConnection
		if mv.do == refuseBadly {
			c.failed = store.FaultFatal
		}
		m.tell(p, "has its %s REFUSED: %s error", c.kind, c.failed)
		if m.opt.Fused && !p.paused {
			m.deliver(p, mv.at)
		}
	case wake, succeed, fail, resume, boot, tick, crash, pause, drain, cancel:
	}
}

func (p *process) drop(at uint8) { p.calls = slices.Delete(p.calls, int(at), int(at)+1) }

// apply has the store carry out c.
func (m *machine) apply(p *process, c *call) {
	reply, err := m.store.Apply(c.req)
	if err != nil {
		m.breach("crash", "the store refuses a request of a pump: %v", err)
		return
	}
	c.reply, c.answered = reply, true
	m.moved = m.moved || len(m.store.Changes()) > 0
	m.tellApplied(p, c)
	m.applied(p, c)
	if r, ok := reply.(*store.Claimed); ok {
		c.leases = c.leases[:0:0]
		for i := range r.Leases {
			c.leases = append(c.leases, m.live(m.jobOf(r.Leases[i].Key.Job)))
		}
	}
}

var errRefused = errors.New("refused")

// deliver hands the answer to the call at at to the pump of p, as the shell
// does.
func (m *machine) deliver(p *process, at uint8) {
	c := p.calls[at]
	p.drop(at)
	for k := range p.calls {
		p.calls[k].heard = p.calls[k].heard || p.calls[k].op == c.op
	}
	m.tellAnswer(p, &c)
	p.book.advance(m)
	m.answered(p, &c)
	switch r := c.reply.(type) {
	case nil:
		m.step(p, pump.Failed{Op: c.op, Fault: c.failed, Type: "error", Text: errRefused.Error()})
	case *store.Claimed:
		m.step(p, pump.Claimed{Op: c.op, Leases: r.Leases, HasNext: r.HasNext, Next: r.Next})
	case *store.Renewed:
		m.step(p, pump.Renewed{Op: c.op, Rows: r.Rows})
	case *store.Reported:
		m.step(p, pump.Reported{Op: c.op, Rows: r.Rows})
	case *store.Swept:
		m.step(p, pump.Swept{Op: c.op, Disposed: len(r.Disposed)})
	case *store.Enqueued, *store.Done:
		panic("explore: a pump does not enqueue")
	}
}

// failed is the text of every failure: texts decide nothing.
const failed = "failed"

func (m *machine) returned(p *process, at int, o store.Outcome) {
	r := p.runs[at]
	p.runs = slices.Delete(p.runs, at, at+1)
	m.tell(p, "%s, attempt %d, returns: %s", m.nameOf(r.key), r.key.Attempt, o.Kind())
	p.book.advance(m)
	p.book.returned(m, r.key, o)
	m.step(p, pump.Returned{Key: r.key, Outcome: o})
}

// bootOne starts the first node that is down.
func (m *machine) bootOne() {
	for n := range m.opt.Nodes {
		start, up := 0, false
		for _, p := range m.procs {
			up = up || p.alive && p.node == n
		}
		if start = m.r.starts[n] + 1; !up {
			m.r.starts[n] = start
			m.boot(n, start)
			return
		}
	}
}

func (m *machine) cancel(i int) {
	m.say("operator", "cancels %s", m.jobs[i].name)
	reply, err := m.store.Apply(&store.Do{Actor: "operator", RequestID: "r", Command: store.Cancel{Job: m.jobs[i].id}})
	if err != nil {
		m.breach("crash", "the store refuses a cancel: %v", err)
		return
	}
	m.moved = true
	m.cancelled(i, reply.(*store.Done).Result)
}
