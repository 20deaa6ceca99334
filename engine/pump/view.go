package pump

import "backwave/store"

// View is a lease that a pump takes for its own, and until when it does so if
// nothing prolongs it.
type View struct {
	Key   store.LeaseKey
	Until Time // node time; a view that ends at exactly now is over
}

// Views appends the pump's own views to out, in the order of their keys. It is
// for whoever watches a pump; nothing in it depends on it.
func (p *Pump) Views(out []View) []View {
	for i := range p.held.len() {
		if h := p.held.at(i); !h.lost {
			out = append(out, View{h.key, p.viewEnd(h)})
		}
	}
	return out
}

// Snapshot is what a pump knows at one instant, for whoever watches it. It is a
// copy: nothing in the pump depends on it. Times are node time.
type Snapshot struct {
	Phase   string // "serving", "finishing", "draining", "stopped" or "halted"
	Limit   Time   // end of finishing or draining; Never in other phases
	Running int    // handlers that have not returned, the given-up ones included
	Waiting int    // outcomes that have not reached the store
	Claim   uint64 // number of the next claim
	Lanes   []Lane // one per Kind, in their order
	Holds   []Hold // in the order of their keys
}

// Lane is the state of one kind of call.
type Lane struct {
	Kind   Kind
	Op     Op     // in flight; 0 = none
	Sent   Time   // of the call in flight
	GiveUp Time   // of the call in flight: when it is taken for failed
	Due    Time   // if none is in flight: when the next is due; Never if not
	Fault  string // of the episode of transient faults; "" = none
}

// Hold is one attempt that a pump still has to do with: its handler runs, or its
// outcome has not reached the store.
type Hold struct {
	Key       store.LeaseKey
	Until     Time // end of the own view; Never if a transaction of the handler decides
	Lost      bool // the own view is over, or a renewal was refused
	Running   bool // the handler has not returned
	Told      Reason
	Outcome   store.Outcome // to be reported; nil while the handler runs
	InReport  bool          // in the report in flight
	Abandoned bool          // no longer renewed: the handler ignores that it was told to stop
}

// Snapshot returns what the pump knows.
func (p *Pump) Snapshot() Snapshot {
	s := Snapshot{Phase: p.phase.String(), Limit: p.limit, Running: p.running, Waiting: p.waiting, Claim: p.claiming.number}
	for k := range kinds {
		l := &p.lanes[k]
		lane := Lane{Kind: k, Op: l.op, Due: Never, Fault: l.fault}
		switch {
		case l.op != 0:
			lane.Sent, lane.GiveUp = l.sent, l.giveUp
		case p.phase < stopped:
			lane.Due = p.due(k)
		}
		s.Lanes = append(s.Lanes, lane)
	}
	for i := range p.held.len() {
		h := p.held.at(i)
		s.Holds = append(s.Holds, Hold{
			Key: h.key, Until: p.viewEnd(h), Lost: h.lost, Running: h.running, Told: h.told,
			Outcome: h.outcome, InReport: h.inReport, Abandoned: h.abandoned,
		})
	}
	return s
}

// String returns the word for f in a Snapshot.
func (f phase) String() string {
	return [...]string{serving: "serving", finishing: "finishing", draining: "draining", stopped: "stopped", halted: "halted"}[f]
}
