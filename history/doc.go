// Package history keeps what happened between clients and a store, as data: a
// sequence of records that a recorder writes, a file carries and a checker
// judges. Production histories and simulated ones have the same form.
//
// A call is one Sent record and at most one answer: Answered (a reply) or
// Failed (an error). A call without an answer is unknown: it may have happened
// at any time after it was sent, or never. So is a call that Failed, unless
// the failure says that nothing of it was carried out. What a handler does in a
// transaction of its own, a success or an enqueue, is no call and in no history.
//
// A world that knows more than its clients adds records that no client sees:
// Applied (the store carried a call out here, with this reply), Lost (it will
// never be carried out again), Doubled (the network made one more copy of it)
// and Forgot (the store lost its last commits). A checker may use them, but a
// history without them can be judged too.
package history
