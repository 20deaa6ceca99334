package scenario

import (
	"reflect"
	"slices"

	"backwave/sim"
)

func fault[F sim.Fault](keyword, doc string, fields ...field) *table {
	return &table{name: keyword, doc: doc, of: reflect.TypeFor[F](), fields: fields}
}

func people[F sim.Fault](keyword, doc string, fields ...field) *table {
	t := fault[F](keyword, doc, fields...)
	t.people = true
	return t
}

// faultTables returns the entries of a timeline, in the order of the
// reference. The field called like the fault is its keyword.
func faultTables() []*table {
	out := append(nodeFaults(), clockFaults()...)
	out = append(out, netFaults()...)
	out = append(out, handlerFault())
	out = append(out, storeFaults()...)
	return append(out, peopleTables()...)
}

var (
	atField    = field{key: "at", path: "At", kind: during, need: true, doc: "When."}
	forField   = field{key: "for", path: "For", kind: some, need: true, doc: "How long."}
	twiceField = field{key: "twice", path: "Twice", kind: lasting, def: "0s, once", doc: "The same request again this long after."}
	lostField  = field{key: "lost", path: "Lost", kind: toggle{}, def: "false", doc: "The answer to the first request is lost."}
)

// upTo is the length of a fault that may never end.
func upTo(end string) field {
	return field{key: "for", path: "For", kind: lasting, def: "0s, for good", doc: end}
}

// subject is the field that carries the keyword of a fault: what it hits.
func subject(keyword, path string, k kind, doc string) field {
	return field{key: keyword, path: path, kind: k, need: true, doc: doc}
}

func nodeFaults() []*table {
	node := ref{toNode}
	return []*table{
		fault[sim.Crash]("crash", "Kills a node: all its memory is gone.", atField, subject("crash", "Node", node, "The node."),
			field{key: "restart", path: "Restart", kind: lasting, def: "0s, never", doc: "It is up again this long after."}),
		fault[sim.Start]("start", "Boots a node that is down.", atField, subject("start", "Node", node, "The node.")),
		fault[sim.Drain]("drain", "Asks a node to shut down, as SIGTERM does.", atField, subject("drain", "Node", node, "The node."),
			field{key: "restart", path: "Restart", kind: lasting, def: "0s, never", doc: "It is up again this long after it has exited."}),
		fault[sim.Pause]("pause", "A node stands still as a whole (garbage collection, container freeze, VM migration): work, timers and replies wait until it ends.", atField, subject("pause", "Node", node, "The node."), forField),
		fault[sim.Suspend]("suspend", "A pause through which the monotonic clock stands still as well, while the wall clock goes on.", atField, subject("suspend", "Node", node, "The node."), forField),
	}
}

func clockFaults() []*table {
	clock := ref{toClock}
	return []*table{
		fault[sim.Step]("step", "Moves a wall clock, or the store's clock, forward or back.", atField, subject("step", "Node", clock, "Whose."),
			field{key: "by", path: "By", kind: either, need: true, doc: "How far; negative is back."}),
		fault[sim.Drift]("drift", "Changes how fast the clocks of a node, or the store's, run.", atField, subject("drift", "Node", clock, "Whose."),
			field{key: "ppm", path: "PPM", kind: integer{-100_000, 100_000}, need: true, doc: "Parts per million faster than true time."}),
		fault[sim.Freeze]("freeze", "Stops a wall clock, or the store's clock; it goes on from where it stood.", atField, subject("freeze", "Node", clock, "Whose."), forField),
	}
}

func netFaults() []*table {
	nodes := many{of: ref{toNode}, one: true, none: "all"}
	pump := address{}
	do := field{key: "do", path: "Do", kind: choice{"lose-request", "lose-reply", "delay-request", "delay-reply", "double"}, need: true, doc: "What happens to it."}
	by := field{key: "by", path: "By", kind: lasting, def: "0s", doc: "Length of a delay; of `double`: when the second copy arrives."}
	nth := field{key: "nth", path: "Nth", kind: integer{1, 1_000_000}, need: true, doc: "Which one, from 1, counted over all starts of the node."}
	call := field{key: "call", path: "Call", kind: choice{"claim", "renew", "report", "sweep"}, need: true, doc: "The kind of call."}
	return []*table{
		fault[sim.Partition]("partition", "Cuts nodes off from the store.", atField, subject("partition", "Nodes", nodes, "The nodes."), upTo("How long."),
			field{key: "lost", path: "Lost", kind: choice{"both", "requests", "replies"}, def: "both", doc: "What does not get through. With `replies` the store carries out what it is asked."}),
		fault[sim.Slow]("slow", "Makes the network slower.", atField, subject("slow", "Nodes", nodes, "The nodes."), upTo("How long."),
			field{key: "by", path: "By", kind: some, need: true, doc: "Added to every message, each way."}),
		fault[sim.OnCall]("on-call", "Hits one call of a pump.", subject("on-call", "Pump", pump, "The pump."), call, nth, do, by),
		fault[sim.OnEnqueue]("on-enqueue", "Hits the enqueue of a job.", subject("on-enqueue", "Job", ref{toJob}, "The job."),
			field{key: "nth", path: "Nth", kind: integer{1, 1_000_000}, def: "1", doc: "Which send of it."}, do, by),
		fault[sim.Aim]("aim", "Delays a call so that the store carries it out at an instant of truth, where bugs of one tick live.", subject("aim", "Pump", pump, "The pump."), call, nth,
			field{key: "to", path: "At", kind: choice{"expiry", "due", "sweep"}, need: true, doc: "The expiry of the first lease it is about (of claims and sweeps: of the next lease to lapse), the instant at which the next job becomes due, or the next sweep of any pump that reaches the store."},
			field{key: "off", path: "Off", kind: either, def: "0s", doc: "Added to that instant. Before a sweep means just before it, at the same instant, however far."}),
		fault[sim.Forge]("forge", "Sends an altered copy of a renewal or a report.", subject("forge", "Pump", pump, "The pump."),
			field{key: "call", path: "Call", kind: choice{"renew", "report"}, need: true, doc: "The kind of call."}, nth,
			field{key: "field", path: "Field", kind: choice{"worker", "claim", "attempt"}, need: true, doc: "What is altered."},
			field{key: "by", path: "By", kind: integer{-1_000_000, 1_000_000}, def: "1", doc: "Added to the number; of a worker: which other pump of the world."},
			field{key: "after", path: "After", kind: lasting, def: "0s", doc: "The copy arrives this long after the original was sent."}),
	}
}

func handlerFault() *table {
	return fault[sim.OnHandler]("on-handler", "Hits one call that the handler of a job makes: a sleep, a request to the world outside, a commit. It is for handlers in Go (package sim/simtest); in a world of scripts it hits nothing.", subject("on-handler", "Job", ref{toJob}, "The job."),
		field{key: "attempt", path: "Attempt", kind: integer{1, 1_000_000}, def: "1", doc: "Which attempt."},
		field{key: "nth", path: "Nth", kind: integer{1, 1_000_000}, def: "1", doc: "Which call of that attempt."},
		field{key: "do", path: "Do", kind: choice{"lose-request", "lose-reply", "delay-request", "delay-reply", "refuse", "crash", "crash-after", "pause", "pause-after"}, need: true, doc: "What happens: `refuse` answers with an error and without effect; `crash` takes the node down before the call has an effect, `crash-after` after it; `pause` makes the node stand still just before the call leaves, which it then does first of all, `pause-after` just after it has left."},
		field{key: "by", path: "By", kind: lasting, def: "0s", doc: "Length of a delay or a pause; of a crash: the node is up again this long after, 1ms at least."})
}

func storeFaults() []*table {
	return []*table{
		fault[sim.StoreError]("store-error", "Makes calls of pumps fail without effect.", atField, subject("store-error", "Class", classes(), "The class of the error."), upTo("How long."),
			field{key: "calls", path: "Calls", kind: many{of: choice{"claim", "renew", "report", "sweep"}, one: true}, def: "all", doc: "Kinds of calls."},
			field{key: "nodes", path: "Nodes", kind: many{of: ref{toNode}, one: true}, def: "all", doc: "Whose calls."},
			field{key: "group", path: "Group", kind: ref{toGroup}, def: "all", doc: "Whose calls."}),
		fault[sim.Outage]("outage", "Swallows requests.", atField, subject("outage", "For", some, "How long.")),
		fault[sim.Stall]("stall", "Keeps requests waiting until it ends.", atField, subject("stall", "For", some, "How long.")),
		fault[sim.Restart]("restart", "The store loses what is under way and refuses connections.", atField, subject("restart", "For", some, "How long.")),
		fault[sim.Damage]("damage", "Makes a row unreadable.", atField, subject("damage", "Job", ref{toJob}, "The job.")),
		fault[sim.Hold]("hold", "Keeps a row locked, as somebody's open transaction does.", atField, subject("hold", "Job", ref{toJob}, "The job."), forField),
		fault[sim.Forget]("forget", "Undoes the last commits, as a failover to a stale replica does.", atField, subject("forget", "Back", some, "How much of the past is gone.")),
	}
}

func peopleTables() []*table {
	job, queue := ref{toJob}, ref{toQueue}
	return []*table{
		people[sim.Cancel]("cancel", "An operator cancels a job.", atField, subject("cancel", "Job", job, "The job."),
			field{key: "force", path: "Force", kind: toggle{}, def: "false", doc: "End a live lease at once."}, twiceField, lostField),
		people[sim.Requeue]("requeue", "An operator starts a new life of a dead-lettered or quarantined job.", atField, subject("requeue", "Job", job, "The job."), twiceField, lostField),
		people[sim.PauseQueue]("pause-queue", "An operator stops claims from a queue.", atField, subject("pause-queue", "Queue", queue, "The queue."), twiceField, lostField),
		people[sim.ResumeQueue]("resume-queue", "An operator lets claims go on.", atField, subject("resume-queue", "Queue", queue, "The queue."), twiceField, lostField),
		people[sim.EnqueueAgain]("enqueue-again", "A client enqueues the id of a job once more.", atField, subject("enqueue-again", "Job", job, "The job.")),
	}
}

// FaultDoc describes one kind of entry of a timeline.
type FaultDoc struct {
	Name   string // its keyword
	Doc    string // a sentence
	People bool   // what people do, which is no fault
	Fields []FieldDoc
}

// People reports whether an entry of a timeline is what people do, which is no
// fault.
func People(f sim.Fault) bool {
	for _, t := range faultTables() {
		if t.of == reflect.TypeOf(f) {
			return t.people
		}
	}
	return false
}

// Kind returns the keyword of an entry of a timeline.
func Kind(f sim.Fault) string {
	for _, t := range faultTables() {
		if t.of == reflect.TypeOf(f) {
			return t.name
		}
	}
	return ""
}

// Without returns sc with no entry of a kind in its timeline, and Only with no
// other. sc is left as it is.
func Without(sc *sim.Scenario, kind string) *sim.Scenario {
	return cut(sc, func(f sim.Fault) bool { return Kind(f) == kind })
}

// Only is described at Without.
func Only(sc *sim.Scenario, kind string) *sim.Scenario {
	return cut(sc, func(f sim.Fault) bool { return Kind(f) != kind })
}

func cut(sc *sim.Scenario, gone func(sim.Fault) bool) *sim.Scenario {
	c := *sc
	c.Timeline = slices.DeleteFunc(slices.Clone(sc.Timeline), gone)
	return &c
}

// FieldDoc describes one key of a mapping.
type FieldDoc struct {
	Name    string
	Value   string // what can stand there
	Default string // "" if it must be given, or if there is none
	Need    bool
	Doc     string
}

// Faults describes everything that a timeline can hold, in the order of the
// reference.
func Faults() (out []FaultDoc) {
	for _, t := range faultTables() {
		out = append(out, FaultDoc{Name: t.name, Doc: t.doc, People: t.people, Fields: t.docs()})
	}
	return out
}

func (t *table) docs() (out []FieldDoc) {
	for i := range t.fields {
		f := &t.fields[i]
		out = append(out, FieldDoc{Name: f.key, Value: f.kind.what(), Default: f.def, Need: f.need, Doc: f.doc})
	}
	return out
}

// anyFault is an entry of a timeline: a mapping with exactly one keyword.
type anyFault struct{}

func (k anyFault) what() string { return "mapping with one of " + listed(keywords()) }

func keywords() (out []string) {
	for _, t := range faultTables() {
		out = append(out, t.name)
	}
	return out
}

// pick returns the fault that n speaks of. The keyword of one fault may be a
// field of another: {crash: n1, restart: 5s} is a crash.
func (k anyFault) pick(n *node) (found []*table) {
	for _, t := range faultTables() {
		if n.find(t.name) != nil {
			found = append(found, t)
		}
	}
	for _, t := range found {
		all := true
		for _, o := range found {
			all = all && t.field(o.name) != nil
		}
		if all {
			return []*table{t}
		}
	}
	return found
}

func (k anyFault) read(d *decoder, n *node, v reflect.Value) {
	if n.shape != mapping {
		d.wrong(n, k.what())
		return
	}
	found := k.pick(n)
	switch len(found) {
	case 1:
		f := reflect.New(found[0].of).Elem()
		d.fields(n, found[0], f)
		v.Set(f)
	case 0:
		d.noFault(n, keywords())
	default:
		d.fail(n, found[1].name, "a second fault in one entry, beside "+found[0].name, "an entry for each")
	}
}

func (k anyFault) write(v reflect.Value) *node {
	f := reflect.New(v.Elem().Type()).Elem() // an interface's content cannot be addressed
	f.Set(v.Elem())
	for _, t := range faultTables() {
		if t.of == f.Type() {
			return record{t}.write(f)
		}
	}
	return nil
}

func (k anyFault) schema(s *schemas) any {
	var forms []any
	for _, t := range faultTables() {
		forms = append(forms, s.record(t))
	}
	return object{"anyOf": forms}
}
