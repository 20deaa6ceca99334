package travel

import (
	"reflect"
	"time"

	"backwave/checker"
	"backwave/sim"
	"backwave/store"
)

// Moment is one event of a run, with what it did. It is good during the call of
// a visitor only.
type Moment struct {
	*sim.Moment
	Before     time.Duration       // true time of the event before; below 0 = it is the first
	Facts      []Fact              // what the event was and did
	Idle       bool                // nothing came of it: what waits for a node or the store is put off, what is stale forgotten
	Lines      []sim.Line          // that it adds to the story
	Violations []checker.Violation // that it brought to light
}

// Fact is one thing that an event was or did, in the words of breakpoints.
type Fact struct {
	Kind    string // one of Kinds
	Node    string // "" = no node's; "store" of faults of the store
	Job     string // "" = about no job
	Attempt int    // 0 = about no particular one
	Call    string // kind of the call; "" = about none
}

// effects are the kinds of facts beside the kinds of events.
var effects = []string{"call", "lost", "start", "told", "death", "still", "resume", "note", "forget", "nothing", "violation"}

// Kinds returns the kinds of facts: those of events, and of what an event does.
func Kinds() []string { return append(sim.EventKinds(), effects...) }

// With returns o with its story, observer and steps replaced: a run of sc shows
// every moment of it to visit, until that returns false. They are good for one
// run.
func With(sc *sim.Scenario, o sim.Options, visit func(*Moment) bool) sim.Options {
	c := &collector{sc: sc, names: map[store.JobID]string{}}
	c.m.Before = -1
	known := 0
	o.Story = func(l sim.Line) { c.m.Lines = append(c.m.Lines, l) }
	o.Observe = c.observe
	o.Step = func(m *sim.Moment) bool {
		c.m.Moment = m
		c.event(m)
		all := m.Violations()
		c.m.Violations = all[known:]
		known = len(all)
		for _, v := range c.m.Violations {
			c.add(Fact{Kind: "violation", Job: c.names[v.Job]})
		}
		on := visit(&c.m)
		c.m.Facts, c.m.Lines, c.m.Before = c.m.Facts[:0], nil, m.At
		c.done, c.gone = false, false
		return on
	}
	return o
}

// collector turns what an observer is told into facts.
type collector struct {
	sc    *sim.Scenario
	names map[store.JobID]string
	nodes []string // of the pumps
	done  bool     // the call, or the handler, that the event is about got on
	gone  bool     // a message got lost
	m     Moment
}

func (c *collector) add(f Fact) { c.m.Facts = append(c.m.Facts, f) }

// event adds the event itself, once for each attempt that it is about.
func (c *collector) event(m *sim.Moment) {
	f := Fact{Kind: m.Kind, Node: m.Node, Call: m.Call}
	waits := m.Kind == "apply" || m.Kind == "reply" || m.Kind == "return"
	c.m.Idle = waits && !c.done && !c.gone
	switch {
	case c.m.Idle:
		f.Kind = "nothing"
	case m.Kind == "return", waits && !c.done:
		return // observe has added what it came to
	case m.Kind == "fault":
		for _, n := range hits(c.sc.Timeline[m.Fault]) {
			f.Node = n
			c.add(f)
		}
		f.Node, f.Job = "", field(c.sc.Timeline[m.Fault], "Job").String()
	}
	for _, s := range m.Subject {
		f.Job, f.Attempt = s.Job, s.Attempt
		c.add(f)
	}
	if len(m.Subject) == 0 {
		c.add(f)
	}
}

// hits lists the nodes that a fault of the timeline names.
func hits(f sim.Fault) []string {
	if n := field(f, "Node").String(); n != "" {
		return []string{n}
	}
	if list, ok := field(f, "Nodes").Interface().([]string); ok {
		return list
	}
	switch f.(type) {
	case sim.Outage, sim.Stall, sim.Restart, sim.Forget, sim.StoreError:
		return []string{"store"}
	}
	return nil
}

// field returns a field of f, or an empty text if it has none of that name.
func field(f sim.Fault, name string) reflect.Value {
	if v := reflect.ValueOf(f).FieldByName(name); v.IsValid() {
		return v
	}
	return reflect.ValueOf("")
}

// observe takes what happens during an event.
func (c *collector) observe(s sim.Seen) {
	switch s := s.(type) {
	case sim.SawJob:
		c.names[s.Job] = s.Name
	case sim.SawBoot:
		c.nodes = append(c.nodes, s.Node) // pumps are numbered in the order of their starts
	case sim.SawDeath:
		c.done = true
		c.add(Fact{Kind: "death", Node: c.nodes[s.Pump]})
	case sim.SawSent:
		c.call("call", s.Call)
	case sim.SawReturned:
		c.done = true
		c.about(Fact{Kind: "return", Node: c.nodes[s.Pump]}, s.Key)
	case sim.SawAnswered:
		c.done = true
	case sim.SawApplied:
		c.done = true
		if r, ok := s.Reply.(*store.Claimed); ok && r != nil && s.Err == nil {
			for i := range r.Leases {
				c.about(Fact{Kind: "apply", Node: c.node(s.Call.Pump), Call: calls[s.Call.Kind]}, r.Leases[i].Key)
			}
		}
	case sim.SawLost:
		c.gone = true
		c.call("lost", s.Call)
	case sim.SawStarted:
		c.about(Fact{Kind: "start", Node: c.nodes[s.Pump]}, s.Key)
	case sim.SawTold:
		c.about(Fact{Kind: "told", Node: c.nodes[s.Pump]}, s.Key)
	case sim.SawNote:
		c.add(Fact{Kind: "note", Node: c.nodes[s.Pump]})
	case sim.SawStill:
		kind := "still"
		if !s.Begin {
			kind = "resume"
		}
		c.add(Fact{Kind: kind, Node: s.Node})
	case sim.SawForgot:
		c.add(Fact{Kind: "forget", Node: "store"})
	case sim.SawFault, sim.SawViews, sim.SawNodeTime, sim.SawClocks,
		sim.SawOutsideLeft, sim.SawOutsideArrived, sim.SawOutsideRefused, sim.SawOutsideLost, sim.SawOutsideAnswered, sim.SawOutsideGivenUp:
		// the event says it, or nobody has asked
	}
}

func (c *collector) node(id checker.PumpID) string {
	if id < 0 {
		return ""
	}
	return c.nodes[id]
}

func (c *collector) about(f Fact, k store.LeaseKey) {
	f.Job, f.Attempt = c.names[k.Job], k.Attempt
	c.add(f)
}

// call adds a fact for each attempt that a call is about.
func (c *collector) call(kind string, call *checker.Call) {
	f := Fact{Kind: kind, Node: c.node(call.Pump), Call: calls[call.Kind]}
	n := len(c.m.Facts)
	switch r := call.Req.(type) {
	case *store.Renew:
		for i := range r.Rows {
			c.about(f, r.Rows[i].Key)
		}
	case *store.Report:
		for i := range r.Rows {
			c.about(f, r.Rows[i].Key)
		}
	case *store.Enqueue:
		for i := range r.Jobs {
			c.about(f, store.LeaseKey{Job: r.Jobs[i].ID})
		}
	case *store.Claim, *store.Sweep, *store.Do:
	}
	if len(c.m.Facts) == n {
		c.add(f)
	}
}

// Nodes returns the names that a breakpoint may give as node.
func Nodes(sc *sim.Scenario) []string {
	var out []string
	for i := range sc.Nodes {
		out = append(out, sc.Nodes[i].Name)
	}
	return append(out, "store")
}

// calls names the kinds of calls, by checker.CallKind, as faults do.
var calls = []string{"renew", "report", "claim", "sweep", "enqueue", "do", "forged", "commit"}
