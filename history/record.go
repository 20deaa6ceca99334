package history

import (
	"backwave/store"
)

// Kind says what a Record tells.
type Kind uint8

// The kinds of records.
const (
	Sent     Kind = iota + 1 // a client sent Req
	Answered                 // the client got Reply
	Failed                   // the client got an error
	Applied                  // world: the store carried the call out at this point and decided Reply
	Lost                     // world: no copy of the call that is still under way will be carried out
	Doubled                  // world: one more copy of the call is under way
	Forgot                   // world: the effects of all records after To are undone
	Stepped                  // the store's clock was seen behind High, an instant it had shown before
)

// Record is one thing that happened. It is one flat struct, not a sum, because
// a simulator appends a million of them a second; the comments say which kinds
// use a field. What Req and Reply point to must not be changed any more.
type Record struct {
	Seq     uint64        // position in the history: strictly increasing, gaps allowed
	At      int64         // ns: true time in a simulation, wall clock since the Unix epoch otherwise
	Kind    Kind          //
	Fault   store.Fault   // Failed: the class of the error
	Refused bool          // Failed: nothing of the call was carried out, nor will be
	Call    uint64        // all but Forgot and Stepped: the id of the call
	Client  string        // Sent: the worker, or whatever else names the caller
	Req     store.Request // Sent
	Reply   store.Reply   // Answered, Applied
	Err     string        // Failed: for people
	To      uint64        // Forgot: Seq of the last record whose effect survives
	High    store.Instant // Stepped
}

// idle reports whether r says that nothing was taken and nothing disposed of.
func idle(r store.Reply) bool {
	switch r := r.(type) {
	case *store.Claimed:
		return len(r.Leases) == 0
	case *store.Swept:
		return len(r.Disposed) == 0
	case *store.Renewed, *store.Reported, *store.Enqueued, *store.Done:
		return false
	}
	return false
}
