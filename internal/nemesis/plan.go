//go:build unix

package nemesis

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Kind is a fault that is made on purpose.
type Kind string

// The kinds of faults, by what they hit.
const (
	Kill      Kind = "kill"      // a process: SIGKILL; it is started anew
	Freeze    Kind = "freeze"    // a process: SIGSTOP, and SIGCONT after up to two and a half leases
	Terminate Kind = "terminate" // a process: SIGTERM; it is started anew when it has ended

	Cut       Kind = "cut"        // connections are reset, new ones refused
	Slow      Kind = "slow"       // every piece of data is delayed, both ways
	LoseCalls Kind = "lose-calls" // what the client sends does not arrive for a while, if at all
	LoseReply Kind = "lose-reply" // what the server answers does not arrive for a while, if at all
	Partition Kind = "partition"  // neither

	RestartFast      Kind = "restart-fast"      // the server ends in order, and starts
	RestartImmediate Kind = "restart-immediate" // the server ends at once, recovers, and starts
	Crash            Kind = "crash"             // every process of the server is killed; it recovers, and starts
	Stall            Kind = "stall"             // the server is frozen
	ReadOnly         Kind = "read-only"         // the server refuses writes

	HoldLock Kind = "hold-lock" // somebody else holds the write lock of the file
)

// targets are what faults hit.
const (
	onProcess    = "process"
	onConnection = "connection"
	onServer     = "server"
	onFile       = "file"
)

// facts are what the plan has to know of a kind.
type facts struct {
	kind   Kind
	target string
	weight int           // how often among those of its target
	lo, hi time.Duration // how long it lasts
}

var allFacts = []facts{
	{Kill, onProcess, 3, 0, 500 * time.Millisecond},
	{Freeze, onProcess, 4, lease / 5, 5 * lease / 2},
	{Terminate, onProcess, 2, 0, 200 * time.Millisecond},
	{Cut, onConnection, 3, 0, lease},
	{Slow, onConnection, 2, lease / 4, lease},
	{LoseCalls, onConnection, 2, lease / 10, 3 * lease / 2},
	{LoseReply, onConnection, 3, lease / 10, 3 * lease / 2},
	{Partition, onConnection, 1, lease / 2, 2 * lease},
	{RestartFast, onServer, 2, 0, lease / 2},
	{RestartImmediate, onServer, 2, 0, lease / 2},
	{Crash, onServer, 3, 0, lease / 2},
	{Stall, onServer, 1, lease / 10, lease},
	{ReadOnly, onServer, 2, lease / 5, lease},
	{HoldLock, onFile, 1, lease / 20, 3 * lease / 2},
}

func known(k Kind) bool { return k.facts() != nil }

func (k Kind) facts() *facts {
	i := slices.IndexFunc(allFacts, func(f facts) bool { return f.kind == k })
	if i < 0 {
		return nil
	}
	return &allFacts[i]
}

// Target says what k hits: "process", "connection", "server" or "file"; "" if
// there is no such kind.
func (k Kind) Target() string {
	if f := k.facts(); f != nil {
		return f.target
	}
	return ""
}

// Kinds lists all kinds of faults.
func Kinds() (out []Kind) {
	for _, f := range allFacts {
		out = append(out, f.kind)
	}
	return out
}

// kinds lists what c lets happen to a target.
func (c *Config) kinds(target string) (out []facts) {
	if target == onFile && c.Store != SQLite || target == onConnection && c.Store != Postgres || target == onServer && (c.Store != Postgres || c.URL != "") {
		return nil
	}
	for _, f := range allFacts {
		if f.target == target && (len(c.Only) == 0 || slices.Contains(c.Only, f.kind)) {
			out = append(out, f)
		}
	}
	return out
}

// Fault is one thing that is done.
type Fault struct {
	At     time.Duration // since the trouble began
	For    time.Duration // how long it lasts
	Kind   Kind
	Target string        // whom it hits: "n2", "connection of n2", "server", "file"
	Delay  time.Duration // Slow: of every piece of data
	Reset  bool          // LoseCalls, LoseReply, Partition: connections are reset at the end, and what was held up is lost
}

// targets lists who can be hit, with what hits them.
func (c *Config) targets() (names []string, on map[string]string) {
	on = map[string]string{}
	add := func(name, target string) {
		names = append(names, name)
		on[name] = target
	}
	for i := range c.Workers {
		add(nodeName(i), onProcess)
		add("connection of "+nodeName(i), onConnection)
	}
	add("connection of "+client, onConnection)
	add("server", onServer)
	add("file", onFile)
	return names, on
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i+1) }

// client is who enqueues.
const client = "client"

// plan returns what is done to whom, in order of time. Each target has a plan
// of its own, in which one thing happens at a time.
func (c *Config) plan() (out []Fault) {
	names, on := c.targets()
	for _, name := range names {
		kinds := c.kinds(on[name])
		if len(kinds) == 0 {
			continue
		}
		pace := c.Pace
		if on[name] == onServer || on[name] == onFile {
			pace *= 3
		}
		draw := func(what string, n int) uint64 { return chance(c.Seed, name+" "+what, n) }
		at := time.Duration(0)
		for n := 0; ; n++ {
			at += between(draw("gap", n), pace/4, 7*pace/4)
			if at >= c.For {
				break
			}
			f := pick(kinds, draw("kind", n))
			x := Fault{At: at, Kind: f.kind, Target: name, For: min(between(draw("length", n), f.lo, f.hi), c.For-at)}
			switch f.kind {
			case Slow:
				x.Delay = between(draw("delay", n), 5*time.Millisecond, lease/8)
			case LoseCalls, LoseReply, Partition:
				x.Reset = draw("reset", n)%2 == 0
			case Kill, Freeze, Terminate, Cut, RestartFast, RestartImmediate, Crash, Stall, ReadOnly, HoldLock:
			}
			out = append(out, x)
			at += x.For
		}
	}
	slices.SortStableFunc(out, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return out
}

// pick chooses one of kinds by their weights.
func pick(kinds []facts, x uint64) facts {
	sum := 0
	for _, f := range kinds {
		sum += f.weight
	}
	n := int(x % uint64(sum))
	for _, f := range kinds {
		if n -= f.weight; n < 0 {
			return f
		}
	}
	return kinds[0]
}
