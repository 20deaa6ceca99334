package pump

import (
	"cmp"
	"fmt"
	"time"

	"backwave/store"
)

// Pump is one claim → run → report loop. Its state is plain data.
type Pump struct {
	cfg    Config
	worker string
	now    Time
	phase  phase

	op    Op // of the last call
	lanes [kinds]lane
	held  table
	soon  Time // no attempt of held needs attention before; may be early

	running int // handlers that have not returned, the given-up ones included
	waiting int // outcomes that have not reached the store

	claiming claiming
	dispatch dispatch
	sweeps   []string // the queues a sweep covers; the same for every sweep
	beat     Time     // no renewal is due before; may be early
	urgent   bool     // a renewal is due whatever beat says
	anyDue   Time     // when a sweep of any queue is next due
	limit    Time     // of the phase: end of finishing, end of draining
}

// phase is where a pump is in its life.
type phase uint8

const (
	serving   phase = iota
	finishing       // a drain lets handlers finish
	draining        // only outcomes and unstarted leases are delivered
	stopped
	halted
)

// lane is one kind of call, with at most one in flight.
type lane struct {
	op     Op // in flight; 0 = idle
	sent   Time
	giveUp Time
	due    Time   // idle: when the next call is due, as far as the lane itself knows
	hold   Time   // idle: not before, after a fault
	fault  string // of the episode of transient faults; "" = none
	renew  []store.RenewRow
	report []store.ReportRow
	any    bool // the sweep in flight covers any queue
}

// New returns the pump of one start of one worker: worker is its identity in
// the store and must never be used again. cfg must be valid.
func New(cfg Config, worker string, now Time) *Pump {
	cfg = cfg.Resolved()
	p := &Pump{cfg: cfg, worker: worker, now: now, soon: Never, beat: Never, limit: Never}
	p.dispatch = newDispatch(&p.cfg)
	for _, q := range p.cfg.Queues {
		p.sweeps = append(p.sweeps, q.Name)
	}
	p.claiming = claiming{number: 1, nextPoll: now, interval: cfg.PollInterval}
	// The sweeps of pumps that start together are spread over the interval.
	p.lanes[Sweeping].due = now.Add(spread(worker, cfg.MaintenanceInterval))
	p.anyDue = now.Add(spread(worker, cfg.LeaseDuration))
	p.lanes[Reporting].due = Never
	return p
}

// spread returns a phase in [0, limit) that depends on worker alone.
func spread(worker string, limit time.Duration) time.Duration {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(worker) {
		h = (h ^ uint64(worker[i])) * 1099511628211
	}
	h ^= h >> 29
	return time.Duration(h % uint64(limit))
}

// Step tells the pump of ev at node time now and appends what is to be done to
// out, in order. What has come due by then is dealt with first, so that a node
// that was frozen learns what it has lost before anything else.
func (p *Pump) Step(now Time, ev Event, out []Action) []Action {
	p.now = max(p.now, now)
	if p.phase >= stopped {
		p.left(ev)
		return out
	}
	if _, ok := ev.(WallJumped); ok {
		p.doubt() // before the views are judged by the moved clock
	}
	out = p.deadlines(out)
	if p.phase < stopped {
		out = p.event(ev, out)
	}
	if p.phase < stopped {
		out = p.calls(out)
	}
	return p.settle(out)
}

// left counts handlers that return after the pump has ended.
func (p *Pump) left(ev Event) {
	r, ok := ev.(Returned)
	if !ok {
		return
	}
	if h := p.held.lookup(r.Key); h != nil && h.running {
		h.running = false
		p.running--
	}
}

func (p *Pump) event(ev Event, out []Action) []Action {
	switch ev := ev.(type) {
	case Woken, WallJumped:
		return out
	case Claimed:
		return p.claimed(ev, out)
	case Renewed:
		return p.renewed(ev, out)
	case Reported:
		return p.reported(ev, out)
	case Swept:
		return p.swept(ev, out)
	case Failed:
		return p.failed(ev, out)
	case Returned:
		return p.returned(ev, out)
	case Progressed:
		if h := p.held.lookup(ev.Key); h != nil && h.running {
			h.progress, h.carried = ev.Data, false
		}
		return out
	case Completing:
		p.completing(ev)
		return out
	case Completed:
		return p.completed(ev, out)
	case Hinted:
		p.claiming.hinted = true
		return out
	case Drained:
		return p.drain(out)
	case Broke:
		return p.halt(ev.Cause, out)
	}
	panic("pump: unknown event") // to name its type would move every event to the heap
}

// Deadline returns when the pump next needs to be woken, Never if not. It may
// be earlier than needed.
func (p *Pump) Deadline() Time {
	if p.phase >= stopped {
		return Never
	}
	t := min(p.soon, p.limit)
	for k := range kinds {
		if l := &p.lanes[k]; l.op != 0 {
			t = min(t, l.giveUp)
		} else {
			t = min(t, p.due(k))
		}
	}
	return t
}

// due returns when the idle lane k next wants to send.
func (p *Pump) due(k Kind) Time {
	l := &p.lanes[k]
	switch k {
	case Renewing:
		if p.urgent {
			return max(p.now, l.hold)
		}
		return max(p.beat, l.hold)
	case Reporting:
		return max(l.due, l.hold)
	case Claiming:
		return p.claimDue()
	case Sweeping:
		if p.phase != serving {
			return Never
		}
		return max(l.due, l.hold)
	}
	panic(fmt.Sprintf("pump: unknown kind %d", k))
}

// deadlines deals with what has come due: ends of own views, handler timeouts,
// calls to be given up, limits of the drain.
func (p *Pump) deadlines(out []Action) []Action {
	if p.soon <= p.now {
		out = p.attend(out)
	}
	for k := range kinds {
		if l := &p.lanes[k]; l.op != 0 && l.giveUp <= p.now {
			text := fmt.Sprintf("no answer within the operation timeout of %v", p.cfg.OperationTimeout)
			out = p.ended(k, text, out)
		}
	}
	if p.limit <= p.now {
		if p.phase == finishing {
			return p.release(out)
		}
		return p.stop(out)
	}
	return out
}

// calls sends what is due: renewals first, since a lease waits for nobody.
func (p *Pump) calls(out []Action) []Action {
	for k := range kinds {
		if p.lanes[k].op != 0 || p.due(k) > p.now {
			continue
		}
		var req store.Request
		switch k {
		case Renewing:
			req = p.renewal()
		case Reporting:
			req = p.report()
		case Claiming:
			req = p.claim()
		case Sweeping:
			req = p.sweep()
		}
		if req != nil {
			out = p.send(k, req, out)
		}
	}
	return out
}

func (p *Pump) send(k Kind, req store.Request, out []Action) []Action {
	p.op++
	l := &p.lanes[k]
	l.op, l.sent, l.giveUp = p.op, p.now, p.now.Add(p.cfg.OperationTimeout)
	if k == Claiming {
		p.claiming.sent(p.op, p.now)
	}
	return append(out, Call{Op: p.op, Kind: k, Req: req})
}

// answered ends the call op of kind k with success, and reports whether it was
// the one in flight.
func (p *Pump) answered(k Kind, op Op, out *[]Action) bool {
	l := &p.lanes[k]
	if l.op != op || op == 0 {
		return false
	}
	l.op, l.hold = 0, 0
	if l.fault != "" {
		l.fault = ""
		*out = append(*out, Recovered{Kind: k})
	}
	return true
}

// failed books an error. That of a call given up long ago says nothing new:
// the calls after it meet the same fault, if it is still there.
func (p *Pump) failed(ev Failed, out []Action) []Action {
	for k := range kinds {
		if p.lanes[k].op != ev.Op || ev.Op == 0 {
			continue
		}
		if !ev.Fault.Transient() {
			return p.halt(Cause{Type: ev.Type, Message: ev.Text}, out)
		}
		out = p.ended(k, cmp.Or(ev.Text, ev.Fault.String()), out)
	}
	p.claiming.settle(ev.Op)
	return out
}

// ended ends the call in flight of kind k with a transient fault: nothing is
// known of its effect, and it is tried again at the next tick.
func (p *Pump) ended(k Kind, text string, out []Action) []Action {
	l := &p.lanes[k]
	l.op = 0
	l.hold = p.now.Add(p.cfg.PollInterval)
	if l.fault == "" {
		out = append(out, Degraded{Kind: k, Text: text})
	}
	l.fault = text
	switch k {
	case Renewing:
		l.hold = p.now.Add(p.cfg.renewRetry())
		p.renewalFailed()
	case Reporting:
		return p.reportFailed(out)
	case Claiming:
		p.claiming.failed(p.now)
	case Sweeping:
		l.due = p.now // as soon as the hold allows
		if l.any {
			p.anyDue = p.now
		}
	}
	return out
}

// halt fail-stops the pump: nothing more is sent, every handler is told, and
// leases are left to lapse.
func (p *Pump) halt(c Cause, out []Action) []Action {
	p.phase = halted
	out = append(out, Halted{Cause: c})
	for i := range p.held.len() {
		out = p.tell(p.held.at(i), GroupHalted, out)
	}
	return out
}

// Halt fail-stops a pump whose Step has panicked. Unlike Step with Broke it
// does nothing before, so that a broken pump cannot stumble again.
func (p *Pump) Halt(c Cause, out []Action) []Action {
	if p.phase >= stopped {
		return out
	}
	return p.halt(c, out)
}

// Halted reports whether the pump has fail-stopped.
func (p *Pump) Halted() bool { return p.phase == halted }

// Ended reports whether the pump sends nothing more: halted, or drained.
func (p *Pump) Ended() bool { return p.phase >= stopped }

// Running returns how many handlers have not returned.
func (p *Pump) Running() int { return p.running }

// Worker returns the identity under which the pump holds leases.
func (p *Pump) Worker() string { return p.worker }

// Clone returns an independent copy. Configuration and requests in flight are
// shared, since nobody changes them.
func (p *Pump) Clone() *Pump {
	c := *p
	c.held = p.held.clone()
	c.dispatch.credit = append([]int(nil), p.dispatch.credit...)
	c.claiming = p.claiming.clone()
	return &c
}
