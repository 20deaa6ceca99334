package sim

import (
	"cmp"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// How long a job may take once nothing goes wrong any more is a sum over the
// plan. With
//
//	R     the longest way to the store and back,
//	o     what an attempt costs beside its handler: the longest pause between
//	      two polls, and R for each call that others of its pump may have in
//	      line before its claim and before its report,
//	m     the slots of all pumps that serve its queue,
//	W     the work that is left for those pumps: of every job of every queue
//	      that one of them serves, its attempts × (handler + o),
//
// a job is finished, counted from the last trouble or from when it is due,
// whichever is later, within
//
//	start + W/m + its attempts × (handler + o) + its rests
//
// because at any instant until then it rests (a retry delay, a snooze), or is at
// work, or waits; and while it waits, all m slots are at work on W, else one of
// the pumps would have found it at its next poll. Start is what trouble may have
// left behind: calls that must time out, leases that must be cut, lapse and be
// swept, handlers whose leases are lost and which keep their slots until they
// return, due times that lie further off since the store's clock stepped back, a
// client that waits before it asks again. Clocks that run slow stretch all of it.
//
// The attempts of a job are: the one that was under way, which may be lost; and
// from the next one on, as its handler's script goes, those up to the first that
// ends it, or up to the ceiling. A handler that may time out is taken to do so.

// forGood is longer than any world.
const forGood = time.Duration(1 << 61)

// crew is the pumps of one group that are at work.
type crew struct {
	cfg   pump.Config // resolved
	slots int         // that handlers will leave, of all of them
}

// left is what is left to do for a job.
type left struct {
	attempts int
	handlers time.Duration // how long they run, in all; forGood = one of them for good
	rests    time.Duration
}

// bounds computes how long jobs may take, for the crews at work.
type bounds struct {
	sc    *Scenario
	crews []crew        // by group
	way   time.Duration // R
	asks  time.Duration // how long a client waits before it asks again
}

func newBounds(sc *Scenario) *bounds {
	b := &bounds{sc: sc, asks: clientPatience}
	latency := cmp.Or(sc.Net.Latency, time.Millisecond)
	one := latency + cmp.Or(sc.Net.Jitter, latency)
	if sc.Net.Tail > 0 {
		one *= 20
	}
	b.way = 2 * one
	for i := range sc.Groups {
		b.crews = append(b.crews, crew{cfg: sc.Groups[i].Config.Resolved()})
	}
	return b
}

// everybody puts all pumps of the plan to work.
func (b *bounds) everybody() {
	for i := range b.sc.Groups {
		g := &b.sc.Groups[i]
		for n := range b.sc.Nodes {
			if runs := b.sc.Nodes[n].Groups; len(runs) == 0 || contains(runs, g.Name) {
				b.crews[i].slots += max(1, g.Pumps) * b.crews[i].cfg.PoolSize
			}
		}
	}
}

// Bound returns how long after the last fault has healed, or after it has become
// due, a job of sc takes at most if all nodes are up then, however many of its
// attempts it has behind it. all is false if some jobs have no such bound: their
// handlers never return or snooze for ever, nobody serves their queue, or the
// network is slower than the operation timeout. d is then that of the others.
func Bound(sc *Scenario) (d time.Duration, all bool) {
	b := newBounds(sc)
	b.everybody()
	rest := make([]left, len(sc.Jobs))
	for i := range sc.Jobs {
		rest[i] = b.most(&sc.Jobs[i])
	}
	work := b.shares(func(visit func(*Job, left, int)) {
		for i := range sc.Jobs {
			visit(&sc.Jobs[i], rest[i], max(1, sc.Jobs[i].Count))
		}
	})
	all = true
	for i := range sc.Jobs {
		t := b.job(&sc.Jobs[i], rest[i], work)
		if t >= forGood {
			all = false
			continue
		}
		d = max(d, t)
	}
	return d, all
}

// queueOf returns the queue that j is put into.
func (b *bounds) queueOf(j *Job) string { return cmp.Or(j.Queue, b.crews[0].cfg.Queues[0].Name) }

func (c *crew) serves(queue string) bool {
	for i := range c.cfg.Queues {
		if c.cfg.Queues[i].Name == queue {
			return c.slots > 0
		}
	}
	return false
}

// job returns the bound of j, of which l is left, beside so much work for the
// pumps that serve each queue; forGood if it has none.
func (b *bounds) job(j *Job, l left, work map[string]time.Duration) time.Duration {
	queue := b.queueOf(j)
	slots, beside := b.slots(queue)
	if slots == 0 || l.handlers >= forGood || work[queue] >= forGood {
		return forGood
	}
	d := b.start(queue) + work[queue]/time.Duration(slots) + l.cost(beside) + l.rests
	if d < 0 || d >= forGood {
		return forGood
	}
	return b.stretched(d)
}

// cost is how long the attempts that are left take, with so much beside each
// handler.
func (l *left) cost(beside time.Duration) time.Duration {
	if d := l.handlers + time.Duration(l.attempts)*beside; d >= 0 && d < forGood {
		return d
	}
	return forGood
}

// slots returns m and o for queue; m is 0 if nobody serves it, or the network is
// too slow for those who do.
func (b *bounds) slots(queue string) (m int, o time.Duration) {
	for i := range b.crews {
		c := &b.crews[i]
		if !c.serves(queue) {
			continue
		}
		if b.way >= c.cfg.OperationTimeout {
			return 0, 0
		}
		m += c.slots
		o = max(o, b.beside(&c.cfg))
	}
	return m, o
}

// beside is o for a pump of c: with batches of one, each slot waits for the
// claims of all others, and each outcome for the reports of all others.
func (b *bounds) beside(c *pump.Config) time.Duration {
	return c.MaxPollInterval + time.Duration(2*c.PoolSize+6)*b.way
}

// patrol is the longest pause between two sweeps that work.
func (b *bounds) patrol(c *pump.Config) time.Duration {
	return c.MaintenanceInterval + c.OperationTimeout + c.PollInterval + 2*b.way
}

// start is what trouble may leave behind for the jobs of queue.
func (b *bounds) start(queue string) time.Duration {
	var lease, sweep, calls, zombie time.Duration
	for i := range b.crews {
		c := &b.crews[i]
		lease = max(lease, c.cfg.LeaseDuration)
		if c.serves(queue) {
			sweep = max(sweep, b.patrol(&c.cfg))
			calls = max(calls, 2*(c.cfg.OperationTimeout+c.cfg.PollInterval))
		}
	}
	for i := range b.sc.Jobs {
		if j := &b.sc.Jobs[i]; b.meet(queue, b.queueOf(j)) {
			for k := range j.Run {
				if s := &j.Run[k]; s.End != "hang" {
					zombie = max(zombie, s.For)
				}
			}
		}
	}
	// One sweep may have to cut a lease to its length, and another to dispose of
	// it.
	return b.asks + calls + lease + 2*sweep + zombie + b.setBack() + 4*b.way
}

// meet reports whether some pump serves both queues.
func (b *bounds) meet(queue, other string) bool {
	for i := range b.crews {
		if c := &b.crews[i]; c.serves(queue) && c.serves(other) {
			return true
		}
	}
	return false
}

// setBack is how far the store's clock is moved back in all.
func (b *bounds) setBack() (d time.Duration) {
	for _, f := range b.sc.Timeline {
		if s, ok := f.(Step); ok && s.Node == storeName && s.By < 0 {
			d -= s.By
		}
	}
	return d
}

// stretched is d by the slowest clock.
func (b *bounds) stretched(d time.Duration) time.Duration {
	abs := func(i int) int { return max(i, -i) }
	ppm := abs(b.sc.Store.Drift)
	for i := range b.sc.Nodes {
		ppm = max(ppm, abs(b.sc.Nodes[i].Mono.Drift))
	}
	for _, f := range b.sc.Timeline {
		if s, ok := f.(Drift); ok {
			ppm = max(ppm, abs(s.PPM))
		}
	}
	return d + d/million*time.Duration(2*ppm) + time.Millisecond
}

// shares returns W for each queue that is served. each calls visit for every job
// or so many like it, with what is left of it.
func (b *bounds) shares(each func(visit func(j *Job, l left, count int))) map[string]time.Duration {
	work := map[string]time.Duration{} // of the jobs of one queue
	each(func(j *Job, l left, count int) {
		queue := b.queueOf(j)
		_, beside := b.slots(queue)
		if l.handlers < forGood { // else it is not at work but for good, and its slot is not counted
			work[queue] = min(forGood, work[queue]+min(l.cost(beside), forGood/time.Duration(count))*time.Duration(count))
		}
	})
	shared := map[string]time.Duration{}
	for i := range b.crews {
		for _, q := range b.crews[i].cfg.Queues {
			if _, done := shared[q.Name]; !done {
				shared[q.Name] = b.shared(q.Name, work)
			}
		}
	}
	return shared
}

// shared adds up the work of the queues that some pump serves beside queue.
func (b *bounds) shared(queue string, work map[string]time.Duration) (sum time.Duration) {
	seen := map[string]bool{}
	for i := range b.crews {
		for _, q := range b.crews[i].cfg.Queues {
			if !seen[q.Name] && b.meet(queue, q.Name) {
				seen[q.Name] = true
				sum = min(forGood, sum+work[q.Name])
			}
		}
	}
	return sum
}

// most is the most that can be left of j, however many attempts it has behind
// it.
func (b *bounds) most(j *Job) (m left) {
	for k := range max(len(j.Run), min(12, b.ceiling(j))) + 2 { // by then a doubled rest is at its cap, or near
		l := b.after(j, k)
		m.attempts, m.handlers, m.rests = max(m.attempts, l.attempts), max(m.handlers, l.handlers), max(m.rests, l.rests)
	}
	return m
}

// after returns what is left of j when so many attempts have been claimed, the
// last of which may be lost.
func (b *bounds) after(j *Job, claimed int) (l left) {
	run := j.Run
	if len(run) == 0 {
		run = defaultRun
	}
	if run[len(run)-1].End == "snooze" {
		return left{handlers: forGood}
	}
	ceiling := b.ceiling(j)
	counted, unknown := 0, 0
	for a := max(1, claimed); ; a++ {
		s := &run[min(a, len(run))-1]
		if s.End == "hang" {
			return left{handlers: forGood}
		}
		l.attempts++
		l.handlers += s.For
		if a > claimed && b.final(j, s) {
			return l
		}
		switch {
		case a > claimed && s.End == "snooze":
			l.rests += max(time.Second, s.After)
			continue
		case a > claimed && s.End == "unknown":
			unknown++
			l.rests += store.UnknownNameDelay(store.UnknownNameGrace)
		default:
			counted++
			l.rests += max(s.After, b.rest(j, min(a, ceiling))) + b.given(s)
		}
		if counted > ceiling || unknown > store.UnknownNameGrace || l.rests > forGood || l.handlers > forGood {
			return l
		}
	}
}

// final reports whether an attempt of j that goes as s ends it for sure.
func (b *bounds) final(j *Job, s *Script) bool {
	for i := range b.crews {
		for _, t := range b.crews[i].cfg.Timeouts {
			if t.Name == cmp.Or(j.Name, "work") {
				return false
			}
		}
	}
	return s.End == "discard" || s.End == "undecodable" || (s.End == "" || s.End == "ok") && s.Output <= store.MaxOutput
}

// given is how long it takes at most until the lease of a handler that was given
// up has lapsed and is disposed of.
func (b *bounds) given(s *Script) (d time.Duration) {
	if s.OnCancel != "ignore" {
		return 0
	}
	for i := range b.crews {
		c := &b.crews[i].cfg
		d = max(d, c.LeaseDuration+b.patrol(c))
	}
	return d
}

// ceiling is the highest that any group gives j.
func (b *bounds) ceiling(j *Job) (n int) {
	for i := range b.crews {
		n = max(n, cmp.Or(j.MaxAttempts, b.crews[i].cfg.Terms.For(cmp.Or(j.Name, "work")).MaxAttempts))
	}
	return n
}

// rest is the longest that j rests after its attempt a, by the terms of any
// group: as many of its attempts count as can.
func (b *bounds) rest(j *Job, a int) (d time.Duration) {
	for i := range b.crews {
		p := b.crews[i].cfg.Terms.For(cmp.Or(j.Name, "work"))
		r := p.First
		for k := 1; k < a && r < p.Cap; k++ {
			r *= time.Duration(p.Factor)
			if p.Factor == 1 {
				break
			}
		}
		d = max(d, min(p.Cap, r+r/100*time.Duration(p.Jitter)+time.Millisecond))
	}
	return d
}
