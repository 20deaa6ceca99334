//go:build unix

package nemesis

import (
	"context"
	"sync"
	"time"

	"backwave/clockx"
)

// clocks watches how the wall clock, by which every process of this host dates
// its records, goes beside the monotonic one. Two processes that read the wall
// clock at one instant read the same; what can come between two readings is
// that it was set, or slewed, in between. So a record's true time is uncertain
// by no more than the two clocks have parted.
type clocks struct {
	end context.CancelFunc
	all sync.WaitGroup
	lo  time.Duration
	hi  time.Duration
}

// clockPause is the time from one look at the clocks to the next.
const clockPause = 20 * time.Millisecond

func watchClocks() *clocks {
	c := &clocks{}
	ctx, end := context.WithCancel(context.Background())
	c.end = end
	start := clockx.Wall{}.Now()
	c.all.Go(func() {
		for clockx.Sleep(ctx, clockx.Wall{}, clockPause) == nil {
			d := apart(start)
			for range 3 { // whoever is interrupted between the two readings reads them again
				if again := apart(start); again.Abs() < d.Abs() {
					d = again
				}
			}
			c.lo, c.hi = min(c.lo, d), max(c.hi, d)
		}
	})
	return c
}

// apart is how much further the wall clock has gone since start than the
// monotonic one.
func apart(start time.Time) time.Duration {
	now := clockx.Wall{}.Now()
	return now.Round(0).Sub(start.Round(0)) - now.Sub(start)
}

// stop ends the watch, and returns how far the clocks have parted.
func (c *clocks) stop() time.Duration {
	c.end()
	c.all.Wait()
	return c.hi - c.lo
}
