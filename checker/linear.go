package checker

import (
	"backwave/history"
	"backwave/store"
)

// Verdict is what a check has shown.
type Verdict uint8

// The verdicts. Undecided is not a pass: the budget of steps was spent first.
const (
	Held Verdict = iota + 1
	Violated
	Undecided
)

// String returns the name used in files and logs.
func (v Verdict) String() string {
	switch v {
	case Held:
		return "held"
	case Violated:
		return "violated"
	case Undecided:
		return "undecided"
	}
	return "verdict(?)"
}

// Finding is one thing that could not have happened.
type Finding struct {
	Invariant string // its name
	Job       store.JobID
	At        int64  // ns, as history.Record.At
	Call      uint64 // id of the call that shows it
	Message   string // for people
}

// LinearOptions are the options of CheckLinear. A zero field means its
// documented default.
type LinearOptions struct {
	// Steps bounds the work on one job and verdict, in steps of the model.
	// Default 200,000.
	Steps int
	// MaxUnknown is how many calls without an answer that may have changed a
	// job (reports of one attempt, enqueues, cancels, requeues; not renewals,
	// claims and sweeps, which cost nothing) the black-box verdict takes on.
	// Default 8, at most 8.
	MaxUnknown int
	// Midway says that the store held jobs before the history began: jobs
	// whose enqueue is not in it are then not attempted, instead of a
	// violation.
	Midway bool
	// Completions says that handlers may have recorded a success in a
	// transaction of their own, which is no call and so in no history: an
	// attempt may then have succeeded unseen while its lease was held, unless
	// its worker ever reported success for it, which an engine does not after a
	// completion. Leave it off for a simulated world, in whose history
	// completions are calls like others.
	Completions bool
}

func (o LinearOptions) withDefaults() LinearOptions {
	if o.Steps <= 0 {
		o.Steps = 200_000
	}
	if o.MaxUnknown <= 0 || o.MaxUnknown > 8 {
		o.MaxUnknown = 8
	}
	return o
}

// Linear is the result of CheckLinear.
type Linear struct {
	BlackBox     Verdict // from what clients saw
	Bounded      Verdict // from what the world knows as well
	Jobs         int     // jobs that the history speaks of
	Undecided    int     // jobs whose budget was spent, in either verdict
	NotAttempted int     // jobs that the black-box verdict left out; they count as held in it
	Steps        int     // steps of the model, both verdicts together
	Findings     []Finding
}

// CheckLinear judges whether the calls of a history could have taken effect
// one at a time, each between its sending and its answer, on a store that
// keeps the promises: job by job with porcupine, and by rules of their own for
// paused queues, unique keys and request ids.
//
// It judges twice. The black-box verdict uses what clients saw: a call without
// an answer may have happened at any time after it was sent, or never. The
// bounded verdict uses the Applied and Lost records of a world too, which say
// what really became of a call. Whatever the bounded verdict accepts the
// black-box verdict accepts; how much more that is, is what a real history
// hides.
//
// Where the rules leave room, and where a call without an answer leaves it
// open which of two things happened, the judgement is for the store.
func CheckLinear(h *history.Log, opts LinearOptions) Linear {
	l := gather(h, opts.withDefaults())
	l.res = Linear{BlackBox: Held, Bounded: Held, Jobs: len(l.jobs)}
	for _, j := range l.jobs {
		l.checkJob(j)
	}
	for _, v := range []verdictSide{bounded, blackBox} {
		if l.forgot {
			break // what a forgetful store remembers of pauses, keys and requests is not promised
		}
		l.checkQueues(v)
		l.checkUnique(v)
		l.checkRequests(v)
	}
	return l.res
}

// checkJob judges one job in both verdicts. A job that is violated in both is
// explained once, from what the world knows.
func (l *linear) checkJob(j *jobStory) {
	w, fb := l.judge(j, bounded)
	b := Held
	var fw *Finding
	if l.attempts(j) {
		b, fw = l.judge(j, blackBox)
	} else {
		l.res.NotAttempted++
	}
	if w == Undecided || b == Undecided {
		l.res.Undecided++
	}
	l.res.Bounded = worse(l.res.Bounded, w)
	l.res.BlackBox = worse(l.res.BlackBox, b)
	if fb == nil {
		fb = fw
	}
	if fb != nil {
		l.res.Findings = append(l.res.Findings, *fb)
	}
}

// worse returns the verdict of two parts together.
func worse(a, b Verdict) Verdict {
	if a == Violated || b == Violated {
		return Violated
	}
	return max(a, b)
}

// violated adds a finding of a rule to one verdict; the same finding in the
// other verdict is not told twice.
func (l *linear) violated(v verdictSide, f Finding) {
	if v == bounded {
		l.res.Bounded = Violated
	} else {
		l.res.BlackBox = Violated
	}
	for i := range l.res.Findings {
		g := &l.res.Findings[i]
		if g.Invariant == f.Invariant && g.Call == f.Call && g.Job == f.Job {
			return
		}
	}
	l.res.Findings = append(l.res.Findings, f)
}
