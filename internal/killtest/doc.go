// Package killtest has no code but its test: real worker processes on a real
// store, which are killed, frozen and shut down at random while they work.
// Afterwards every job must have ended, every attempt be accounted for, every
// transactional effect be there exactly once, and what the processes recorded
// of their calls must be linearizable.
package killtest
