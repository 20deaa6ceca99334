// Package clockx is time for whoever waits: clocks that can be replaced in
// tests, and node time, the one never-decreasing reading by which a pump
// lives. Nothing else in BackWave reads the wall clock.
package clockx
