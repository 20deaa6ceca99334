//go:build unix

package nemesis

import (
	"time"

	"backwave/checker"
	"backwave/history"
)

// The checks, in the order of a report.
const (
	checkLost         = "not-lost"
	checkHealing      = "healing"
	checkAccounting   = "accounting"
	checkRecorded     = "recorded"
	checkTransaction  = "transaction"
	checkPlain        = "plain"
	checkLinearizable = "linearizable"
	checkHealth       = "health"
)

// Check is something that is looked at.
type Check struct {
	Name     string
	Sentence string
}

// Checks lists what every run is judged by.
func Checks() []Check {
	return []Check{
		{checkLost, "Every acknowledged enqueue is there, what was not acknowledged is there once or not at all, and nothing else is."},
		{checkHealing, "When nothing is harmed any more, every job ends within the bound that is printed."},
		{checkAccounting, "A job has a recorded end for each of its attempts, numbered without gaps, and succeeded once, at the last."},
		{checkRecorded, "Each outcome that a worker was told is recorded is, of that attempt, and none is that nobody can have reported."},
		{checkTransaction, "What a handler wrote together with its success is there once, of the attempt that succeeded."},
		{checkPlain, "What a handler wrote before it returned is there at least once, of the attempt that succeeded too."},
		{checkLinearizable, "The calls of all processes could have taken effect one at a time."},
		{checkHealth, "No worker halts, none ends unasked, all stop when asked to, and no client meets a fault that is not known to pass."},
	}
}

// Finding is something that did not hold.
type Finding struct {
	Check   string
	Job     string // id, if it is about one
	Message string
}

// Done is a fault as it was really made.
type Done struct {
	Fault
	Began, Ended time.Time
	Err          string // why it could not be made; "" if it was
}

// Report is what came of a run.
type Report struct {
	Store       string // Postgres or SQLite
	Ground      string // which one, for people
	Seed        uint64
	Workers     int
	Began       time.Time // of the trouble
	Trouble     time.Duration
	Interrupted bool

	Done      []Done // in order of their beginnings
	Processes []*Process

	Jobs         int            // enqueues that were tried
	Acknowledged int            // of those
	Attempts     int            // of all jobs
	Ends         map[string]int // of attempts, by their kind

	PlainJobs, PlainDoubled int // jobs that write plainly, and those that did more than once
	TxJobs, TxWrites        int // jobs that write with their success, and what they wrote

	LinearJobs   int // jobs in the histories
	NotAttempted int // of them: too many calls without an answer
	Undecided    int // of them: the budget was spent
	Calls        int // in the histories
	Unanswered   int // of them
	ClockSpread  time.Duration

	HealBound, HealTook time.Duration

	Checked  bool // the end was reached: everything was judged
	Findings []Finding
	More     map[string]int // findings beyond those listed, by check

	Histories []string       // files, of which Log is made
	Log       *history.Log   // of all processes; nil if it did not come so far
	Linear    checker.Linear // what was found in it
}

// mostFindings is how many findings of one check are listed.
const mostFindings = 10

// Found counts the findings of a check.
func (r *Report) Found(check string) (n int) {
	for _, f := range r.Findings {
		if f.Check == check {
			n++
		}
	}
	return n + r.More[check]
}
