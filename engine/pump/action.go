package pump

import (
	"fmt"

	"backwave/store"
)

// Action is what a pump wants done. Only this package can add to it.
//
//sumtype:decl
type Action interface{ action() }

// Call sends a request to the store.
type Call struct {
	Op   Op
	Kind Kind
	Req  store.Request
}

// Start runs the handler of an attempt.
type Start struct{ Lease store.Lease }

// Cancel ends the context of a running handler.
type Cancel struct {
	Key store.LeaseKey
	Why Reason
}

// Degraded marks the beginning of an episode of transient faults in one kind
// of call.
type Degraded struct {
	Kind Kind
	Text string
}

// Recovered marks its end.
type Recovered struct{ Kind Kind }

// Halted says that the pump has fail-stopped, for good.
type Halted struct{ Cause Cause }

// Stopped says that a drain is over: the pump sends nothing more. Handlers may
// still be running.
type Stopped struct{}

// Dropped says that an outcome came to nothing, since its lease was over.
type Dropped struct {
	Key  store.LeaseKey
	Kind store.EndKind
}

// Abandoned says that a handler has ignored its timeout or a cancel for so
// long that its lease is no longer renewed.
type Abandoned struct{ Key store.LeaseKey }

func (Call) action()      {}
func (Start) action()     {}
func (Cancel) action()    {}
func (Degraded) action()  {}
func (Recovered) action() {}
func (Halted) action()    {}
func (Stopped) action()   {}
func (Dropped) action()   {}
func (Abandoned) action() {}

// Kind is a kind of store call. Due calls go out in this order.
type Kind uint8

// The kinds of calls, one lane each.
const (
	Renewing Kind = iota
	Reporting
	Claiming
	Sweeping
	kinds
)

// String returns the verb of the call.
func (k Kind) String() string {
	switch k {
	case Renewing:
		return "renew"
	case Reporting:
		return "report"
	case Claiming:
		return "claim"
	case Sweeping:
		return "sweep"
	}
	return fmt.Sprintf("call(%d)", k)
}

// Reason says why a handler's context ended.
type Reason uint8

// The reasons, as §6 of the semantics lists them.
const (
	CancelRequested Reason = iota + 1 // an operator asked
	Draining                          // the process shuts down
	LeaseLost                         // a renewal was refused, or the own view ran out
	GroupHalted                       // the pump fail-stopped
	TimedOut                          // the timeout of the job's name ran out
)

// String returns a word for r.
func (r Reason) String() string {
	switch r {
	case CancelRequested:
		return "cancel-requested"
	case Draining:
		return "draining"
	case LeaseLost:
		return "lease-lost"
	case GroupHalted:
		return "halted"
	case TimedOut:
		return "timed-out"
	}
	return fmt.Sprintf("reason(%d)", r)
}

// Cause is why a pump fail-stopped.
type Cause struct {
	Type    string // type of the innermost error
	Message string
	Stack   string // of a panic; for the log
}

// String prints c as operators read it.
func (c Cause) String() string { return c.Type + ": " + c.Message }
