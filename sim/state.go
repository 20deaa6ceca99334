package sim

import (
	"cmp"
	"slices"
	"time"

	"backwave/checker"
	"backwave/engine/pump"
	"backwave/store"
)

// State is what a world is like at one instant: all that a person may want to
// know of it, as data. Durations in JSON are nanoseconds. Times are true time
// since the start of the world, but those of rows: they are the store's.
type State struct {
	Event uint64        `json:"event"` // the last one
	At    time.Duration `json:"at"`
	Nodes []NodeState   `json:"nodes"`
	Store *StoreState   `json:"store,omitempty"`
	Calls []CallState   `json:"calls,omitempty"` // under way, in the order of their sends
}

// NodeState is a node, and the pumps of its process.
type NodeState struct {
	Name    string        `json:"name"`
	Up      bool          `json:"up"`
	Process int           `json:"process"`           // number of the start, from 1; 0 = not started yet
	Still   bool          `json:"still,omitempty"`   // it stands still
	Arrived int           `json:"arrived,omitempty"` // events that wait until it goes on
	Exiting bool          `json:"exiting,omitempty"` // it was asked to shut down
	Cut     string        `json:"cut,omitempty"`     // "requests", "replies" or "both" do not get through
	Ahead   time.Duration `json:"ahead,omitempty"`   // of its wall clock, of true time
	Pumps   []PumpState   `json:"pumps,omitempty"`   // of a node that is up
}

// PumpState is what a pump knows and believes.
type PumpState struct {
	Worker   string         `json:"worker"`
	Group    string         `json:"group"`
	Phase    string         `json:"phase"`             // see pump.Snapshot
	Limit    time.Duration  `json:"limit,omitempty"`   // end of the phase; 0 = none
	Wake     time.Duration  `json:"wake,omitempty"`    // when it next does something by itself; 0 = never
	Running  int            `json:"running"`           // handlers
	Waiting  int            `json:"waiting,omitempty"` // outcomes that have not reached the store
	Lanes    []LaneState    `json:"lanes"`             // its calls, by kind
	Leases   []LeaseState   `json:"leases,omitempty"`
	Handlers []HandlerState `json:"handlers,omitempty"`
}

// LaneState is the state of one kind of call of a pump.
type LaneState struct {
	Call   string        `json:"call"`
	Sent   time.Duration `json:"sent,omitempty"`    // of the call it waits for; 0 = none
	GiveUp time.Duration `json:"give_up,omitempty"` // when it takes that for failed
	Due    time.Duration `json:"due,omitempty"`     // of the next call, if none is awaited; 0 = not as things are
	Fault  string        `json:"fault,omitempty"`   // the transient fault that it meets again and again
}

// LeaseState is an attempt that a pump still has to do with.
type LeaseState struct {
	Subject
	Until     time.Duration `json:"until,omitempty"` // when its own view ends, if no clock is bent; 0 = not by itself
	Lost      bool          `json:"lost,omitempty"`  // the pump has given the lease up
	Running   bool          `json:"running,omitempty"`
	Told      string        `json:"told,omitempty"`    // why the handler was told to stop
	Outcome   string        `json:"outcome,omitempty"` // to be reported
	InReport  bool          `json:"in_report,omitempty"`
	Abandoned bool          `json:"abandoned,omitempty"` // no longer renewed
	Store     string        `json:"store"`               // what the store says: "holds", "lapsed" or "over"
}

// HandlerState is a handler that has not returned.
type HandlerState struct {
	Subject
	Begun time.Duration `json:"begun"`
	Ends  time.Duration `json:"ends,omitempty"` // by its script, if nothing comes between; 0 = unknown, as while its node stands still
}

// StoreState is the store.
type StoreState struct {
	Ahead   time.Duration `json:"ahead,omitempty"` // of its clock, of true time
	Trouble []string      `json:"trouble,omitempty"`
	Paused  []string      `json:"paused,omitempty"` // queues, by name
	Rows    []RowState    `json:"rows"`             // in the order of their enqueue
}

// RowState is one job in the store. Its times are by the store's clock.
type RowState struct {
	Job     string        `json:"job"`
	Queue   string        `json:"queue"`
	State   string        `json:"state"`
	Attempt int           `json:"attempt"`
	Due     time.Duration `json:"due,omitempty"` // of a scheduled one
	Worker  string        `json:"worker,omitempty"`
	Until   time.Duration `json:"until,omitempty"` // end of the lease of an executing one
	Cancel  bool          `json:"cancel,omitempty"`
	Locked  bool          `json:"locked,omitempty"` // somebody's transaction holds the row
	Damage  string        `json:"damage,omitempty"`
	Ends    []string      `json:"ends,omitempty"` // of its attempts
}

// CallState is a call under way.
type CallState struct {
	From  string        `json:"from"` // a worker, "client" or "operator"
	Call  string        `json:"call"`
	About []Subject     `json:"about,omitempty"`
	Sent  time.Duration `json:"sent"`
	Where string        `json:"where"`         // "to the store", "to its sender", "waits for a sweep", "waits for its node"
	Due   time.Duration `json:"due,omitempty"` // when it gets there; 0 = unknown
}

// State returns what the world is like after the event.
func (m *Moment) State() *State {
	w := m.w
	s := &State{Event: m.Number, At: m.At, Store: w.storeState(), Calls: w.callStates()}
	for _, n := range w.nodes {
		s.Nodes = append(s.Nodes, w.nodeState(n))
	}
	return s
}

func (w *world) nodeState(n *node) NodeState {
	s := NodeState{
		Name: n.spec.Name, Up: n.up, Process: int(n.process), Still: n.still > 0, Arrived: len(n.waiting), Exiting: n.exiting,
		Ahead: time.Duration(n.wall.read(w.now) - epoch - w.now),
	}
	switch {
	case n.cut[0] > 0 && n.cut[1] > 0:
		s.Cut = "both"
	case n.cut[0] > 0:
		s.Cut = "requests"
	case n.cut[1] > 0:
		s.Cut = "replies"
	}
	if n.up {
		for _, h := range n.hosts {
			s.Pumps = append(s.Pumps, h.state())
		}
	}
	return s
}

func (h *host) state() PumpState {
	w, p := h.w, h.shell.Snapshot()
	s := PumpState{
		Worker: h.worker, Group: h.group.name, Phase: p.Phase, Limit: h.instant(p.Limit), Wake: h.instant(h.wakeAt),
		Running: p.Running, Waiting: p.Waiting,
	}
	for _, l := range p.Lanes {
		lane := LaneState{Call: l.Kind.String(), Due: h.instant(l.Due), Fault: l.Fault}
		if l.Op != 0 {
			lane.Sent, lane.GiveUp = h.instant(l.Sent), h.instant(l.GiveUp)
		}
		s.Lanes = append(s.Lanes, lane)
	}
	for _, x := range p.Holds {
		lease := LeaseState{
			Subject: w.subject(x.Key), Until: h.instant(x.Until), Lost: x.Lost, Running: x.Running,
			InReport: x.InReport, Abandoned: x.Abandoned, Store: w.says(h, x.Key),
		}
		if x.Lost {
			lease.Until = 0
		}
		if x.Told != 0 {
			lease.Told = x.Told.String()
		}
		if x.Outcome != nil {
			lease.Outcome = x.Outcome.Kind().String()
		}
		s.Leases = append(s.Leases, lease)
	}
	for _, i := range h.runs {
		r := &w.runs[i]
		run := HandlerState{Subject: w.subject(r.key), Begun: time.Duration(r.begun)}
		if r.co == nil && r.ends != never && h.n.still == 0 {
			run.Ends = time.Duration(r.due())
		}
		s.Handlers = append(s.Handlers, run)
	}
	return s
}

// instant returns the true time at which node time is at, if no clock is bent;
// 0 if it will not be. What is past may be off by the drift of the clock since.
func (h *host) instant(at pump.Time) time.Duration {
	if at == pump.Never {
		return 0
	}
	n := h.n
	if past := n.mono.read(h.w.now) - (n.monoAt + int64(at) - n.fold.Now); past > 0 {
		return time.Duration(max(0, h.w.now-past))
	}
	if t := h.trueTime(at); t != never {
		return time.Duration(t)
	}
	return 0
}

// says returns what the store knows of the lease that h has, or had.
func (w *world) says(h *host, k store.LeaseKey) string {
	row, ok := w.store.Lookup(k.Job)
	switch {
	case !ok || row.State != store.Executing || row.Attempt != k.Attempt || row.Claim != k.Claim || row.Worker != h.worker:
		return "over"
	case row.LeaseUntil <= w.storeNow():
		return "lapsed"
	}
	return "holds"
}

func (w *world) storeState() *StoreState {
	s := &StoreState{Ahead: time.Duration(w.storeClock.read(w.now) - epoch - w.now)}
	for _, x := range []struct {
		is   bool
		what string
	}{
		{w.net.outage > 0, "answers nobody"},
		{len(w.net.stall) > 0, "stalls"},
		{w.net.refuse > 0, "is down"},
		{len(w.net.errors) > 0, "answers with errors"},
	} {
		if x.is {
			s.Trouble = append(s.Trouble, x.what)
		}
	}
	for q, paused := range w.paused { //det:ok sorted below
		if paused {
			s.Paused = append(s.Paused, q)
		}
	}
	slices.Sort(s.Paused)
	w.store.Each(func(row *store.Job) bool {
		s.Rows = append(s.Rows, w.rowState(row))
		return true
	})
	return s
}

func (w *world) rowState(row *store.Job) RowState {
	since := func(i store.Instant) time.Duration { return time.Duration(int64(i)*1000 - epoch) }
	s := RowState{Job: w.jobName(row.ID), Queue: row.Queue, State: row.State.String(), Attempt: row.Attempt, Cancel: row.CancelRequested, Damage: row.Damage}
	if j, ok := w.byID[row.ID]; ok {
		s.Locked = w.jobs[j].held
	}
	if row.State == store.Scheduled {
		s.Due = since(row.Due)
	}
	if row.State == store.Executing {
		s.Worker, s.Until = row.Worker, since(row.LeaseUntil)
	}
	for _, e := range row.Ends {
		s.Ends = append(s.Ends, e.Kind.String())
	}
	return s
}

// callStates lists the calls under way.
func (w *world) callStates() []CallState {
	type entry struct {
		serial checker.Ghost
		CallState
	}
	var list []entry
	add := func(f *flight, where string, due int64) {
		c := CallState{From: "client", Call: callName(f.call.Kind), About: w.callSubjects(f.call, f.reply), Sent: time.Duration(f.call.SentTrue), Where: where, Due: time.Duration(due)}
		if f.host != nil {
			c.From = f.host.worker
		} else if f.call.Kind == checker.CallDo {
			c.From = "operator"
		}
		list = append(list, entry{f.call.Ghost, c})
	}
	for _, e := range w.queue.heap {
		switch e.kind { //nolint:exhaustive // the others are no calls
		case evApply:
			add(&w.calls[e.ref], "to the store", e.at)
		case evReply:
			add(&w.calls[e.ref], "to its sender", e.at)
		}
	}
	for i := range w.ambush {
		add((*flight)(&w.ambush[i]), "waits for a sweep", 0)
	}
	for _, n := range w.nodes {
		for _, e := range n.waiting {
			if e.kind == evReply {
				add(&w.calls[e.ref], "waits for its node", 0)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.serial, b.serial), cmp.Compare(a.Due, b.Due))
	})
	out := make([]CallState, len(list))
	for i := range list {
		out[i] = list[i].CallState
	}
	return out
}
