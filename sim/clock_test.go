package sim

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestClockReachesWhatWhenPromises bends a clock at random: its reading never
// goes back but by a step, and when is the first instant at which a reading is
// reached.
func TestClockReachesWhatWhenPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock(Clock{Offset: time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "offset")), Drift: rapid.IntRange(-500_000, 500_000).Draw(t, "drift")}, epoch)
		now, frozen := int64(0), false
		for range rapid.IntRange(1, 20).Draw(t, "bends") {
			was := c.read(now)
			now += rapid.Int64Range(0, 1e15).Draw(t, "later")
			if c.read(now) < was {
				t.Fatalf("the clock went back from %d to %d", was, c.read(now))
			}
			switch rapid.IntRange(0, 2).Draw(t, "bend") {
			case 0:
				c.step(now, time.Duration(rapid.Int64Range(-1e13, 1e13).Draw(t, "by")))
			case 1:
				c.drift(now, rapid.IntRange(-500_000, 500_000).Draw(t, "ppm"))
			case 2:
				if frozen {
					c.freeze(now, -1)
				} else {
					c.freeze(now, 1)
				}
				frozen = !frozen
			}
			target := c.read(now) + rapid.Int64Range(1, 1e13).Draw(t, "ahead")
			at := c.when(target, now)
			switch {
			case frozen && at != never:
				t.Fatalf("a frozen clock promises a reading at %d", at)
			case !frozen && (c.read(at) < target || c.read(at-1) >= target):
				t.Fatalf("a reading of %d was promised for %d: there it is %d, and %d just before", target, at, c.read(at), c.read(at-1))
			}
		}
	})
}

// TestClockIsExactOverAYear checks the integer arithmetic where products of
// true time and drift would overflow.
func TestClockIsExactOverAYear(t *testing.T) {
	c := newClock(Clock{Drift: 200}, 0)
	year := int64(365 * 24 * time.Hour)
	if got, want := c.read(year), year+int64(6307200*time.Millisecond); got != want {
		t.Errorf("after a year at 200 ppm the clock reads %d, want %d", got, want)
	}
}
