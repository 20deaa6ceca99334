// Package killtest has no code but its test: internal/nemesis for a few seconds,
// as a part of the tests of the module. It kills, freezes and shuts down real
// worker processes on a real store, and cuts their connections. bwsim real does
// it for longer, and to a server of its own.
package killtest
