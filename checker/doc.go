// Package checker judges histories: what clients of a store saw, and what a
// world that knows more has noted beside it. It shares no code with what it
// judges; its rules are written from docs/semantics.md.
//
// CheckLinear asks whether the calls could have taken effect one at a time on
// a store that keeps the promises. The sequential specification is the model
// of one job (model*.go), searched with porcupine; Explain puts a violation
// into words. The invariants over row images judge a simulated world from the
// inside: see Violation.
//
// No judgement may be wrong against the product: where the rules leave room,
// or a lost answer leaves two stories possible, the check believes the better
// one. A check that ran out of its budget says Undecided, which is no pass.
package checker
