package swarm

// Goal is something that a search has to reach before it has shown anything: a
// situation, or two of them in one run.
type Goal struct{ A, B string } // B = "": only A

// String returns how people call g.
func (g Goal) String() string {
	if g.B == "" {
		return g.A
	}
	return g.A + " + " + g.B
}

// elsewhere are situations that no random world comes to, and where they are
// reached instead.
var elsewhere = map[string]string{
	"a handler got no answer to its call": "only handlers in Go make calls: package sim/simtest",
}

// meetings are the pairs that a search must have seen in one run: where two
// promises rest on each other.
var meetings = []Goal{
	// The fence, where identities are hardest to tell apart.
	{"a stale outcome was fenced", "one pump ran two attempts of a job at once"},
	{"a stale outcome was fenced", "two pumps ran one job at once"},
	{"a stale outcome was fenced", "a forged copy arrived"},
	{"a stale outcome was fenced", "the store forgot its last commits"},
	{"a stale outcome was fenced", "a job was requeued"},
	{"a repeated outcome was already applied", "a later attempt started"},
	{"a repeated outcome was already applied", "a job was requeued"},
	// One tick beside an expiry, while clocks are bent.
	{"a renewal came at the very end of its lease", "the store's clock stepped"},
	{"a report came at the very end of its lease", "a node stood still"},
	{"a report came at the very end of its lease", "a call came together with a sweep"},
	{"a sweep came at the very end of a lease", "a renewal was refused"},
	{"a call came together with a sweep", "a stale outcome was fenced"},
	{"a lease of a clock that was ahead was cut", "a lapsed lease was swept"},
	{"node time followed a jump of the wall clock", "a stale outcome was fenced"},
	// What people want, and what happens meanwhile.
	{"a success won over a cancel", "a reply was lost after an applied report"},
	{"a job was cancelled while it was leased", "a stale outcome was fenced"},
	{"an action was repeated with its request id", "the store forgot its last commits"},
	{"an enqueue met a unique key that is held", "a job was requeued"},
	// Ends of pumps.
	{"a pump halted with handlers in flight", "two pumps ran one job at once"},
	{"a process exited although handlers ran", "a reply was lost after an applied report"},
	{"a pump drained", "a repeated claim was answered the leases it had taken"},
	{"a handler was given up", "one pump ran two attempts of a job at once"},
}

// Must lists what every search that is to count must reach: each situation that
// random worlds can come to, and the meetings.
func Must(situations []string) (out []Goal) {
	for _, s := range situations {
		if elsewhere[s] == "" {
			out = append(out, Goal{A: s})
		}
	}
	return append(out, meetings...)
}

// Missing lists the goals that c has not reached.
func (c *Coverage) Missing(goals []Goal) (out []Goal) {
	for _, g := range goals {
		b := g.B
		if b == "" {
			b = g.A
		}
		if c.Both(g.A, b) == 0 {
			out = append(out, g)
		}
	}
	return out
}
