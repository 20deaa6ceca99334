package explore

import (
	"fmt"
	"strconv"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// Violation is an invariant that did not hold.
type Violation struct {
	Invariant string
	Message   string
}

// breach notes that an invariant does not hold. The first one of a move stands.
func (m *machine) breach(invariant, format string, args ...any) {
	if m.bad == nil {
		m.bad = &Violation{invariant, fmt.Sprintf(format, args...)}
	}
}

// Situations is a set of things that a search has come upon: what it held
// through.
type Situations uint16

const (
	sawCrash Situations = 1 << iota
	sawPause
	sawLostReply
	sawLapse
	sawStale
	sawAlready
	sawLost
	sawDropped
	sawDead
	sawDrained
	sawAbandoned
	sawHalt
)

var situationNames = []string{
	"a process crashed", "a node stood still", "a reply was lost after the store applied the call",
	"a lapsed lease was swept", "a stale outcome was fenced", "an outcome that was recorded was reported again",
	"a renewal was refused", "an outcome came to nothing", "a job was given up at its ceiling", "a process drained",
	"a handler that did not stop was given up", "a pump fail-stopped",
}

// Names lists what is in s.
func (s Situations) Names() (names []string) {
	for i, n := range situationNames {
		if s&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// say tells a line of the story, if somebody listens.
func (m *machine) say(who, format string, args ...any) {
	if m.story != nil {
		m.story(who, fmt.Sprintf(format, args...))
	}
}

// tell tells what p does.
func (m *machine) tell(p *process, format string, args ...any) {
	if m.story != nil {
		m.say(m.who(p), format, args...)
	}
}

// tellMove tells what became of a job.
func (m *machine) tellMove(b, a *store.Job) {
	if m.story == nil || b.State == a.State {
		return
	}
	name := m.jobs[m.jobOf(a.ID)].name
	text := a.State.String()
	switch {
	case a.State == store.Executing:
		who := a.Worker
		if p := m.process(a.Worker); p != nil {
			who = fmt.Sprintf("%s.%d", m.who(p), p.start)
		}
		text = fmt.Sprintf("attempt %d is claimed by %s, lease until %s", a.Attempt, who, m.clock(a.LeaseUntil))
	case b.State == store.Executing && len(a.Ends) > 0:
		e := a.Ends[len(a.Ends)-1]
		text = fmt.Sprintf("attempt %d ends as %s → %s", e.Attempt, e.Kind, a.State)
	}
	if a.State == store.Scheduled {
		text += ", due " + m.clock(a.Due)
	}
	m.say("store", "%s: %s", name, text)
}

// who names the node of p. While nobody listens to stories, nodes have no names
// that would last.
func (m *machine) who(p *process) string { return "n" + strconv.Itoa(p.node+1) }

func itoa(n int) string { return strconv.Itoa(n) }

func (m *machine) nameOf(key store.LeaseKey) string { return m.jobs[m.jobOf(key.Job)].name }

// key names an attempt as stories do.
func (m *machine) key(k store.LeaseKey) string { return fmt.Sprintf("%s#%d", m.nameOf(k), k.Attempt) }

// at is now, as stories tell it.
func (m *machine) at() string { return clock(time.Duration(m.ticks) * Tick) }

// clock tells an instant of the store as stories do.
func (m *machine) clock(t store.Instant) string {
	return clock(time.Duration(m.ticks)*Tick + t.Sub(m.Now()))
}

// clock prints the time since the world began as m:ss.
func clock(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	s := int(d / time.Second)
	return fmt.Sprintf("%s%d:%02d", sign, s/60, s%60)
}

// tellAnswer tells what an answer says, where that is worth a line.
func (m *machine) tellAnswer(p *process, c *call) {
	if m.story == nil {
		return
	}
	late := ""
	if p.book.lanes[c.kind].op != c.op {
		late = ", too late"
	}
	switch r := c.reply.(type) {
	case *store.Claimed:
		for i := range r.Leases {
			m.tell(p, "is answered a lease of %s%s", m.key(r.Leases[i].Key), late)
		}
	case *store.Renewed:
		req := c.req.(*store.Renew)
		for i := range r.Rows {
			switch r.Rows[i].Status {
			case store.RenewOK:
				m.tell(p, "hears that %s is renewed%s", m.key(req.Rows[i].Key), late)
			case store.RenewLost:
				m.tell(p, "is refused the renewal of %s: the lease is lost%s", m.key(req.Rows[i].Key), late)
			case store.RenewBusy:
			}
		}
	case *store.Reported:
		req := c.req.(*store.Report)
		for i := range r.Rows {
			m.tell(p, "is answered for the %s of %s: %s%s", req.Rows[i].Outcome.Kind(), m.key(req.Rows[i].Key), r.Rows[i].Status, late)
		}
	case *store.Swept, *store.Enqueued, *store.Done, nil:
	}
}

// tellSent tells what a call asks, where that is worth a line.
func (m *machine) tellSent(p *process, c *call) {
	if m.story == nil {
		return
	}
	switch req := c.req.(type) {
	case *store.Claim:
		m.tell(p, "asks for work")
	case *store.Renew:
		for i := range req.Rows {
			m.tell(p, "asks to renew %s", m.key(req.Rows[i].Key))
		}
	case *store.Report:
		for i := range req.Rows {
			m.tell(p, "reports the %s of %s", req.Rows[i].Outcome.Kind(), m.key(req.Rows[i].Key))
		}
	case *store.Sweep:
		m.tell(p, "sweeps")
	case *store.Enqueue, *store.Do:
	}
}

// tellApplied tells what the store did with a renewal; rows that change their
// state are told by tellMove.
func (m *machine) tellApplied(p *process, c *call) {
	if m.story == nil || c.kind != pump.Renewing {
		return
	}
	for _, ch := range m.store.Changes() {
		m.say("store", "renews %s#%d of %s until %s", m.jobs[m.jobOf(ch.After.ID)].name, ch.After.Attempt, m.who(p), m.clock(ch.After.LeaseUntil))
	}
}
