package explore

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// The abstraction of time: it moves in ticks only, and a lease is so many.
const (
	Tick       = 20 * time.Second
	leaseTicks = 3
)

// The most of each that a state has room for.
const (
	maxNodes  = 4
	maxJobs   = 4
	maxFaults = 9
	maxProcs  = maxNodes + maxFaults + 1 // those that live, and those whose calls outlive them
)

// Options describe a world. A zero field means the default in its comment.
type Options struct {
	Nodes    int    // 1 to 4; default 2
	Jobs     int    // 1 to 4, all due at once; default 1
	Faults   int    // how many faults may happen in all, 0 to 9
	Kinds    Kinds  // which faults; default Crash to Drain
	Fused    bool   // apply and reply are one event; default: two
	Pool     int    // handlers at once per node, 1 to 4; default 1
	Attempts int    // ceiling of each job, 1 to 8; default 2
	Sweep    int    // most leases one sweep disposes of; default 500
	Release  bool   // a drain gives leases back
	Finish   bool   // a drain lets handlers finish, for a tick
	Timeout  bool   // handlers are told to stop after a tick, and given up a tick later
	Preset   string // the name it was chosen by; decides nothing
}

// Kinds is a set of faults.
type Kinds uint16

// The faults that a budget can be spent on. The last three are left out unless
// they are asked for.
const (
	Crash     Kinds = 1 << iota // a process dies; its node starts another when it likes
	Pause                       // a node stands still, and goes on when it likes
	LostReply                   // an answer is lost after the store applied the call
	Late                        // a request or a reply arrives whenever it likes
	Doubled                     // a request arrives a second time, whenever it likes
	Drain                       // a process is asked to stop
	Cancel                      // an operator cancels a job
	Error                       // a call is refused with an error that passes
	Fatal                       // a call is refused with an error that nobody knows

	usual = Crash | Pause | LostReply | Late | Doubled | Drain
	every = usual | Cancel | Error | Fatal
)

var kindNames = []string{"crash", "pause", "lost-reply", "late", "doubled", "drain", "cancel", "error", "fatal"}

// String lists the names in k, with commas.
func (k Kinds) String() string {
	var names []string
	for i, n := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ",")
}

// ParseKinds reads a list of names with commas, as String writes it.
func ParseKinds(list string) (k Kinds, err error) {
	for name := range strings.SplitSeq(list, ",") {
		found := false
		for i, n := range kindNames {
			if n == strings.TrimSpace(name) {
				k |= 1 << i
				found = true
			}
		}
		if !found {
			err = errors.Join(err, fmt.Errorf("there is no fault %q, want some of %s", name, every))
		}
	}
	return k, err
}

// Resolved returns o with every zero field set to its default.
func (o Options) Resolved() Options {
	for _, f := range []struct {
		at *int
		or int
	}{{&o.Nodes, 2}, {&o.Jobs, 1}, {&o.Pool, 1}, {&o.Attempts, 2}, {&o.Sweep, 500}} {
		if *f.at == 0 {
			*f.at = f.or
		}
	}
	if o.Kinds == 0 {
		o.Kinds = usual
	}
	return o
}

// Validate reports every mistake in o at once.
func (o Options) Validate() error {
	o = o.Resolved()
	var err error
	for _, f := range []struct {
		name         string
		got, lo, top int
	}{
		{"nodes", o.Nodes, 1, maxNodes},
		{"tasks", o.Jobs, 1, maxJobs},
		{"faults", o.Faults, 0, maxFaults},
		{"pool", o.Pool, 1, 4},
		{"attempts", o.Attempts, 1, 8},
		{"sweep", o.Sweep, 1, store.MaxBatch},
	} {
		if f.got < f.lo || f.got > f.top {
			err = errors.Join(err, fmt.Errorf("%s is %d, want %d to %d", f.name, f.got, f.lo, f.top))
		}
	}
	if o.Kinds&^every != 0 {
		err = errors.Join(err, fmt.Errorf("unknown kinds of faults %#x", uint16(o.Kinds&^every)))
	}
	return err
}

// The names in the world.
const (
	queueName = "q"
	jobName   = "work"
)

// config is what the pumps of the world are configured to: production's
// defaults, but for what a tick would blur.
func (o Options) config() pump.Config {
	c := pump.Config{
		Queues:        []pump.Queue{{Name: queueName}},
		PoolSize:      o.Pool,
		LeaseDuration: leaseTicks * Tick,
		AbandonAfter:  Tick,
		SweepBatch:    o.Sweep,
		Terms: &store.Terms{Default: store.Policy{
			MaxAttempts: o.Attempts, First: Tick, Factor: 1, Cap: Tick, NoJitter: true,
		}},
		ReleaseOnDrain: o.Release,
	}
	if o.Finish {
		c.FinishTimeout = Tick
	}
	if o.Timeout {
		c.Timeouts = []pump.Timeout{{Name: jobName, After: Tick}}
	}
	return c.Resolved()
}

// Abstraction says in sentences what a search of o takes the world to be.
func (o Options) Abstraction() []string {
	o = o.Resolved()
	c := o.config()
	lines := []string{
		fmt.Sprintf("time moves in ticks of %v: a lease is %d of them; what comes due in between happens at the next (heartbeat %v, poll and sweep %v and %v, operation timeout %v, own view %v)",
			Tick, leaseTicks, c.HeartbeatInterval, c.PollInterval, c.MaintenanceInterval, c.OperationTimeout, c.LeaseDuration-c.LeaseDuration/50),
		"a call is applied and answered in the tick in which it was sent, in any order with all else, unless a fault delays it",
		"handlers, pauses and restarts take any number of ticks; a handler succeeds or fails",
		fmt.Sprintf("%d attempts that count, %v after the first; all clocks run alike; hints, progress and completions in transactions are left out", o.Attempts, Tick),
	}
	if o.Fused {
		lines[1] = "a call is applied and answered in one event, in the tick in which it was sent, unless a fault delays or loses a part of it"
	}
	return lines
}
