package scenario

import (
	"reflect"
	"time"

	"backwave/engine/pump"
	"backwave/sim"
	"backwave/store"
)

// table describes one mapping of the language. The reader, the writer, the
// JSON Schema and the reference in docs/scenarios.md all go by it.
type table struct {
	name   string // in the schema and the reference; of a fault its keyword
	doc    string
	of     reflect.Type
	fields []field
	block  bool // Format writes it over several lines
	people bool // of a fault: what people do, which is no fault
}

// field is one key of a mapping.
type field struct {
	key  string
	path string // of the Go field; "" = the struct itself
	kind kind
	need bool
	def  string // what its absence means; "" = nothing
	doc  string
}

func (t *table) keys() []string {
	out := make([]string, len(t.fields))
	for i := range t.fields {
		out[i] = t.fields[i].key
	}
	return out
}

func (t *table) field(key string) *field {
	for i := range t.fields {
		if t.fields[i].key == key {
			return &t.fields[i]
		}
	}
	return nil
}

// Bounds that keep a world within what a run can go through.
const (
	longest = 366 * 24 * time.Hour // any span of true time
	years   = store.MaxDuration    // any span that a pump or a store is told
	most    = 100_000              // jobs of one kind
)

var (
	during  = duration{max: longest, instant: true}
	lasting = duration{max: longest}
	some    = duration{min: time.Microsecond, max: longest}
	either  = duration{min: -years, max: years}
	setting = duration{min: time.Millisecond, max: years}
	batch   = integer{1, store.MaxBatch}
)

// scenarioTable returns the mapping that a file is.
func scenarioTable() *table {
	return &table{name: "scenario", doc: "The whole file.", of: reflect.TypeFor[document](), block: true, fields: []field{
		{key: "version", path: "Version", kind: version{"the language (version)"}, def: "1", doc: "Version of this language. Another one is refused."},
		{key: "plan", path: "Plan", kind: record{planTable()}, doc: "Makes the file a plan: a scenario together with the seed of one run."},
		{key: "name", path: "Scenario.Name", kind: word{}, need: true, doc: "Name of the scenario. Shipped ones are called like their file."},
		{key: "story", path: "Scenario.Story", kind: prose{}, doc: "What it is about, for people."},
		{key: "level", path: "Scenario.Level", kind: choice{string(sim.Pristine), string(sim.Recoverable), string(sim.Adversarial)}, need: true, doc: "What may go wrong in it."},
		{key: "for", path: "Scenario.For", kind: duration{min: time.Millisecond, max: longest}, need: true, doc: "How long the world lasts, in true time."},
		{key: "early", path: "Scenario.Early", kind: toggle{}, def: "false", doc: "The world ends earlier: a lease after every job has ended and no fault is to come."},
		{key: "net", path: "Scenario.Net", kind: record{netTable()}, doc: "The network between nodes and store."},
		{key: "store", path: "Scenario.Store", kind: record{clockTable()}, doc: "The store's clock."},
		{key: "groups", path: "Scenario.Groups", kind: many{of: record{groupTable()}, need: true}, need: true, doc: "Worker Groups."},
		{key: "nodes", path: "Scenario.Nodes", kind: many{of: record{nodeTable()}, need: true}, need: true, doc: "Nodes: one process on one machine each."},
		{key: "jobs", path: "Scenario.Jobs", kind: many{of: record{jobTable()}}, doc: "Jobs, and how their handlers behave."},
		{key: "timeline", path: "Scenario.Timeline", kind: many{of: anyFault{}}, doc: "What goes wrong and what people do, in any order."},
		{key: "expect", path: "Scenario.Expect", kind: record{expectTable()}, doc: "What must be so at the end, beside the invariants."},
	}}
}

func planTable() *table {
	return &table{name: "plan", doc: "The header of a plan.", of: reflect.TypeFor[Header](), fields: []field{
		{key: "version", path: "Version", kind: version{"plans (plan.version)"}, need: true, doc: "Version of plans. Another one is refused."},
		{key: "seed", path: "Seed", kind: seed{}, need: true, doc: "Seed of the run."},
		{key: "scenario", path: "Scenario", kind: prose{}, doc: "Where the plan comes from."},
	}}
}

func netTable() *table {
	return &table{name: "net", doc: "The network between nodes and store.", of: reflect.TypeFor[sim.Net](), fields: []field{
		{key: "latency", path: "Latency", kind: some, def: "1ms", doc: "What a message takes at least, one way."},
		{key: "jitter", path: "Jitter", kind: some, def: "latency", doc: "Added at random, up to this."},
		{key: "tail", path: "Tail", kind: integer{0, 1_000_000}, def: "0, none", doc: "One message in this many is 20 times as slow."},
		{key: "hints", path: "Hints", kind: choice{"all", "none", "some", "late", "doubled"}, def: "all", doc: "What becomes of wake-up hints."},
		{key: "hint-delay", path: "HintDelay", kind: some, def: "3s", doc: "How late a hint may be under `hints: late`."},
	}}
}

func clockTable() *table {
	return &table{name: "clock", doc: "A clock at the start of the world.", of: reflect.TypeFor[sim.Clock](), fields: []field{
		{key: "offset", path: "Offset", kind: either, def: "0s", doc: "How far it is ahead of true time. Of a monotonic clock: how long the machine is up."},
		{key: "drift", path: "Drift", kind: integer{-100_000, 100_000}, def: "0", doc: "Parts per million by which it runs faster than true time."},
	}}
}

func groupTable() *table {
	return &table{name: "group", doc: "A Worker Group, the same on every node that runs it.", of: reflect.TypeFor[sim.Group](), block: true, fields: []field{
		{key: "name", path: "Name", kind: word{}, need: true, doc: "Name of the group."},
		{key: "queues", path: "Config", kind: served{}, need: true, doc: "The queues it serves."},
		{key: "pumps", path: "Pumps", kind: integer{1, 64}, def: "1", doc: "Pumps on each node."},
		{key: "pool", path: "Config.PoolSize", kind: batch, def: "20", doc: "Handlers at once, per pump."},
		{key: "lease", path: "Config.LeaseDuration", kind: duration{min: store.MinLease, max: years}, def: "60s", doc: "Length of a lease: the crash-detection window."},
		{key: "heartbeat", path: "Config.HeartbeatInterval", kind: setting, def: "lease / 3", doc: "Between renewals."},
		{key: "maintenance", path: "Config.MaintenanceInterval", kind: setting, def: "5s", doc: "Between sweeps."},
		{key: "poll", path: "Config.PollInterval", kind: setting, def: "1s", doc: "Between claims when idle, and before a failed call is tried again."},
		{key: "max-poll", path: "Config.MaxPollInterval", kind: setting, def: "poll", doc: "Ceiling of the idle backoff."},
		{key: "operation-timeout", path: "Config.OperationTimeout", kind: setting, def: "lease / 6, at most 10s", doc: "After which a call is given up."},
		{key: "abandon-after", path: "Config.AbandonAfter", kind: setting, def: "5m", doc: "How long a handler may ignore its timeout or a cancel before its lease is no longer renewed."},
		{key: "claim-batch", path: "Config.ClaimBatch", kind: batch, def: "500", doc: "Most leases of one claim."},
		{key: "report-batch", path: "Config.ReportBatch", kind: batch, def: "500", doc: "Most outcomes of one report."},
		{key: "sweep-batch", path: "Config.SweepBatch", kind: batch, def: "500", doc: "Most leases one sweep disposes of."},
		{key: "retry", path: "Config.Terms.Default", kind: record{policyTable()}, def: "see below", doc: "When a job is tried again and when it is given up."},
		{key: "retry-by-name", path: "Config.Terms.ByName", kind: byName{of: record{policyTable()}, field: "Policy", keys: toHandler}, doc: "The same for jobs of one name, in place of `retry`."},
		{key: "timeouts", path: "Config.Timeouts", kind: byName{of: setting, field: "After", keys: toHandler}, doc: "How long handlers of a name may run."},
		{key: "release-on-drain", path: "Config.ReleaseOnDrain", kind: toggle{}, def: "false", doc: "A drain gives a lease back once its handler has returned."},
		{key: "finish", path: "Config.FinishTimeout", kind: duration{max: years}, def: "0s, off", doc: "How long a drain lets handlers finish first."},
		{key: "shutdown", path: "Config.ShutdownTimeout", kind: setting, def: "30s", doc: "How long a drain tries to deliver outcomes and waits for handlers."},
	}}
}

func policyTable() *table {
	return &table{name: "retry", doc: "A retry policy: after the n-th attempt that counts a job rests for first × factorⁿ⁻¹, spread by the jitter, at most cap.", of: reflect.TypeFor[store.Policy](), fields: []field{
		{key: "max", path: "MaxAttempts", kind: integer{1, store.MaxCeiling}, def: "10", doc: "Attempts that count before the job is dead-lettered."},
		{key: "first", path: "First", kind: duration{min: time.Microsecond, max: years}, def: "2s", doc: "Rest after the first attempt."},
		{key: "factor", path: "Factor", kind: integer{1, store.MaxFactor}, def: "2", doc: "Multiplies the rest with every further attempt."},
		{key: "cap", path: "Cap", kind: duration{min: time.Microsecond, max: years}, def: "5m, or first if that is longer", doc: "Longest rest."},
		{key: "jitter", path: "", kind: spread{}, def: "10", doc: "Spread to either side."},
	}}
}

func nodeTable() *table {
	return &table{name: "node", doc: "One process on one machine.", of: reflect.TypeFor[sim.Node](), fields: []field{
		{key: "name", path: "Name", kind: word{reserved: []string{"store", "all"}}, need: true, doc: "Name of the node; without a slash."},
		{key: "groups", path: "Groups", kind: many{of: ref{toGroup}, one: true}, def: "all", doc: "The groups it runs."},
		{key: "start", path: "Start", kind: during, def: "0s", doc: "When it starts."},
		{key: "mono", path: "Mono", kind: record{clockTable()}, doc: "Its monotonic clock."},
		{key: "wall", path: "Wall", kind: record{clockTable()}, doc: "Its wall clock."},
	}}
}

func jobTable() *table {
	return &table{name: "job", doc: "A job, or `count` equal ones.", of: reflect.TypeFor[sim.Job](), fields: []field{
		{key: "id", path: "ID", kind: word{}, need: true, doc: "The name by which the file speaks of it. With a count these are id-1, id-2, …"},
		{key: "count", path: "Count", kind: integer{1, most}, def: "1", doc: "How many equal ones there are."},
		{key: "name", path: "Name", kind: word{}, def: "work", doc: "Finds its handler, its timeout and its retry policy."},
		{key: "queue", path: "Queue", kind: ref{toQueue}, def: "the first queue of the first group", doc: "Its queue."},
		{key: "at", path: "At", kind: during, def: "0s", doc: "When a client enqueues it."},
		{key: "every", path: "Every", kind: lasting, def: "0s", doc: "Between the jobs of a count."},
		{key: "in", path: "In", kind: duration{max: years}, def: "0s", doc: "Due this long after its enqueue."},
		{key: "max", path: "MaxAttempts", kind: integer{1, store.MaxCeiling}, def: "that of its group", doc: "Attempts that count before it is dead-lettered."},
		{key: "unique", path: "Unique", kind: word{}, doc: "Unique key: at most one job that is not terminal has it."},
		{key: "payload", path: "Payload", kind: integer{0, store.MaxPayload}, def: "0", doc: "Bytes of payload."},
		{key: "run", path: "Run", kind: many{of: record{scriptTable()}, one: true}, def: "works 1s and succeeds", doc: "What its handler does, one entry per attempt, the last for all that follow."},
	}}
}

func scriptTable() *table {
	return &table{name: "script", doc: "What a handler does in one attempt.", of: reflect.TypeFor[sim.Script](), fields: []field{
		{key: "for", path: "For", kind: lasting, def: "0s", doc: "How long it works."},
		{key: "end", path: "End", kind: choice(sim.Ends), def: "ok", doc: "How it ends. `crash` kills its node, `hang` never ends, `unknown` finds no handler of its name, `undecodable` cannot read its payload."},
		{key: "after", path: "After", kind: duration{max: years}, def: "0s", doc: "Delay of snooze and retry-after; of `crash`, how long the node is down (0s: 5s)."},
		{key: "on-cancel", path: "OnCancel", kind: choice{"stop", "ignore", "ok"}, def: "stop", doc: "What it does when told to stop: return the cause, go on, or return nil."},
		{key: "stop-in", path: "StopIn", kind: some, def: "10ms", doc: "How long it takes to obey."},
		{key: "output", path: "Output", kind: integer{0, 1 << 24}, def: "0", doc: "Bytes of output it sets."},
		{key: "progress", path: "Progress", kind: lasting, def: "0s, never", doc: "It reports progress this often."},
	}}
}

func expectTable() *table {
	return &table{name: "expect", doc: "What must be so at the end, beside the invariants.", of: reflect.TypeFor[sim.Expect](), block: true, fields: []field{
		{key: "violates", path: "Violates", kind: many{of: word{}, one: true}, doc: "Invariants that must be violated: for scenarios that show a checker at work."},
		{key: "jobs", path: "Jobs", kind: many{of: record{expectJobTable()}}, doc: "What became of jobs."},
		{key: "health", path: "Health", kind: many{of: record{healthTable()}}, doc: "What health endpoints answered."},
		{key: "situations", path: "Situations", kind: many{of: choice(sim.Situations())}, doc: "What must have happened."},
	}}
}

func expectJobTable() *table {
	return &table{name: "expected job", doc: "What became of a job. What is left out may be anything.", of: reflect.TypeFor[sim.ExpectJob](), fields: []field{
		{key: "job", path: "Job", kind: ref{toJobs}, need: true, doc: "The job; the id of a job with a count means each of them."},
		{key: "state", path: "State", kind: states(), doc: "Its state at the end."},
		{key: "attempts", path: "Attempts", kind: bounds{}, doc: "Attempts claimed."},
		{key: "ends", path: "Ends", kind: many{of: ends(), exact: true}, doc: "Recorded ends of all attempts, in order."},
		{key: "told", path: "Told", kind: many{of: reasons(), exact: true}, doc: "Reasons for which its handlers were told to stop, in order; `[]` = nobody was told."},
		{key: "starts", path: "Starts", kind: bounds{}, doc: "Handlers started."},
		{key: "fenced", path: "Fenced", kind: bounds{}, doc: "Outcomes answered as stale."},
		{key: "renewals", path: "Renewals", kind: bounds{}, doc: "Renewals of its leases that the store granted."},
		{key: "after", path: "After", kind: during, doc: "It became terminal no earlier."},
		{key: "by", path: "By", kind: during, doc: "It became terminal no later."},
	}}
}

func healthTable() *table {
	groups := many{of: ref{toGroup}, one: true, exact: true}
	return &table{name: "health", doc: "What a node's health endpoint answered. What is left out may be anything.", of: reflect.TypeFor[sim.ExpectHealth](), fields: []field{
		{key: "at", path: "At", kind: during, need: true, doc: "The instant."},
		{key: "node", path: "Node", kind: ref{toNode}, need: true, doc: "The node."},
		{key: "healthy", path: "Healthy", kind: toggle{}, doc: "Whether no group was wholly halted."},
		{key: "halted", path: "Halted", kind: groups, doc: "Groups wholly halted, exactly these; `[]` = none."},
		{key: "partial", path: "Partial", kind: groups, doc: "Groups partially halted, exactly these."},
		{key: "degraded", path: "Degraded", kind: groups, doc: "Groups degraded, exactly these."},
	}}
}

func states() (out choice) {
	for s := store.Scheduled; s <= store.Quarantined; s++ {
		out = append(out, s.String())
	}
	return out
}

func ends() (out choice) {
	for k := store.EndSuccess; k <= store.EndForce; k++ {
		out = append(out, k.String())
	}
	return out
}

func reasons() (out choice) {
	for r := pump.CancelRequested; r <= pump.TimedOut; r++ {
		out = append(out, r.String())
	}
	return out
}

func classes() (out choice) {
	for f := store.FaultFatal; f <= store.FaultBusy; f++ {
		out = append(out, f.String())
	}
	return out
}
