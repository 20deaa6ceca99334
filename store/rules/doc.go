// Package rules holds what every store decides about one job: the fence, what
// follows from an outcome, a lapse, a cancel, a requeue; and what a claim, a
// renewal and an enqueue write. A store finds rows, locks them and keeps them;
// what happens to a row that it has in its hands is decided here, so that two
// stores cannot differ in it.
//
// Everything is a function of its arguments. A function that is given a job to
// change changes it only if its answer says so, and writes the histories of
// jobs by append and by moving their start: an older copy of a job stays as it
// was.
package rules
