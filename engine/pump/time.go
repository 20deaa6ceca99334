package pump

import (
	"math"
	"time"
)

// Time is a reading of node time in nanoseconds from an arbitrary start. It is
// a type of its own so that it can be mixed neither with a store's instants nor
// with the wall clock.
type Time int64

// Never is later than any Time that comes.
const Never Time = math.MaxInt64

// Add returns t moved by d, at most Never.
func (t Time) Add(d time.Duration) Time {
	if d > 0 && t > Never-Time(d) {
		return Never
	}
	return t + Time(d)
}

// Sub returns t - u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// String prints t as the duration since the start of node time.
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return time.Duration(t).String()
}
