// Package storetest proves that a store keeps the contract of
// docs/semantics.md. A store's author calls Run from one test; each subtest
// carries the number of the rule it proves.
//
// Everything runs on virtual time: the store under test must decide by the
// Clock that it is opened with. The expected values are written out here and
// computed by no function of package store.
package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"backwave/store"
)

// Clock is the virtual clock of one store under test. It stands still until a
// case moves it, and may be read from any goroutine.
type Clock struct {
	mu  sync.Mutex
	now store.Instant
}

// Now returns the current instant.
func (c *Clock) Now() store.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock to i, which may lie before its current instant.
func (c *Clock) Set(i store.Instant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = i
}

// Advance moves the clock on by d, or back if d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += store.Instant(d / time.Microsecond)
}

// Harness is one empty store under test, with the hooks that some rules need.
// A hook that is nil fails its rules, unless Lacks tells why there is none.
type Harness struct {
	Store store.Store
	// Hold makes an open transaction of somebody else hold the row of a job,
	// or, if there is no such job, be about to add it; until release.
	Hold func(store.JobID) (release func())
	// HoldsAll says that the store can only be locked as a whole, as a file
	// can, so that what Hold holds is everything. Cases about a held row then
	// prove that each call is refused with store.FaultBusy, has changed nothing
	// and succeeds afterwards; neighbours that are free there are none.
	HoldsAll bool
	// Damage makes the row of a job unreadable; why is to be in its next lease.
	Damage func(id store.JobID, why string)
	// Audits lists the recorded actions of operators, oldest first.
	Audits func() []store.Audit
	// Lacks maps the name of a missing hook ("Hold") to the reason.
	Lacks map[string]string
}

// Rule is one thing that Run proves: the number of a rule of
// docs/semantics.md, and the sentence of the case. Several cases may prove one
// rule.
type Rule struct{ ID, Sentence string }

// testCase is a rule and how it is shown.
type testCase struct {
	id       string
	sentence string
	check    func(f *fixture)
}

// cases returns the whole suite in the order of the sections.
func cases() []testCase {
	return slices.Concat(answers, times, states, delays, enqueues, claims, repeats, renewals, reports, histories, sweeps, operators, requeues, bounds, texts)
}

// Rules lists what Run proves, one Rule per case.
func Rules() (rules []Rule) {
	for _, c := range cases() {
		rules = append(rules, Rule{c.id, c.sentence})
	}
	return rules
}

// Run proves every rule against stores that open returns, a fresh and empty
// one for each case, which decides by clock.
func Run(t *testing.T, open func(t *testing.T, clock *Clock) Harness) {
	for _, c := range cases() {
		t.Run(c.id+"/"+c.sentence, func(t *testing.T) {
			defer endOfHeld()
			c.check(newFixture(t, open))
		})
	}
}
