package sim

import (
	"time"

	"backwave/checker"
	"backwave/store"
)

// Verdict is how a run ended.
type Verdict string

// The verdicts.
const (
	Held      Verdict = "held"
	Violated  Verdict = "violated"
	Undecided Verdict = "undecided" // the linearizability check ran out of its budget
)

// Result is what came out of a run.
type Result struct {
	Scenario   *Scenario
	Seed       uint64
	Verdict    Verdict
	TraceHash  uint64
	Events     uint64 // dequeues of the world's queue
	Virtual    time.Duration
	Violations []checker.Violation // of invariants, linearizability and expectations
	Missing    []string            // invariants that the scenario expects to be violated, and were not
	Linear     checker.Linear      // zero if not asked for
	Jobs       []JobResult         // in the order of the scenario
	Stopped    bool                // Options.Stop ended it: it says nothing
	Situations []string            // reached, in the order of Situations
	Live       Live                // what was shown of jobs getting done
	Wait       time.Duration       // pristine worlds: the longest that a job was due beside a free slot
	WaitBound  time.Duration       // and the longest that one may be; 0 = nothing was promised
	Idle       []int               // entries of the timeline that hit nothing, by index
}

// JobResult is what became of one job.
type JobResult struct {
	Name     string
	Row      store.Job     // as the store has it at the end; zero if it never arrived
	Starts   int           // handlers started
	Told     []string      // reasons given to its handlers, in order
	Fenced   int           // outcomes answered as stale
	Renewals int           // renewals granted
	Ended    time.Duration // true time of the last terminal transition; 0 = none
	Plain    int           // effects its handlers wrote into the outside world without care
	Guarded  int           // effects that a check of the token let through
}
