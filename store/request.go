package store

import (
	"fmt"
	"time"
)

// Request is one call on a store, as data: the engine sends it, a recorder
// writes it down, a simulated network loses it. Only this package can add to
// it. A request carries durations, never instants of a node's clock, for
// anything the store decides; and nothing it holds may be changed once sent.
//
//sumtype:decl
type Request interface{ request() }

// Claim asks for leases on eligible jobs: scheduled, due, in a queue that is
// listed and not paused, with no cancel asked.
type Claim struct {
	Worker string
	Number uint64        // counts the claim calls of this worker, from 1; a call that is sent again keeps it
	Queues []Quota       // in the order they are to be served; no queue twice
	Max    int           // leases wanted, at least 1
	Lease  time.Duration // length of the leases, at least MinLease
	Terms  *Terms        // retry policies to stamp on the rows
}

// Quota bounds what a claim takes from one queue. A claim first goes through
// its queues in order, taking at most the quota of each; what is then still
// wanted is taken in the same order without regard to quotas.
type Quota struct {
	Queue string
	Most  int
}

// Renew prolongs leases: each that is held, by this worker and claim number
// and attempt, and still alive ends Lease from now.
type Renew struct {
	Worker string
	Lease  time.Duration
	Rows   []RenewRow // no key twice
}

// RenewRow names one lease to be renewed.
type RenewRow struct {
	Key      LeaseKey
	Progress []byte // replaces the job's progress if not nil; at most MaxProgress bytes
}

// Report records outcomes of attempts, each fenced on worker, claim number,
// attempt and a lease that is still alive.
type Report struct {
	Worker string
	Rows   []ReportRow // no key twice
}

// ReportRow is the outcome of one attempt.
type ReportRow struct {
	Key     LeaseKey
	Outcome Outcome
}

// Sweep disposes of lapsed leases.
type Sweep struct {
	Queues []string
	Any    bool // also leases of any queue that lapsed longer ago than their stamped length
	Max    int  // most leases to dispose of, at least 1
}

// Enqueue adds jobs. Each row is judged on its own.
type Enqueue struct{ Jobs []NewJob }

// NewJob describes a job to be added.
type NewJob struct {
	ID          JobID         // made by the client; the same for every send of one logical enqueue
	Name        string        // routes the job to its handler; 1 to MaxName bytes of UTF-8 without NUL
	Queue       string        // 1 to MaxName bytes of UTF-8 without NUL
	Payload     []byte        // at most MaxPayload bytes
	HasAt       bool          // the job is due at At, not Delay from now
	At          Instant       // an instant given by a user; data, not a decision
	Delay       time.Duration // due this long after the store's now; clamped to [0, MaxDuration]
	MaxAttempts int           // ceiling of this job; 0 = that of its name or group
	UniqueKey   string        // at most one job that is not terminal holds it; "" = none; at most MaxName bytes
}

// Do carries an operator's command.
type Do struct {
	Actor     string // who; audited
	RequestID string // the same for every send of one action; a repeat answers the first result
	Command   Command
}

func (*Claim) request()   {}
func (*Renew) request()   {}
func (*Report) request()  {}
func (*Sweep) request()   {}
func (*Enqueue) request() {}
func (*Do) request()      {}

// Command is what an operator can ask for. Only this package can add to it.
//
//sumtype:decl
type Command interface{ command() }

// Cancel ends a job that waits, or asks the worker of a running one to stop:
// its attempt then ends in Cancelled unless it succeeds. A lease that has
// already lapsed is disposed of at once; Force ends a live one at once.
type Cancel struct {
	Job   JobID
	Force bool
}

// Requeue starts a new life of a dead-lettered or quarantined job. Its attempt
// numbers go on; its ceiling starts afresh.
type Requeue struct{ Job JobID }

// Pause stops claims from a queue. Running jobs go on.
type Pause struct{ Queue string }

// Resume undoes Pause.
type Resume struct{ Queue string }

func (Cancel) command()  {}
func (Requeue) command() {}
func (Pause) command()   {}
func (Resume) command()  {}

// Verb is the word for what q asks, as stories and pages say it.
func Verb(q Request) string {
	switch q.(type) {
	case *Claim:
		return "claim"
	case *Renew:
		return "renew"
	case *Report:
		return "report"
	case *Sweep:
		return "sweep"
	case *Enqueue:
		return "enqueue"
	case *Do:
		return "command"
	}
	return fmt.Sprintf("%T", q)
}
