// Package bubble plays the plans of package sim against the production engine:
// engine.New and Run, with all their goroutines, timers and contexts, in the
// virtual time of testing/synctest. It consists of tests.
//
// What simulated worlds replace is real here: hosts, mailboxes, crews of
// handlers, the client, the draining of a process. What is simulated is what
// those talk to: a network that delays and loses, a memory store, the clock of
// a node. A history.Recorder stands between the two, and what it saw is judged
// by package checker, as is every commit; what only a handler can tell, whether
// it was started twice, or went on while a later attempt began, is judged here.
//
// A seed decides the plan and how long each message takes. It does not decide
// the order in which goroutines run at one instant: a failing run may need a
// few repetitions.
package bubble
