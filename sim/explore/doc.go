// Package explore visits every state that a small world can get into: a few
// nodes, a job or two, and a budget of faults. The pump and the memory store in
// it are those of production; a state is the pumps, the store's rows, the
// handlers, the calls in flight, what is left of the budget, and the books of
// the invariants. The search is breadth first, so the first violation found has
// a shortest trace.
//
// A state is kept as bytes in a canonical form: times relative to now and in
// whole ticks, calls and claim numbers by rank, processes in an order that does
// not depend on their names. Two states of one form go on alike, so equal nodes,
// and worlds that differ in their past only, are visited once. docs/exploring.md
// says what is abstracted from, and what that costs.
package explore
