// Package swarm searches for worlds in which something does not hold. It makes
// plans without end, learns from what came of each, and keeps the books: what
// was found, which situations were reached and which of them met, and what
// follows of what was not.
//
// It runs nothing itself and knows no goroutine: whoever runs the plans may do
// so on as many cores as there are, and hands the results back in the order of
// the plans. The plans then depend on the Config alone.
package swarm
