package timeline

import (
	"fmt"

	"backwave/checker"
	"backwave/sim"
	"backwave/store"
)

// kindName is what pages call a kind of call.
func kindName(k checker.CallKind) string {
	switch k {
	case checker.CallRenew:
		return "renew"
	case checker.CallReport, checker.CallClaim, checker.CallSweep, checker.CallEnqueue, checker.CallDo, checker.CallForged, checker.CallComplete:
	}
	return k.String()
}

// left books a call that leaves its sender.
func (c *Collector) left(s sim.SawSent) {
	worker, hit := None, ""
	if s.Call.Pump >= 0 {
		worker = c.pumps[s.Call.Pump].worker
		hit = c.hit(s.Call)
	}
	c.sent(s.At, uint64(s.Call.Ghost), kindName(s.Call.Kind), worker, s.Call.Req).Hit = hit
}

// hit returns the fault of the timeline that is addressed to a call, in words.
func (c *Collector) hit(call *checker.Call) string {
	if call.Kind > checker.CallSweep {
		return ""
	}
	p := c.pumps[call.Pump]
	key := pumpCall{p.node, p.group, p.number, call.Kind}
	c.nth[key]++
	for _, f := range c.sc.Timeline {
		var at sim.Address
		var kind, text string
		var nth int
		switch f := f.(type) {
		case sim.OnCall:
			at, kind, nth, text = f.Pump, f.Call, f.Nth, f.Do
		case sim.Aim:
			at, kind, nth, text = f.Pump, f.Call, f.Nth, "aimed at "+f.At
		case sim.Forge:
			at, kind, nth, text = f.Pump, f.Call, f.Nth, "forged: "+f.Field
		default:
			continue
		}
		if at.Node == p.node && at.Pump == p.number && kind == kindName(call.Kind) && nth == c.nth[key] && (at.Group == p.group || at.Group == "" && c.firstGroup(p)) {
			return text
		}
	}
	return ""
}

// firstGroup reports whether p is of the first group that its node runs.
func (c *Collector) firstGroup(p pumpSeen) bool {
	for i := range c.sc.Nodes {
		if n := &c.sc.Nodes[i]; n.Name == p.node && len(n.Groups) > 0 {
			for _, g := range c.sc.Groups {
				if contains(n.Groups, g.Name) {
					return g.Name == p.group
				}
			}
		}
	}
	return c.sc.Groups[0].Name == p.group
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// applied books what the store did.
func (c *Collector) applied(s sim.SawApplied) {
	call := c.call(uint64(s.Call.Ghost))
	if call == nil {
		return
	}
	c.see(s.True)
	call.Applied = append(call.Applied, s.True)
	if s.Err != nil {
		return // told when the sender hears it
	}
	for i := range s.Changes {
		c.rowChanged(s.True, call, s.Changes[i].Before, s.Changes[i].After)
	}
	if len(call.Applied) == 1 {
		c.decided(s.True, call, s.Reply, c.storeClock)
	}
}

// storeClock prints an instant of the store as stories do: since the start of
// the world, by the store's clock.
func (c *Collector) storeClock(i store.Instant) string { return since(int64(i)*1000 - c.epoch) }

// rowChanged books a row that changed.
func (c *Collector) rowChanged(at int64, call *Call, before, after *store.Job) {
	j := c.job(after.ID)
	was, is := holderOf(c, before), holderOf(c, after)
	if before.State == store.Executing && was != is {
		c.close(at, was, before, after)
	}
	switch {
	case after.State == store.Executing && was == is:
		if l := c.open(is); l != nil && before.LeaseUntil != after.LeaseUntil {
			l.Until = int64(after.LeaseUntil)
			l.Renewals = append(l.Renewals, Extend{At: at, Until: int64(after.LeaseUntil)})
		}
	case after.State == store.Executing:
		c.grant(at, is.worker, is.key, int64(after.LeaseUntil))
	}
	if before.State == after.State && was == is {
		return
	}
	c.enters(j, at, after.State.String())
	e := c.tell(at, TheStore, j, "%s", c.transition(before, after))
	e.Call, e.Attempt = call.ID, after.Attempt
}

// holderOf returns who holds the lease of a row, the zero holder if nobody does.
func holderOf(c *Collector, row *store.Job) holder {
	if row.State != store.Executing {
		return holder{worker: None}
	}
	return holder{c.holding(row.Worker), store.LeaseKey{Job: row.ID, Attempt: row.Attempt, Claim: row.Claim}}
}

// holding returns the index of a worker that a row names.
func (c *Collector) holding(name string) int {
	if i, ok := c.workers[name]; ok {
		return i
	}
	return c.worker(name, name, 0) // nobody's: a bug has made it up
}

// close ends the lease of h as the row after it says.
func (c *Collector) close(at int64, h holder, before, after *store.Job) {
	l := c.open(h)
	if l == nil {
		return
	}
	l.To, l.Next = at, after.State.String()
	if n := len(after.Ends); n > 0 && len(after.Ends)+after.EndsCut > len(before.Ends)+before.EndsCut {
		l.End = after.Ends[n-1].Kind.String()
		return
	}
	l.End = "no recorded end"
}

// transition puts a change of a row into words.
func (c *Collector) transition(before, after *store.Job) string {
	name := c.page.Jobs[c.job(after.ID)].Name
	switch {
	case before.ID.IsZero():
		return name + " is enqueued" + c.due(after)
	case after.State == store.Executing:
		return fmt.Sprintf("%s#%d is claimed by %s, lease until %s", name, after.Attempt, after.Worker, c.storeClock(after.LeaseUntil))
	case before.State == store.Executing && len(after.Ends) > 0:
		e := after.Ends[len(after.Ends)-1]
		return fmt.Sprintf("%s#%d ends as %s → %s%s", name, e.Attempt, e.Kind, after.State, c.due(after))
	}
	return fmt.Sprintf("%s is %s%s", name, after.State, c.due(after))
}

func (c *Collector) due(row *store.Job) string {
	if row.State != store.Scheduled {
		return ""
	}
	return ", due " + c.storeClock(row.Due)
}

func (c *Collector) answered(s sim.SawAnswered) {
	call := c.call(uint64(s.Call.Ghost))
	if call == nil || call.Answered != None { // of two answers the first counts
		return
	}
	c.see(s.At)
	call.Answered = s.At
	if s.Failed {
		c.failed(s.At, call, s.Fault.String())
	}
}

func (c *Collector) lost(s sim.SawLost) {
	call := c.call(uint64(s.Call.Ghost))
	if call == nil {
		return
	}
	call.Lost = s.At
	if s.Call.Kind == checker.CallForged {
		return
	}
	what := "request"
	if s.Reply {
		what = "reply"
	}
	if call.Idle || call.Kind == "sweep" && len(call.Rows) == 0 {
		return
	}
	of := call.Kind
	if len(call.Rows) > 0 && call.Rows[0].Job != None {
		of += " of " + c.rowName(&call.Rows[0])
	}
	e := c.tell(s.At, c.lane(call.Worker), c.onlyJob(call), "LOST: the %s of the %s", what, of)
	e.Call, e.Bad = call.ID, true
}

// forgot holds the leases against what the store has gone back to.
func (c *Collector) forgot(s sim.SawForgot) {
	c.page.Shades = append(c.page.Shades, Shade{Kind: "mark", Node: TheStore, Job: None, From: s.At, To: s.At, Text: "the store FORGETS its last commits"})
	c.tell(s.At, TheStore, None, "the store FORGETS its last commits").Bad = true
	live := map[holder]*store.Job{}
	for _, row := range s.Rows {
		if h := holderOf(c, row); h.worker != None {
			live[h] = row
		}
		c.enters(c.job(row.ID), s.At, row.State.String())
	}
	for i := range c.page.Leases {
		l := &c.page.Leases[i]
		if h := (holder{l.Worker, c.keyOf(l)}); l.To == None && live[h] == nil {
			l.To, l.End = s.At, "forgotten"
		}
	}
	for _, row := range s.Rows {
		if h := holderOf(c, row); h.worker != None {
			c.grant(s.At, h.worker, h.key, int64(row.LeaseUntil))
		}
	}
}

func (c *Collector) keyOf(l *Lease) store.LeaseKey {
	id, err := store.ParseJobID(c.page.Jobs[l.Job].ID)
	if err != nil {
		panic(err) // it was made from one
	}
	return store.LeaseKey{Job: id, Attempt: l.Attempt, Claim: l.Claim}
}
