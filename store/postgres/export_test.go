package postgres

// Fault shows the table of faults to tests that provoke them by hand.
var Fault = fault

// LookEvery lets the cleaner look after every n finished jobs.
func (s *Store) LookEvery(n int) { s.cleaner.every = int64(n) }

// Looked waits until the cleaner is done.
func (s *Store) Looked() { s.cleaner.wait.Wait() }

// AllDear takes every claim for one that has walked over much.
func (s *Store) AllDear() { s.cursors.cheap, s.cursors.row = -1, 0 }
