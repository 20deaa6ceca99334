// Package sim is the simulated world: many nodes, each running the shells and
// pumps that production runs, against the memory store behind a network that
// loses, delays and doubles, on clocks that drift, step and freeze. One
// goroutine, one queue of events, one seed: the same seed gives the same run to
// the last byte.
//
// Options.Handlers runs handlers in Go in place of the scripts of a scenario;
// package simtest is how users do that.
//
// A Scenario is the world and what happens to it, as data; Run plays it;
// checker.Watch and the linearizability checker judge it.
package sim
