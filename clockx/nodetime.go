package clockx

import (
	"math"
	"time"
)

// Tolerance is how far the wall clock may run ahead of the monotonic one
// between two readings before node time follows it. Smaller differences are
// ordinary (readings taken apart, a slewed clock), and counting them would
// only ever add up, since node time never goes back.
const Tolerance = 50 * time.Millisecond

// Fold makes one never-decreasing reading out of a monotonic clock, which may
// stand still while the machine is suspended, and the wall clock, which may be
// set. It is plain data; the zero value is ready to use.
type Fold struct {
	Started bool
	Mono    int64 // highest monotonic reading, in nanoseconds
	Wall    int64 // last wall reading, in nanoseconds
	Now     int64 // node time, in nanoseconds
}

// Read takes a reading of both clocks, in nanoseconds from any starts of their
// own, and returns node time: the last one, plus the step of the monotonic
// clock, plus what the wall's step is longer than that if this is more than
// Tolerance. jumped says that such a part was counted. Steps back of either
// clock count as nothing. The first reading returns mono.
func (f *Fold) Read(mono, wall int64) (now int64, jumped bool) {
	if !f.Started {
		*f = Fold{Started: true, Mono: mono, Wall: wall, Now: mono}
		return mono, false
	}
	step := max(0, minus(mono, f.Mono))
	ahead := minus(minus(wall, f.Wall), step)
	f.Mono = max(f.Mono, mono)
	f.Wall = wall
	if ahead > int64(Tolerance) {
		step = plus(step, ahead)
		jumped = true
	}
	f.Now = plus(f.Now, step)
	return f.Now, jumped
}

// plus returns a + b for b >= 0, at most the largest int64.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// minus returns a - b, stopping at the ends of the range.
func minus(a, b int64) int64 {
	d := a - b
	switch {
	case b < 0 && d < a:
		return math.MaxInt64
	case b > 0 && d > a:
		return math.MinInt64
	}
	return d
}

// NodeTime reads node time from a Clock. It must not be used concurrently.
type NodeTime struct {
	Fold  Fold // what was read so far
	clock Clock
	start time.Time
}

// NewNodeTime returns a NodeTime that shows 0 now.
func NewNodeTime(c Clock) *NodeTime {
	n := &NodeTime{clock: c, start: c.Now()}
	n.Fold.Read(0, 0)
	return n
}

// Read returns node time in nanoseconds since the start; see Fold.Read.
func (n *NodeTime) Read() (now int64, jumped bool) {
	t := n.clock.Now()
	mono := t.Sub(n.start) // by the monotonic readings, if both have one
	wall := t.Round(0).Sub(n.start.Round(0))
	return n.Fold.Read(int64(mono), int64(wall))
}
