package sim

import (
	"errors"
	"time"

	"backwave/engine"
	"backwave/engine/pump"
	"backwave/store"
)

// Handlers runs handlers in Go in place of the scripts of a scenario. The world
// calls it from the goroutine of Run, one call at a time; what it answers must
// depend on the calls alone.
type Handlers interface {
	// Begin comes first. The view is good until the end of the world.
	Begin(v *View)
	// Payload returns the payload of the job that the scenario calls so.
	Payload(job string) []byte
	// Start makes the handler of an attempt, and lets nothing of it run.
	Start(a Attempt) Coroutine
	// Look is called after whatever may have changed a row, or the world
	// outside, and returns what is wrong with it.
	Look() []Alarm
	// End is called once, when the world is over.
	End() []Alarm
}

// Coroutine is the handler of one attempt, of which at most one runs at a time.
type Coroutine interface {
	// Resume lets it run until it needs the world, which then keeps it waiting.
	// err is how the last need ended.
	Resume(err error) Need
	// Cancel ends its context, and reports whether that ends what it waits for.
	Cancel(why pump.Reason) bool
	// Drop ends it where it stands: its process is dead. Nothing that it still
	// does has an effect. It comes after the end too, and then does nothing.
	Drop()
}

// Attempt is what a handler is made from.
type Attempt struct {
	Job     string // as the scenario calls it
	Node    string
	Process int // number of the start of the process, unlike any other of the world
	Worker  string
	Lease   store.Lease // its payload is the handler's own
	Length  time.Duration
	Now     func() time.Time // the wall clock of its node
}

// Alarm is something that is not as it should be, found by a Handlers.
type Alarm struct{ Invariant, Message string }

// Need is what a handler wants of the world. Only this package can add to it.
//
//sumtype:decl
type Need interface{ need() }

type (
	// NeedSleep ends when so much time has passed on its node.
	NeedSleep struct{ For time.Duration }
	// NeedCall is a request to the world outside, which is neither the node nor
	// the store.
	NeedCall struct {
		To       string // whom
		Text     string // what, for people and for the trace
		Patience time.Duration
		// Do is called when it arrives. It returns how much longer the answer
		// takes, and what that is.
		Do func() (extra time.Duration, answer string)
	}
	// NeedCommit is the end of a transaction that records the success of the
	// attempt; Do is called if it is committed. It ends with
	// store.ErrLeaseLost if the lease was lost.
	NeedCommit struct {
		Output   []byte
		Patience time.Duration
		Do       func()
	}
	// NeedEnqueue adds jobs; Got is called with the answer, if there is one.
	NeedEnqueue struct {
		Req      *store.Enqueue
		Patience time.Duration
		Got      func(*store.Enqueued)
	}
	// NeedProgress tells the pump of progress.
	NeedProgress struct{ Fetch func() []byte }
	// NeedCompleting and NeedCompleted tell the pump of a transaction.
	NeedCompleting struct{}
	// NeedCompleted see NeedCompleting.
	NeedCompleted struct{ How store.Completion }
	// NeedEnd says that the handler has returned.
	NeedEnd struct{ Result engine.Result }
	// NeedStop says that the handler cannot be run on: the world ends.
	NeedStop struct{}
)

func (NeedSleep) need()      {}
func (NeedCall) need()       {}
func (NeedCommit) need()     {}
func (NeedEnqueue) need()    {}
func (NeedProgress) need()   {}
func (NeedCompleting) need() {}
func (NeedCompleted) need()  {}
func (NeedEnd) need()        {}
func (NeedStop) need()       {}

var (
	// ErrNoAnswer says that a call of a handler got no answer: it may have had
	// its effect, or may have it later.
	ErrNoAnswer = errors.New("sim: no answer")
	// ErrTold says that the handler's context has ended, and the call with it.
	ErrTold = errors.New("sim: told to stop")
	// ErrRefused says that a call of a handler was refused, without effect.
	ErrRefused = errors.New("sim: the other side refuses to serve")

	errHeld     = errors.New("sim: somebody holds the row")
	errRejected = errors.New("sim: the store rejects the outcome")
)

// View is what a Handlers may see of its world.
type View struct{ w *world }

// Elapsed returns true time since the start of the world.
func (v *View) Elapsed() time.Duration { return time.Duration(v.w.now) }

// Now returns what a right clock shows.
func (v *View) Now() time.Time { return time.Unix(0, epoch+v.w.now).UTC() }

// Job returns the row of the job that the scenario calls so, or nil if the
// store has none. It must not be changed, and is good until the store is called.
func (v *View) Job(name string) *store.Job {
	i, ok := v.w.byName[name]
	if !ok {
		return nil
	}
	if row, ok := v.w.store.Lookup(v.w.jobs[i].id); ok {
		return row
	}
	return nil
}

// Each visits the rows in the order in which they were added.
func (v *View) Each(visit func(*store.Job)) {
	v.w.store.Each(func(j *store.Job) bool { visit(j); return true })
}

// JobName returns what the scenario calls a job.
func (v *View) JobName(id store.JobID) string { return v.w.jobName(id) }
