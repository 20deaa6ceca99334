// Package pump is the heart of BackWave: one claim → run → report loop as a
// pure state machine. Everything that may happen to it is an Event, everything
// it wants done is an Action, and time is an argument. It starts no goroutine,
// reads no clock and waits for nothing; its caller, the shell, owes it four
// things:
//
//   - Step is called with every event, one at a time, with node time that never
//     goes back (package clockx says how node time is read).
//   - Step is called with Woken once Deadline has come.
//   - The actions of a Step are carried out in order, and each Call is answered
//     at most once per delivery of the network; answers may be late, doubled or
//     missing.
//   - Each Start is answered by one Returned when the handler has returned,
//     however long that takes.
//
// A pump holds four lanes, one per kind of call on the store, and at most one
// call is in flight in each, so that a renewal never waits behind a claim, a
// report or a sweep.
package pump
