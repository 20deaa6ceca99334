// Package clean has nothing to be found.
package clean

// Add returns a + b.
func Add(a, b int) int { return a + b }
