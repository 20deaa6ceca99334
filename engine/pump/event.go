package pump

import (
	"time"

	"backwave/store"
)

// Op numbers the calls of one pump, from 1.
type Op uint64

// Event is what the shell can tell a pump. Only this package can add to it.
//
//sumtype:decl
type Event interface{ event() }

// Woken says that the time which Deadline gave has come. It may come early.
type Woken struct{}

// Claimed answers a Claim.
type Claimed struct {
	Op      Op
	Leases  []store.Lease
	HasNext bool
	Next    time.Duration // until more may be due; meaningful if HasNext
}

// Renewed answers a Renew, in the order of its rows.
type Renewed struct {
	Op   Op
	Rows []store.RenewAnswer
}

// Reported answers a Report, in the order of its rows.
type Reported struct {
	Op   Op
	Rows []store.ReportAnswer
}

// Swept answers a Sweep.
type Swept struct {
	Op       Op
	Disposed int // lapsed leases it disposed of
}

// Failed says that a call ended in an error. Whether it had an effect is
// unknown.
type Failed struct {
	Op    Op
	Fault store.Fault
	Type  string // type of the innermost error
	Text  string
}

// Returned says that a handler has returned, panicked or left its goroutine,
// or could not be started at all.
type Returned struct {
	Key     store.LeaseKey
	Outcome store.Outcome
}

// Progressed carries what a handler wants known of its progress; the next
// renewal takes it along.
type Progressed struct {
	Key  store.LeaseKey
	Data []byte
}

// Completing says that a handler is about to send the statement which records
// its success inside a transaction of its own. It has to be heard before that
// statement is sent.
type Completing struct{ Key store.LeaseKey }

// Completed says how that transaction ended. It may be missing: then the
// completion stays open until the handler returns.
type Completed struct {
	Key store.LeaseKey
	End store.Completion
}

// Hinted says that work may have become due.
type Hinted struct{}

// WallJumped says that node time has just been moved forward because the wall
// clock ran ahead of the monotonic one (a suspend, or a clock set forward).
type WallJumped struct{}

// Drained asks the pump to stop.
type Drained struct{}

// Broke says that something outside the pump but inside its group broke an
// invariant or panicked: the pump must fail-stop.
type Broke struct{ Cause Cause }

func (Woken) event()      {}
func (Claimed) event()    {}
func (Renewed) event()    {}
func (Reported) event()   {}
func (Swept) event()      {}
func (Failed) event()     {}
func (Returned) event()   {}
func (Progressed) event() {}
func (Completing) event() {}
func (Completed) event()  {}
func (Hinted) event()     {}
func (WallJumped) event() {}
func (Drained) event()    {}
func (Broke) event()      {}
