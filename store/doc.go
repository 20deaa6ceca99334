// Package store holds the nouns of BackWave and the contract that every store
// keeps: what a job, a lease and an outcome are, the requests a node may send
// and the replies it may get. It talks to nothing. The rules behind the types
// are numbered in docs/semantics.md and proved by package store/storetest.
package store
