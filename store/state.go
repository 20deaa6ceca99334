package store

import (
	"fmt"
	"time"
)

// State is where a job stands. The zero value is no state.
type State uint8

// The states of a job. Awaiting is for jobs gated by others.
const (
	Scheduled    State = iota + 1 // waits to be due and claimed
	Awaiting                      // waits for its parents
	Executing                     // leased
	Succeeded                     // terminal
	Cancelled                     // terminal
	DeadLettered                  // terminal; an operator may requeue it
	Quarantined                   // terminal; an operator may requeue it
)

var stateNames = [...]string{Scheduled: "scheduled", Awaiting: "awaiting", Executing: "executing", Succeeded: "succeeded", Cancelled: "cancelled", DeadLettered: "dead-lettered", Quarantined: "quarantined"}

// Terminal reports whether a job in state s has ended its life.
func (s State) Terminal() bool { return s >= Succeeded && s <= Quarantined }

// String returns the name used in files, logs and pages.
func (s State) String() string { return name(stateNames[:], int(s), "state") }

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) { return marshalName(stateNames[:], int(s), "state") }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *State) UnmarshalText(b []byte) error {
	i, err := parseName(stateNames[:], b, "state")
	*s = State(i)
	return err
}

// EndKind says how an attempt ended: what its worker reported, or what
// disposed of it. The state that followed is another matter (a failure may
// lead to a retry, to the dead letters, or to Cancelled).
type EndKind uint8

// The ways an attempt can end.
const (
	EndSuccess     EndKind = iota + 1
	EndFailure             // an error, a panic, a timeout
	EndDiscard             // an error that must not be tried again
	EndSnooze              // put off by its handler
	EndRelease             // given back unstarted, or by a drain
	EndUnknownName         // no handler of that name on the node
	EndUndecodable         // the payload, or the row itself, could not be read
	EndLapse               // the lease ran out and a sweep disposed of it
	EndCancel              // an operator's cancel found the lease lapsed and disposed of it
	EndForce               // an operator's forced cancel ended the live lease
)

var endNames = [...]string{EndSuccess: "success", EndFailure: "failure", EndDiscard: "discard", EndSnooze: "snooze", EndRelease: "release", EndUnknownName: "unknown-name", EndUndecodable: "undecodable", EndLapse: "lapse", EndCancel: "cancel", EndForce: "force"}

// String returns the name used in files, logs and pages.
func (k EndKind) String() string { return name(endNames[:], int(k), "end") }

// MarshalText implements encoding.TextMarshaler.
func (k EndKind) MarshalText() ([]byte, error) { return marshalName(endNames[:], int(k), "end") }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *EndKind) UnmarshalText(b []byte) error {
	i, err := parseName(endNames[:], b, "end")
	*k = EndKind(i)
	return err
}

// End is one recorded end of an attempt, as a job's history keeps it.
type End struct {
	Attempt int
	Claim   uint64
	Worker  string
	Kind    EndKind
	To      State         // the state that followed
	At      Instant       // when it was recorded
	Due     Instant       // when the job is tried again; meaningful if To is Scheduled
	Lease   time.Duration // stamped length
	Error   string        // cleaned and bounded; "" if there is nothing to say
}

func name(names []string, i int, kind string) string {
	if i > 0 && i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

func marshalName(names []string, i int, kind string) ([]byte, error) {
	if i > 0 && i < len(names) {
		return []byte(names[i]), nil
	}
	return nil, fmt.Errorf("store: no %s has the number %d", kind, i)
}

func parseName(names []string, b []byte, kind string) (int, error) {
	for i := 1; i < len(names); i++ {
		if names[i] == string(b) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("store: unknown %s %q, want one of %q", kind, b, names[1:])
}
