package simtest

import (
	"time"

	"backwave/engine"
	"backwave/sim"
)

// Scenario describes a world in which handlers of your own run. A zero field
// means the default at the end of its comment.
type Scenario struct {
	// Setup makes what is outside of the nodes, once per run: servers and
	// invariants. It returns what makes the handlers of one process; that is
	// called whenever a process has started, so that what handlers keep in memory
	// is gone with their process. Required.
	Setup func(w *World) (handlers func() *engine.Mux)

	Jobs   []Job         // required unless there is a World; at least one
	Nodes  int           // processes, 1 to 20, called n1, n2, …; default 2
	Group  engine.Group  // how each of them runs jobs; default a group "test" that serves "default" under leases of 10s
	For    time.Duration // how long the world lasts; default 20 leases
	Net    sim.Net       // default as its fields say
	Seed   uint64        // of all that is left to chance
	Faults []sim.Fault   // what goes wrong, and what people do; Check and Fuzz add theirs

	// World is a world of your own: with several groups, with clocks that drift,
	// or one that scenario.Load has read. Its jobs are run by the handlers, with
	// the Args of those among Jobs that have their IDs. Nodes, Group, For and Net
	// count for nothing then, and neither do its scripts and what it expects.
	World *sim.Scenario

	Timeout  time.Duration // after which World.HTTP gives a request without an answer up; default 30s
	Patience time.Duration // real time after which a handler that does not come back is said to be blocked; default 10s
}

// Job is one job that a client adds.
type Job struct {
	ID          string        // by which faults and the story speak of it; default its name, with a number if that is not enough
	Name        string        // routes it to its handler; required
	Args        any           // the payload, as JSON; []byte and json.RawMessage as they are
	Queue       string        // default the group's first
	At          time.Duration // when it is added; default at the start
	In          time.Duration // due this long after that
	MaxAttempts int           // default as the group says
	Unique      string        // unique key
}
