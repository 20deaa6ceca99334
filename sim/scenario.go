package sim

import (
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// Scenario is a world and what happens to it, as data. Together with a seed it
// decides a run to the last byte. Instants are true time since the start of the
// world. A scenario must not be changed once it runs.
type Scenario struct {
	Name     string
	Story    string // what it is about, for people
	Level    Level
	For      time.Duration // how long the world lasts
	Early    bool          // it ends earlier, a lease after all jobs have ended and no fault is to come
	Net      Net
	Store    Clock // the store's clock
	Groups   []Group
	Nodes    []Node
	Jobs     []Job
	Timeline []Fault // in any order; among them what people do
	Expect   Expect
}

// Level says what may go wrong in a scenario. That jobs finish is for its
// expectations to say.
type Level string

// The levels.
const (
	Pristine    Level = "pristine"    // nothing but what people do
	Recoverable Level = "recoverable" // faults that heal
	Adversarial Level = "adversarial" // faults that may never heal
)

// Net is the network between nodes and store.
type Net struct {
	Latency   time.Duration // one way, at least; default 1ms
	Jitter    time.Duration // added at random, up to this; default as Latency
	Tail      int           // one message in this many is 20 times as slow; 0 = none
	Hints     string        // "all" (default), "none", "some", "late", "doubled"
	HintDelay time.Duration // of hints that are late; default 3s
}

// Clock describes a clock at the start of the world.
type Clock struct {
	Offset time.Duration // ahead of true time
	Drift  int           // parts per million faster than true time
}

// Group is a Worker Group as nodes run it.
type Group struct {
	Name   string
	Pumps  int // default 1
	Config pump.Config
}

// Node is one process on one machine.
type Node struct {
	Name   string
	Groups []string // default: all
	Start  time.Duration
	Mono   Clock // the monotonic clock; its Offset is how long the machine is up
	Wall   Clock
}

// Job is a job, or Count equal ones, and how its handler behaves.
type Job struct {
	ID          string        // the name by which the scenario speaks of it; with Count > 1 those are ID-1, ID-2, …
	Count       int           // default 1
	Name        string        // routes it to a handler; default "work"
	Queue       string        // default: the first queue of the first group
	At          time.Duration // when a client enqueues it
	Every       time.Duration // between the jobs of a Count
	In          time.Duration // due this long after that
	MaxAttempts int
	Unique      string
	Payload     int      // bytes
	Run         []Script // one per attempt, the last for all that follow; default: works 1s and succeeds
}

// Script is how a handler behaves in one attempt.
type Script struct {
	For      time.Duration // how long it works
	End      string        // how it ends; see Ends; default "ok"
	After    time.Duration // of snooze and retry-after
	OnCancel string        // what it does when told to stop: "stop" (default: returns the cause at once), "ignore", "ok" (returns nil)
	StopIn   time.Duration // how long it takes to obey; default 10ms
	Output   int           // bytes of output it sets
	Progress time.Duration // reports progress this often; 0 = never
}

// Ends are the ways a scripted handler can end.
var Ends = []string{"ok", "error", "panic", "goexit", "discard", "retry-after", "snooze", "crash", "unknown", "undecodable", "hang"}

// Fault is one thing that goes wrong, or that people do. Each is addressed by
// what it hits, never by the order of anything drawn, so that taking one away
// leaves the others where they were. Only this package can add to it.
//
// What each kind does to a world is in the files fault_*.go.
type Fault interface {
	// plan puts the fault, number i of the timeline, into the queue of a new
	// world, or where the call is that it hits.
	plan(w *world, i int32)
	// happen is called when its time comes: once, or at its begin and its end.
	happen(w *world, i int32, begin bool)
}

// What happens to nodes.
type (
	// Crash kills a node: all its memory is gone.
	Crash struct {
		At      time.Duration
		Node    string
		Restart time.Duration // up again this long after; 0 = never
	}
	// Start boots a node that is down.
	Start struct {
		At   time.Duration
		Node string
	}
	// Drain asks a node to shut down (SIGTERM).
	Drain struct {
		At      time.Duration
		Node    string
		Restart time.Duration // up again this long after it has exited; 0 = never
	}
	// Pause stops a node as a whole (garbage collection, container freeze, VM
	// migration): work, timers and replies wait until it ends.
	Pause struct {
		At   time.Duration
		Node string
		For  time.Duration
	}
	// Suspend is a pause through which the monotonic clock stands still while
	// the wall clock goes on.
	Suspend struct {
		At   time.Duration
		Node string
		For  time.Duration
	}
)

// What happens to clocks. Node "store" means the store's clock.
type (
	// Step moves a wall clock, or the store's clock, forward or back.
	Step struct {
		At   time.Duration
		Node string
		By   time.Duration
	}
	// Drift changes how fast the clocks of a node, or the store's, run.
	Drift struct {
		At   time.Duration
		Node string
		PPM  int
	}
	// Freeze stops a wall clock, or the store's clock, for a while; it goes on
	// from where it stood.
	Freeze struct {
		At   time.Duration
		Node string
		For  time.Duration
	}
)

// What happens to the network.
type (
	// Partition cuts nodes off from the store.
	Partition struct {
		At    time.Duration
		For   time.Duration // 0 = for good
		Nodes []string      // none = all
		Lost  string        // "both" (default), "requests", "replies"
	}
	// Slow makes the network slower.
	Slow struct {
		At    time.Duration
		For   time.Duration
		Nodes []string
		By    time.Duration // added to every message
	}
	// OnCall hits the Nth call of a kind by one pump.
	OnCall struct {
		Pump Address
		Call string        // "claim", "renew", "report", "sweep"
		Nth  int           // from 1, counted over all starts of the node
		Do   string        // "lose-request", "lose-reply", "delay-request", "delay-reply", "double"
		By   time.Duration // of a delay; for double: when the second copy arrives
	}
	// OnEnqueue hits the enqueue of a job, like OnCall.
	OnEnqueue struct {
		Job string
		Nth int // send; default 1
		Do  string
		By  time.Duration
	}
	// OnHandler hits the Nth call that the handler of one attempt makes: a
	// sleep, a request to the world outside, a commit. It is for handlers in Go;
	// a Script makes no calls.
	OnHandler struct {
		Job     string
		Attempt int           // default 1
		Nth     int           // from 1; default 1
		Do      string        // "lose-request", "lose-reply", "delay-request", "delay-reply", "refuse", "crash" (before it has an effect), "crash-after" (after that), "pause" (the node stands still just before it leaves, and it leaves first thing when the node goes on), "pause-after" (just after it has left)
		By      time.Duration // of a delay or a pause; of a crash: up again this long after, at least 1ms
	}
	// Aim delays the Nth call of a kind so that the store carries it out at an
	// instant of truth, where bugs of one tick live.
	// At a sweep means: with the next sweep that reaches the store, before it if
	// Off is negative (at the same instant, however negative), else after it.
	Aim struct {
		Pump Address
		Call string
		Nth  int
		At   string        // "expiry" of the first lease it is about (claims, sweeps: of the next lease to lapse), or "due" of the next job to become due, or "sweep"
		Off  time.Duration // added
	}
	// Forge sends an altered copy of the Nth renewal or report.
	Forge struct {
		Pump  Address
		Call  string // "renew", "report"
		Nth   int
		Field string        // "worker", "claim", "attempt"
		By    int           // added to the number; worker: which other pump of the world
		After time.Duration // the copy arrives this long after the original was sent
	}
)

// Address names one pump of one node.
type Address struct {
	Node  string
	Group string // default: the node's first
	Pump  int    // from 0
}

// What happens to the store.
type (
	// StoreError makes calls fail without effect.
	StoreError struct {
		At    time.Duration
		For   time.Duration
		Class string   // a fault class, such as "connection", or "fatal"
		Calls []string // kinds; none = all
		Nodes []string // none = all
		Group string   // "" = all
	}
	// Outage swallows requests.
	Outage struct{ At, For time.Duration }
	// Stall keeps requests waiting until it ends.
	Stall struct{ At, For time.Duration }
	// Restart loses what is under way and refuses connections for a while.
	Restart struct{ At, For time.Duration }
	// Damage makes a row unreadable.
	Damage struct {
		At  time.Duration
		Job string
	}
	// Hold keeps a row locked, as somebody's open transaction does.
	Hold struct {
		At  time.Duration
		Job string
		For time.Duration
	}
	// Forget undoes the last commits (a failover to a stale replica).
	Forget struct {
		At   time.Duration
		Back time.Duration // how much of the past is gone
	}
)

// What people do.
type (
	// Cancel cancels a job.
	Cancel struct {
		At    time.Duration
		Job   string
		Force bool
		Twice time.Duration // the same request again this long after; 0 = once
		Lost  bool          // the answer to the first request is lost
	}
	// Requeue starts a new life of a job.
	Requeue struct {
		At    time.Duration
		Job   string
		Twice time.Duration
		Lost  bool
	}
	// PauseQueue stops claims from a queue.
	PauseQueue struct {
		At    time.Duration
		Queue string
		Twice time.Duration
		Lost  bool
	}
	// ResumeQueue lets claims go on.
	ResumeQueue struct {
		At    time.Duration
		Queue string
		Twice time.Duration
		Lost  bool
	}
	// EnqueueAgain enqueues a job's id once more.
	EnqueueAgain struct {
		At  time.Duration
		Job string
	}
)

// Expect is what a scenario's author says of its end, beside the invariants.
type Expect struct {
	Violates   []string // invariants that must be violated: for scenarios that show a checker at work
	Jobs       []ExpectJob
	Health     []ExpectHealth
	Situations []string // must have been reached
}

// ExpectJob says what became of a job. Zero fields say nothing.
type ExpectJob struct {
	Job      string
	State    store.State
	Attempts *Range
	Ends     []store.EndKind // of all attempts, in order
	Told     []string        // reasons given to its handlers, in order
	Starts   *Range          // handlers started
	Fenced   *Range          // outcomes answered as stale
	Renewals *Range          // renewals of its leases that the store granted
	After    time.Duration   // ended no earlier
	By       time.Duration   // ended no later
}

// Range is a number, or bounds for one; Max < 0 means none.
type Range struct{ Min, Max int }

// ExpectHealth says what a node's health endpoint answered at an instant.
type ExpectHealth struct {
	At       time.Duration
	Node     string
	Healthy  *bool
	Halted   []string // groups, exactly these if not nil
	Partial  []string
	Degraded []string
}
