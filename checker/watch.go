package checker

import (
	"time"

	"backwave/store"
)

// What follows is what a world tells the invariants. A world is whatever knows
// more than the product does: true time, who really sent what, and what a row
// was before and after each commit. The world numbers calls, leases and handler
// runs with ghost serials of its own, which the product never sees, so that no
// invariant has to believe an identity that it is there to check.

// Ghost is a serial of the world. 0 means none: for a report row, that no lease
// of the sender stands behind it (it was forged, or the engine made it up).
type Ghost uint64

// PumpID names one start of one pump, in the order in which the world started
// them, from 0.
type PumpID int

// PumpInfo is what a pump was configured to do.
type PumpInfo struct {
	ID    PumpID
	Node  string
	Group string // pumps with the same Node, Process and Group are one group
	// Process numbers the starts of processes: pumps that died together have
	// the same.
	Process  int
	Queues   []string
	PoolSize int

	Lease, Heartbeat, Maintenance, Poll, MaxPoll, OpTimeout, AbandonAfter time.Duration
	Finish, Shutdown                                                      time.Duration
	ReleaseOnDrain                                                        bool
	SweepBatch                                                            int
	Terms                                                                 *store.Terms
	Timeouts                                                              map[string]time.Duration // by job name; looked up only
}

// CallKind is a kind of call that a world sees.
type CallKind uint8

// The kinds of calls.
const (
	CallRenew CallKind = iota
	CallReport
	CallClaim
	CallSweep
	CallEnqueue
	CallDo
	CallForged   // a copy of a renewal or a report that somebody altered on the way
	CallComplete // a success that a handler records in a transaction of its own: a Report of one row
)

// String returns the verb of the call.
func (k CallKind) String() string {
	if names := [...]string{"renewal", "report", "claim", "sweep", "enqueue", "command", "forged copy", "completion"}; int(k) < len(names) {
		return names[k]
	}
	return "call"
}

// Call is one send of one request. The same *Call is passed to Sent, Applied
// and Answered, and may be applied more than once, or late, or never.
type Call struct {
	Ghost    Ghost
	Kind     CallKind
	Pump     PumpID // sender; -1 for clients and operators
	SentTrue int64  // true time of the send, ns
	SentNode int64  // the sender's node time of the send, ns
	Req      store.Request
	// Leases are the ghosts of the leases behind the rows of a renewal or a
	// report, in the order of the rows: the lease which the claim answer that
	// taught the sender this key was about.
	Leases []Ghost

	seq      uint64 // order of the send; set by Watch.Sent
	first    int64  // of a claim: node time of the first send of its number
	answered bool   // an answer was delivered; a second one says nothing to its sender
}

// Commit is one application of a call by the store.
type Commit struct {
	Call     *Call
	True     int64         // true time, ns
	StoreNow store.Instant // the store's clock as the world knows it, not as the store said
	Changes  []Change      // rows that differ, before and after; valid during the call only
	Reply    store.Reply   // nil if Err
	Err      error
	Audits   int // audit entries of the store after the commit
}

// Change is a row before and after a commit. Before.ID is zero for a new job.
type Change struct{ Before, After *store.Job }

// Step is one step of a pump, after its actions were carried out.
type Step struct {
	Pump   PumpID
	True   int64
	Node   int64 // node time of the step, ns
	Halted bool  // the marks that the group's health is made of, after the step
	// Degraded has a bit set for each CallKind (renew to sweep) whose episode
	// of transient faults is under way, after the step.
	Degraded uint8
}

// Why is the reason with which a handler was told to stop.
type Why uint8

// The reasons.
const (
	WhyCancel Why = iota + 1
	WhyDrain
	WhyLost
	WhyHalt
	WhyTimeout
)

// String returns what a person calls w.
func (w Why) String() string {
	if names := [...]string{"?", "cancel requested", "draining", "lease lost", "halted", "timed out"}; int(w) < len(names) {
		return names[w]
	}
	return "?"
}

// Violation is an invariant that did not hold.
type Violation struct {
	Invariant string
	Event     uint64 // number of the event in the world's run
	At        int64  // true time, ns
	Job       store.JobID
	Message   string
}

// Invariant is a name and the sentence it stands for.
type Invariant struct{ Name, Sentence string }
