// Package finding says what a run has found in words that do not depend on the
// run: two runs that met one bug have the same finding, whatever their seeds,
// names and times.
package finding

import (
	"fmt"
	"hash/fnv"
	"slices"

	"backwave/checker"
	"backwave/sim"
)

// expectation is the name under which package sim reports what an author
// expected and did not get.
const expectation = "expectation"

// Finding is one way in which an invariant was violated.
type Finding struct {
	ID        string // stands for Invariant and Shape: equal if and only if both are; see ID
	Invariant string
	Shape     string            // what happened, without names, numbers and times; see Shape
	First     checker.Violation // the first of this shape in the run
	Count     int               // violations of this shape in the run, as far as they were kept
}

// Of returns what r has found, in the order in which it was first seen:
// invariants as they were violated, then expectations, then linearizability.
// The first is the one to look at; the others may well follow from it. What
// the scenario's author expects to be violated is left out. A run that held
// has no findings.
func Of(r *sim.Result) []Finding {
	var out []Finding
	add := func(n *names, v checker.Violation) {
		shape := n.shape(v.Invariant, v.Message)
		i := slices.IndexFunc(out, func(f Finding) bool { return f.Invariant == v.Invariant && f.Shape == shape })
		if i < 0 {
			out = append(out, Finding{ID: ID(v.Invariant, shape), Invariant: v.Invariant, Shape: shape, First: v})
			i = len(out) - 1
		}
		out[i].Count++
	}
	if len(r.Violations)+len(r.Missing) == 0 {
		return nil
	}
	n := namesOf(r)
	for _, v := range r.Violations {
		if !slices.Contains(r.Scenario.Expect.Violates, v.Invariant) {
			add(n, v)
		}
	}
	for _, name := range r.Missing {
		add(n, checker.Violation{
			Invariant: expectation, Event: r.Events, At: int64(r.Virtual),
			Message: "expected a violation of " + name + ", and there was none",
		})
	}
	return out
}

// Has reports whether id is among the findings.
func Has(list []Finding, id string) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.ID == id })
}

// ID returns the name by which a list of known failures can speak of a
// finding, such as fence-1b9f03c2. It stays the same as long as the message of
// the violation does.
func ID(invariant, shape string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(invariant + "\n" + shape)) // it never fails
	return fmt.Sprintf("%s-%08x", invariant, h.Sum32())
}
