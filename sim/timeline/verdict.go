package timeline

import (
	"fmt"
	"math/bits"
	"time"

	"backwave/sim"
	"backwave/store"
)

// reach is when the store's clock will show an instant, in true time, not before
// at.
func (c *Collector) reach(at int64, i store.Instant) int64 {
	target := int64(i)*1000 - c.epoch
	var p []Point
	for k := range c.page.Clocks {
		if c.page.Clocks[k].Node == TheStore {
			p = c.page.Clocks[k].Points
		}
	}
	for k := range p {
		from := p[k]
		if k+1 < len(p) && p[k+1].At <= at {
			continue
		}
		if from.At < at && k+1 < len(p) { // begin at at, on the line
			from = Point{At: at, Ahead: from.Ahead + between(p[k+1].Ahead-from.Ahead, at-from.At, p[k+1].At-from.At)}
		}
		read := from.At + from.Ahead
		switch {
		case read >= target:
			return max(at, from.At)
		case k+1 == len(p):
			return max(at, from.At+target-read)
		}
		if end := p[k+1].At + p[k+1].Ahead; end >= target && p[k+1].At > from.At {
			return from.At + between(p[k+1].At-from.At, target-read, end-read)
		}
	}
	return target
}

// between returns a * b / c, rounded up, for 0 <= b <= c. It is 0 if c is.
func between(a, b, c int64) int64 {
	if c == 0 {
		return 0
	}
	if a < 0 {
		return -between(-a, b, c)
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, r := bits.Div64(hi, lo, uint64(c)) // hi < c, since b <= c and a is a time
	if r > 0 {
		q++
	}
	return int64(q)
}

// Page returns what was collected, with what was found in the run.
func (c *Collector) Page(res *sim.Result) *Page {
	for i := range c.page.Leases {
		l := &c.page.Leases[i]
		at := l.From
		if n := len(l.Renewals); n > 0 {
			at = l.Renewals[n-1].At
		}
		l.Until = c.reach(at, store.Instant(l.Until))
		for k := range l.Renewals {
			l.Renewals[k].Until = c.reach(l.Renewals[k].At, store.Instant(l.Renewals[k].Until))
		}
	}
	c.verdict(res)
	return c.finish(int64(res.Virtual))
}

func (c *Collector) verdict(res *sim.Result) {
	p := &c.page
	p.Verdict = string(res.Verdict)
	p.Facts = []string{fmt.Sprintf("seed %d", res.Seed), fmt.Sprintf("%d events", res.Events), fmt.Sprintf("%v virtual", res.Virtual.Round(time.Millisecond)), fmt.Sprintf("trace %016x", res.TraceHash)}
	sentences := map[string]string{}
	for _, i := range sim.Invariants() {
		sentences[i.Name] = i.Sentence
	}
	for _, v := range res.Violations {
		out := Violation{Invariant: v.Invariant, Sentence: sentences[v.Invariant], At: v.At, Event: v.Event, Job: None, Message: c.page.named(v.Message), Expected: contains(res.Scenario.Expect.Violates, v.Invariant)}
		if !v.Job.IsZero() {
			out.Job = c.job(v.Job)
		}
		p.Violations = append(p.Violations, out)
		c.tell(v.At, TheStore, out.Job, "VIOLATION of %s: %s", v.Invariant, out.Message).Bad = true
	}
	for _, name := range res.Missing {
		p.Violations = append(p.Violations, Violation{Invariant: "expectation", At: int64(res.Virtual), Job: None, Message: "expected a violation of " + name + ", and there was none"})
	}
}
