package sim

import (
	"time"

	"backwave/checker"
	"backwave/store"
)

// Moment is one event of a world and what the world is like after it. It is good
// during the call of Options.Step only.
type Moment struct {
	Number  uint64        // of the event, from 1; that of traces and violations
	At      time.Duration // true time since the start of the world
	Kind    string        // one of EventKinds
	Node    string        // whose event it is, or who has sent the call; "" = no node's
	Worker  string        // the same, to the pump
	Call    string        // of "apply" and "reply", the kind of the call
	Fault   int           // of "fault", the index in the timeline
	Begin   bool          // of "fault": it begins, or happens at once
	Subject []Subject     // the attempts, or jobs, that it is about, as far as is known before it
	w       *world
}

// Subject is a job, or one attempt of it.
type Subject struct {
	Job     string `json:"job"`               // as the scenario calls it
	Attempt int    `json:"attempt,omitempty"` // 0 = no particular one
}

// EventKinds returns the kinds of events, as traces name them.
func EventKinds() []string {
	var out []string
	for _, k := range kindNames {
		if k != "" {
			out = append(out, k)
		}
	}
	return out
}

// Violations returns what the invariants have found so far, the world's own at
// the end of it left out.
func (m *Moment) Violations() []checker.Violation { return m.w.watch.Violations() }

// stepped lets a person look at the world after e, which about has described,
// and reports whether the run goes on.
func (w *world) stepped() bool {
	if w.step == nil {
		return true
	}
	w.ended = !w.step(&w.moment)
	return !w.ended
}

// about describes e before it happens: afterwards what it names may be gone.
func (w *world) about(e event) {
	if w.step == nil {
		return
	}
	m := Moment{Number: w.events, At: time.Duration(e.at), Kind: kindNames[e.kind], w: w}
	switch e.kind {
	case evApply, evReply:
		w.aboutCall(&m, &w.calls[e.ref])
	case evReturn, evProgress, evHandler:
		if r := &w.runs[e.ref]; r.host != nil && r.gen == e.gen {
			m.from(r.host)
			m.Subject = w.subjects(r.key)
		}
	case evWake, evHint:
		m.from(w.pumps[e.ref])
	case evBoot, evExit:
		m.Node = w.nodes[e.ref].spec.Name
	case evFault:
		m.Fault, m.Begin = int(e.ref), e.step == 0
	case evEnqueue:
		m.Subject = []Subject{{Job: w.jobs[e.ref].name}}
	case evProbe:
		m.Node = w.sc.Expect.Health[e.ref].Node
	case evOutside:
		o := &w.outs[e.ref]
		m.Subject = w.subjects(o.key)
	}
	w.moment = m
}

func (m *Moment) from(h *host) { m.Node, m.Worker = h.n.spec.Name, h.worker }

func (w *world) aboutCall(m *Moment, f *flight) {
	m.Call = callName(f.call.Kind)
	if f.host != nil {
		m.from(f.host)
	}
	m.Subject = w.callSubjects(f.call, f.reply)
}

// callSubjects lists what a call is about; of a claim, what its reply says.
func (w *world) callSubjects(c *checker.Call, reply store.Reply) (out []Subject) {
	switch r := c.Req.(type) {
	case *store.Renew:
		for i := range r.Rows {
			out = append(out, w.subject(r.Rows[i].Key))
		}
	case *store.Report:
		for i := range r.Rows {
			out = append(out, w.subject(r.Rows[i].Key))
		}
	case *store.Claim:
		if r, ok := reply.(*store.Claimed); ok && r != nil {
			for i := range r.Leases {
				out = append(out, w.subject(r.Leases[i].Key))
			}
		}
	case *store.Enqueue:
		for i := range r.Jobs {
			out = append(out, Subject{Job: w.jobName(r.Jobs[i].ID)})
		}
	case *store.Do:
		switch c := r.Command.(type) {
		case store.Cancel:
			out = append(out, Subject{Job: w.jobName(c.Job)})
		case store.Requeue:
			out = append(out, Subject{Job: w.jobName(c.Job)})
		case store.Pause, store.Resume:
		}
	case *store.Sweep:
	}
	return out
}

func (w *world) subject(k store.LeaseKey) Subject {
	return Subject{Job: w.jobName(k.Job), Attempt: k.Attempt}
}

func (w *world) subjects(k store.LeaseKey) []Subject { return []Subject{w.subject(k)} }
