package pump

import (
	"slices"
	"time"

	"backwave/store"
)

// claiming is what a pump remembers of its claims.
type claiming struct {
	number   uint64 // of the next send
	first    Time   // first send of number; meaningful if open
	open     bool   // number was sent and not answered
	nextPoll Time
	interval time.Duration // of idle polls
	more     bool          // the last claim came back full
	hinted   bool

	awaited  []sentClaim      // calls that may still be answered, by age
	accepted []store.LeaseKey // leases taken from an answer while another answer to their number may come
}

// sentClaim is a claim call that has not been answered. Its answer is used
// even when the call was given up long ago.
type sentClaim struct {
	op     Op
	number uint64
	first  Time // first send of number
}

func (c *claiming) clone() claiming {
	d := *c
	d.awaited, d.accepted = slices.Clone(c.awaited), slices.Clone(c.accepted)
	return d
}

// sent books the send of a claim.
func (c *claiming) sent(op Op, now Time) {
	if !c.open {
		c.open, c.first = true, now
	}
	c.awaited = append(c.awaited, sentClaim{op: op, number: c.number, first: c.first})
}

// failed makes the same number go out again, at the next tick.
func (c *claiming) failed(now Time) { c.nextPoll, c.more = now, false }

// expire forgets calls whose answers could bring nothing but leases that are
// over by the own view. A number that old is not sent again either: leases
// that it might still take would be over at once.
func (c *claiming) expire(now Time, view time.Duration) {
	for len(c.awaited) > 0 && c.awaited[0].first.Add(view) <= now {
		c.forget(0)
	}
	if c.open && c.first.Add(view) <= now {
		c.next()
	}
}

// next goes on to the next number.
func (c *claiming) next() {
	c.open = false
	c.number++
	c.tidy()
}

// settle forgets the call op, if it is awaited: it will bring no leases.
func (c *claiming) settle(op Op) {
	if i := slices.IndexFunc(c.awaited, func(s sentClaim) bool { return s.op == op }); i >= 0 {
		c.forget(i)
	}
}

// forget removes the awaited call at i.
func (c *claiming) forget(i int) {
	c.awaited = slices.Delete(c.awaited, i, i+1)
	c.tidy()
}

// tidy forgets the leases of numbers to which no answer can come any more.
func (c *claiming) tidy() {
	c.accepted = slices.DeleteFunc(c.accepted, func(k store.LeaseKey) bool { return !c.mayBring(k.Claim, 0) })
}

// mayBring reports whether leases of the claim number n may come from a call
// other than op: one that is awaited, or one yet to be sent.
func (c *claiming) mayBring(n uint64, op Op) bool {
	return c.open && c.number == n ||
		slices.ContainsFunc(c.awaited, func(s sentClaim) bool { return s.number == n && s.op != op })
}

// free returns how many more handlers may start.
func (p *Pump) free() int { return p.cfg.PoolSize - p.running }

// claimDue returns when the next claim goes out. Outcomes that pile up because
// reports fail stop claims, or memory would be the only bound on them.
func (p *Pump) claimDue() Time {
	if p.phase != serving || p.free() <= 0 || p.waiting >= p.cfg.PoolSize+p.cfg.ReportBatch {
		return Never
	}
	if p.claiming.more || p.claiming.hinted {
		return max(p.now, p.lanes[Claiming].hold)
	}
	return max(p.claiming.nextPoll, p.lanes[Claiming].hold)
}

func (p *Pump) claim() store.Request {
	c := &p.claiming
	c.expire(p.now, p.cfg.view())
	c.hinted = false
	n := min(p.free(), p.cfg.ClaimBatch)
	return &store.Claim{
		Worker: p.worker, Number: c.number, Queues: p.dispatch.quotas(n), Max: n,
		Lease: p.cfg.LeaseDuration, Terms: p.cfg.Terms,
	}
}

func (p *Pump) claimed(ev Claimed, out []Action) []Action {
	c := &p.claiming
	i := slices.IndexFunc(c.awaited, func(s sentClaim) bool { return s.op == ev.Op })
	if i < 0 {
		return out
	}
	s := c.awaited[i]
	asked := p.lanes[Claiming].sent
	inFlight := p.answered(Claiming, ev.Op, &out)
	if c.open && c.number == s.number && (inFlight || p.lanes[Claiming].op == 0) {
		c.next()
	}
	out = p.accept(s, ev.Leases, !inFlight, out)
	c.forget(i)
	if inFlight {
		p.pace(ev, asked)
	}
	return out
}

// accept takes over the leases of an answer.
func (p *Pump) accept(s sentClaim, leases []store.Lease, late bool, out []Action) []Action {
	if s.first.Add(p.cfg.view()) <= p.now {
		return out // over by the own view: left to lapse
	}
	again := p.claiming.mayBring(s.number, s.op)
	for k := range leases {
		l := &leases[k]
		pos, known := p.held.find(l.Key)
		if known || slices.Contains(p.claiming.accepted, l.Key) || l.Key.Claim != s.number {
			continue // another answer to the same number brought it before
		}
		if again {
			p.claiming.accepted = append(p.claiming.accepted, l.Key)
		}
		p.dispatch.took(l.Queue)
		p.held.insert(pos, held{key: l.Key, sent: s.first, timeoutAt: Never, abandonAt: Never})
		h := p.held.at(pos)
		switch {
		case l.Damage != "":
			p.ready(h, store.Undecodable{Error: l.Damage})
		case p.phase != serving || p.free() <= 0:
			p.ready(h, store.Released{})
		default:
			h.running = true
			h.timeoutAt = p.timeout(l.Name)
			p.running++
			out = append(out, Start{Lease: *l})
		}
		p.watch(h)
		p.urgent = p.urgent || late
	}
	return out
}

func (p *Pump) timeout(name string) Time {
	for _, t := range p.cfg.Timeouts {
		if t.Name == name {
			return p.now.Add(t.After)
		}
	}
	return Never
}

// pace sets when the next claim is due after the answer ev to one sent at
// sent. A full answer is followed at once by another claim; an empty one
// lengthens the interval if idle backoff is on. The next poll never comes
// later than work is known to become due, and at most 64 times as often as
// PollInterval on that account: the two clocks need not agree.
func (p *Pump) pace(ev Claimed, sent Time) {
	c := &p.claiming
	if len(ev.Leases) > 0 {
		c.interval = p.cfg.PollInterval
	}
	c.more = len(ev.Leases) > 0 && ev.HasNext && ev.Next == 0
	c.nextPoll = sent.Add(c.interval)
	if len(ev.Leases) == 0 {
		c.interval = min(2*c.interval, p.cfg.MaxPollInterval)
	}
	if ev.HasNext && ev.Next > 0 && !c.more { // nothing got and yet due: it is held by somebody
		c.nextPoll = min(c.nextPoll, p.now.Add(max(ev.Next, p.cfg.PollInterval/64)))
	}
}
