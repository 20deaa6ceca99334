// Package simtest tests handlers of your own in the simulated world: the
// production engine runs them, on nodes that crash, stand still and are cut off,
// in virtual time, one seed one run. What a handler needs of the world outside is
// faked and part of the simulation: HTTP, the Client that adds jobs, a Ledger, and
// InTx for the store's transaction; engine.Sleep and engine.Now for time.
//
// Run plays one timeline of faults, Check lets rapid search for one that breaks
// an invariant and shrinks it, Fuzz does that under go test -fuzz. The engine's
// own invariants and the linearizability check are on in all of them.
//
// A handler is an ordinary blocking function, but it may block in calls of this
// package and in engine.Sleep only. Channels, select, locks that another handler
// holds, the net, goroutines and time.Sleep are not for there; a watchdog says so
// with the handler's stack. Given the same answers it must make the same calls:
// every timeline is played twice, and one that differs is a finding of its own.
package simtest
