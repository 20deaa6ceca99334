package timeline

import (
	"fmt"
	"strings"
	"time"

	"backwave/sim"
)

// outsideLeft books a call of a handler that leaves for the world outside.
func (c *Collector) outsideLeft(s sim.SawOutsideLeft) {
	p := c.pumps[s.Call.Pump]
	run, ok := c.runs[holder{p.worker, s.Call.Key}]
	if !ok {
		return // nobody makes it: there is no bar for it
	}
	c.outs[s.Call.Number] = len(c.page.Outside)
	c.page.Outside = append(c.page.Outside, Outside{
		Run: run, Nth: s.Call.Nth, To: c.other(s.Call.To), Text: s.Call.Text, Hit: c.hitOutside(s.Call),
		Left: s.At, Arrived: None, Answered: None, Lost: None, Late: None, GivenUp: None,
	})
	c.tellOutside(s.At, s.Call, "%s calls %s: %s", c.attempt(s.Call.Key), s.Call.To, s.Call.Text)
}

// other returns the index of somebody outside.
func (c *Collector) other(name string) int {
	for i, o := range c.page.Others {
		if o == name {
			return i
		}
	}
	c.page.Others = append(c.page.Others, name)
	return len(c.page.Others) - 1
}

// hitOutside returns the faults of the timeline that are addressed to a call of
// a handler, in words.
func (c *Collector) hitOutside(call sim.SeenOutside) string {
	var out []string
	job := c.page.Jobs[c.job(call.Key.Job)].Name
	for _, f := range c.sc.Timeline {
		h, ok := f.(sim.OnHandler)
		if !ok || h.Job != job || max(1, h.Attempt) != call.Key.Attempt || max(1, h.Nth) != call.Nth {
			continue
		}
		text := h.Do
		if h.By > 0 {
			text += " " + h.By.String()
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// tellOutside adds an event about a call to the world outside. It is where the
// handler is, whoever acts.
func (c *Collector) tellOutside(at int64, call sim.SeenOutside, format string, args ...any) *Event {
	e := c.tell(at, c.lane(c.pumps[call.Pump].worker), c.job(call.Key.Job), format, args...)
	e.Attempt, e.Outside = call.Key.Attempt, c.outs[call.Number]+1
	return e
}

// outsideArrived books a call that is carried out.
func (c *Collector) outsideArrived(s sim.SawOutsideArrived) {
	if o := c.called(s.Call); o != nil {
		o.Arrived, o.Answer = s.At, s.Answer
		c.tellOutside(s.At, s.Call, "%s carries out %s of %s: %s", s.Call.To, s.Call.Text, c.attempt(s.Call.Key), s.Answer)
	}
}

func (c *Collector) outsideRefused(s sim.SawOutsideRefused) {
	if o := c.called(s.Call); o != nil {
		o.Arrived, o.Refused = s.At, true
		c.tellOutside(s.At, s.Call, "%s REFUSES %s of %s", s.Call.To, s.Call.Text, c.attempt(s.Call.Key)).Bad = true
	}
}

func (c *Collector) outsideLost(s sim.SawOutsideLost) {
	o := c.called(s.Call)
	if o == nil {
		return
	}
	o.Lost = s.At
	what := "call"
	if s.Reply {
		what = "answer to the call"
	}
	c.tellOutside(s.At, s.Call, "LOST: the %s of %s to %s", what, c.attempt(s.Call.Key), s.Call.To).Bad = true
}

func (c *Collector) outsideAnswered(s sim.SawOutsideAnswered) {
	o := c.called(s.Call)
	switch {
	case o == nil:
	case s.Late:
		o.Late = s.At
		c.tellOutside(s.At, s.Call, "LATE: %s answers %s, and nobody waits for it", s.Call.To, c.attempt(s.Call.Key)).Bad = true
	default:
		o.Answered = s.At
		c.tellOutside(s.At, s.Call, "%s is answered by %s", c.attempt(s.Call.Key), s.Call.To)
	}
}

func (c *Collector) outsideGivenUp(s sim.SawOutsideGivenUp) {
	o := c.called(s.Call)
	if o == nil {
		return
	}
	o.GivenUp = s.At
	o.Why = fmt.Sprintf("no answer for %v", time.Duration(s.At-o.Left).Round(time.Millisecond))
	if s.Told {
		o.Why = "it is told to stop"
	}
	c.tellOutside(s.At, s.Call, "%s gives up on %s: %s", c.attempt(s.Call.Key), s.Call.To, o.Why).Bad = true
}

// called returns a call to the world outside, nil if it is not on the page.
func (c *Collector) called(s sim.SeenOutside) *Outside {
	i, ok := c.outs[s.Number]
	if !ok {
		return nil
	}
	return &c.page.Outside[i]
}
