package engine

import (
	"fmt"
	"runtime/debug" //det:ok the stack goes to the log only

	"backwave/engine/pump"
	"backwave/store"
)

// Surroundings is all that differs between production and a simulated world:
// what time it is, and how a shell's wishes are carried out. No method may call
// back into the shell before it has returned.
type Surroundings interface {
	Now() pump.Time                             // node time; never goes back
	Wake(at pump.Time)                          // call Shell.Woken then; replaces the last wish; pump.Never = not at all
	Call(op pump.Op, req store.Request)         // the answer goes to Shell.Answered
	Start(l store.Lease)                        // the end goes to Shell.Returned
	Cancel(key store.LeaseKey, why pump.Reason) // end the context of a running handler
	Note(a pump.Action)                         // something to be logged, or counted
}

// Shell carries out what a pump wants and tells it what happened, one thing at
// a time. It is the same in production and in the simulator, and plain data
// beside its surroundings. Its methods must not be called concurrently.
type Shell struct {
	pump *pump.Pump
	env  Surroundings
	acts []pump.Action // reused between steps
	mark Mark
}

// NewShell returns the shell of a new pump; cfg must be valid, and worker be
// used by no other pump, ever. Begin sets it going.
func NewShell(cfg pump.Config, worker string, env Surroundings) *Shell {
	return &Shell{pump: pump.New(cfg, worker, env.Now()), env: env}
}

// Begin takes the first step.
func (s *Shell) Begin() { s.step(pump.Woken{}) }

// Woken tells that the instant of the last Wake has come.
func (s *Shell) Woken() { s.step(pump.Woken{}) }

// Hinted tells that work may have become due.
func (s *Shell) Hinted() { s.step(pump.Hinted{}) }

// WallJumped tells that the last reading of node time counted a jump of the
// wall clock. It must be called before anything else after that reading.
func (s *Shell) WallJumped() { s.step(pump.WallJumped{}) }

// Drain asks the pump to stop.
func (s *Shell) Drain() { s.step(pump.Drained{}) }

// Progressed tells of a running handler's progress, at most
// store.MaxProgress bytes that nobody changes any more.
func (s *Shell) Progressed(key store.LeaseKey, data []byte) {
	s.step(pump.Progressed{Key: key, Data: data})
}

// Completing tells that the handler of key is about to record its success in a
// transaction of its own.
func (s *Shell) Completing(key store.LeaseKey) { s.step(pump.Completing{Key: key}) }

// Completed tells how that transaction ended.
func (s *Shell) Completed(key store.LeaseKey, c store.Completion) {
	s.step(pump.Completed{Key: key, End: c})
}

// Returned tells how the handler of key ended.
func (s *Shell) Returned(key store.LeaseKey, r Result) {
	defer s.rescue() // the handler's error may panic when it is looked into
	s.step(pump.Returned{Key: key, Outcome: r.Outcome()})
}

// Answered tells the answer to a call: a reply, or an error.
func (s *Shell) Answered(op pump.Op, reply store.Reply, err error) {
	defer s.rescue() // so may the store's error, or a reply that is a nil pointer
	if err != nil {
		s.step(pump.Failed{Op: op, Fault: store.FaultOf(err), Type: innermostType(err), Text: safeText(err)})
		return
	}
	switch r := reply.(type) {
	case *store.Claimed:
		s.step(pump.Claimed{Op: op, Leases: r.Leases, HasNext: r.HasNext, Next: r.Next})
	case *store.Renewed:
		s.step(pump.Renewed{Op: op, Rows: r.Rows})
	case *store.Reported:
		s.step(pump.Reported{Op: op, Rows: r.Rows})
	case *store.Swept:
		s.step(pump.Swept{Op: op, Disposed: len(r.Disposed)})
	case *store.Enqueued, *store.Done, nil:
		s.step(pump.Broke{Cause: pump.Cause{Type: "engine.Shell", Message: fmt.Sprintf("call %d was answered by a %T", op, reply)}})
	}
}

// Mark returns the health of the pump.
func (s *Shell) Mark() Mark { return s.mark }

// Marks returns the same in short: whether the pump has halted, and a bit for
// each pump.Kind whose episode of transient faults is under way.
func (s *Shell) Marks() (halted bool, degraded uint8) { return s.mark.Halted, s.mark.kinds }

// Ended reports whether the pump sends nothing more.
func (s *Shell) Ended() bool { return s.pump.Ended() }

// Views appends the leases that the pump takes for its own to out, for whoever
// watches it.
func (s *Shell) Views(out []pump.View) []pump.View { return s.pump.Views(out) }

// Snapshot returns what the pump knows, for whoever watches it.
func (s *Shell) Snapshot() pump.Snapshot { return s.pump.Snapshot() }

// Worker returns the identity of the pump in the store.
func (s *Shell) Worker() string { return s.pump.Worker() }

func (s *Shell) step(ev pump.Event) {
	defer s.rescue()
	s.acts = s.pump.Step(s.env.Now(), ev, s.acts[:0])
	s.carryOut()
	s.env.Wake(s.pump.Deadline())
}

// rescue turns a panic of the pump, of the surroundings or of what they were
// handed into a fail-stop: the process and its other groups live on.
func (s *Shell) rescue() {
	v := recover()
	if v == nil {
		return
	}
	cause := pump.Cause{Type: fmt.Sprintf("%T", v), Message: "panic: " + safeText(v), Stack: string(debug.Stack())}
	s.acts = s.pump.Halt(cause, s.acts[:0])
	s.carryOut()
	s.env.Wake(pump.Never)
}

func (s *Shell) carryOut() {
	for _, a := range s.acts {
		switch a := a.(type) {
		case pump.Call:
			s.env.Call(a.Op, a.Req)
		case pump.Start:
			s.env.Start(a.Lease)
		case pump.Cancel:
			s.env.Cancel(a.Key, a.Why)
		case pump.Degraded, pump.Recovered, pump.Halted, pump.Stopped, pump.Dropped, pump.Abandoned:
			s.mark.note(a)
			s.env.Note(a)
		}
	}
}
