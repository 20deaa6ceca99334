package store

import (
	"math"
	"time"
)

// Instant is a reading of a store's clock, in microseconds since the Unix
// epoch. It is a type of its own, so that it can never be compared with a
// node's time by accident: the two clocks may be hours apart. Microseconds are
// what every store can keep, so an instant survives any round trip unchanged.
type Instant int64

// MaxDuration is the longest span a request may carry; longer ones are capped
// to it before they are sent.
const MaxDuration = 10 * 365 * 24 * time.Hour

// At converts t, dropping what is below a microsecond. Times that an Instant
// cannot hold are moved to the nearest one it can.
func At(t time.Time) Instant {
	const limit = math.MaxInt64 / 1_000_000
	if s := t.Unix(); s >= limit {
		return math.MaxInt64
	} else if s <= -limit {
		return math.MinInt64
	}
	return Instant(t.UnixMicro())
}

// Time converts i to a time.Time in UTC.
func (i Instant) Time() time.Time { return time.UnixMicro(int64(i)).UTC() }

// Add returns i moved by d, dropping what is below a microsecond and stopping
// at the ends of the range instead of wrapping around.
func (i Instant) Add(d time.Duration) Instant {
	us := int64(d / time.Microsecond)
	sum := int64(i) + us
	switch {
	case us > 0 && sum < int64(i):
		return math.MaxInt64
	case us < 0 && sum > int64(i):
		return math.MinInt64
	}
	return Instant(sum)
}

// Sub returns i - j, capped to what a Duration can hold (about 292 years).
func (i Instant) Sub(j Instant) time.Duration {
	const limit = math.MaxInt64 / 1_000
	us := int64(i) - int64(j)
	switch {
	case us > limit || (int64(i) >= 0 && int64(j) < 0 && us < 0):
		return math.MaxInt64
	case us < -limit || (int64(i) < 0 && int64(j) >= 0 && us > 0):
		return math.MinInt64
	}
	return time.Duration(us) * time.Microsecond
}

// String prints i as RFC 3339 with microseconds, in UTC.
func (i Instant) String() string { return i.Time().Format("2006-01-02T15:04:05.000000Z") }

// ClampDuration returns d moved into [0, MaxDuration].
func ClampDuration(d time.Duration) time.Duration { return max(0, min(d, MaxDuration)) }
