package explore

// Preset is a world with a name.
type Preset struct {
	Name    string
	Text    string // what is in it, for people
	Options Options
}

// Presets lists the worlds that have names: first those that take seconds, then
// the big ones.
func Presets() []Preset {
	list := []Preset{
		{"one-fault", "2 nodes, 1 job, 1 fault, replies separate", Options{Nodes: 2, Jobs: 1, Faults: 1}},
		{"fused", "the same, replies fused", Options{Nodes: 2, Jobs: 1, Faults: 1, Fused: true}},
		{"pool", "1 node with a pool of 2, 2 jobs, a crash, a lost reply or a request that comes twice", Options{Nodes: 1, Jobs: 2, Pool: 2, Faults: 1, Kinds: Crash | LostReply | Doubled, Fused: true}},
		{"batch", "1 node whose sweeps dispose of one lease at a time, 2 jobs, a crash", Options{Nodes: 1, Jobs: 2, Pool: 2, Sweep: 1, Faults: 1, Kinds: Crash, Fused: true}},
		{"release", "drains that give leases back", Options{Nodes: 2, Jobs: 1, Faults: 1, Kinds: Drain, Release: true}},
		{"finish", "drains that let handlers finish", Options{Nodes: 2, Jobs: 1, Faults: 1, Kinds: Drain, Finish: true}},
		{"cancel", "an operator's cancel, and a crash or another", Options{Nodes: 2, Jobs: 1, Faults: 2, Kinds: Cancel | Crash, Fused: true}},
		{"timeout", "handlers that are told to stop in time, a crash or a delay", Options{Nodes: 2, Jobs: 1, Faults: 1, Kinds: Crash | Late, Timeout: true, Fused: true}},
		{"refused", "calls that are refused, with errors that pass and one that does not", Options{Nodes: 2, Jobs: 1, Faults: 1, Kinds: Error | Fatal}},
		{"two-jobs", "2 nodes, 2 jobs, 1 fault, replies fused", Options{Nodes: 2, Jobs: 2, Faults: 1, Fused: true}},
		{"two-faults-fused", "2 nodes, 1 job, 2 faults, replies fused", Options{Nodes: 2, Jobs: 1, Faults: 2, Fused: true}},
		{"two-faults", "2 nodes, 1 job, 2 faults, replies separate", Options{Nodes: 2, Jobs: 1, Faults: 2}},
	}
	for i := range list {
		list[i].Options = list[i].Options.Resolved()
		list[i].Options.Preset = list[i].Name
	}
	return list
}
