package sim

import "time"

// clock is a clock of the world: a line through true time, bent by drift,
// broken by steps, level while frozen. All readings are in nanoseconds.
type clock struct {
	since  int64 // true time of the last bend
	base   int64 // reading then
	ppm    int64
	frozen int // by how many freezes
}

const million = 1_000_000

// read returns the reading at true time now, not before the last bend.
func (c *clock) read(now int64) int64 {
	d := now - c.since
	if c.frozen > 0 {
		return c.base
	}
	if c.ppm == 0 {
		return c.base + d
	}
	return c.base + d + d/million*c.ppm + d%million*c.ppm/million
}

// when returns the first true time, now at the earliest, at which the clock
// will read at least reading if nothing bends it before.
func (c *clock) when(reading, now int64) int64 {
	have := c.read(now)
	if have >= reading {
		return now
	}
	if c.frozen > 0 {
		return never
	}
	d := reading - have
	if c.ppm == 0 {
		return now + d
	}
	rate := million + c.ppm
	t := now + d/rate*million + d%rate*million/rate
	for c.read(t) < reading { // integer division has rounded
		t++
	}
	for t > now && c.read(t-1) >= reading {
		t--
	}
	return t
}

// bend makes now the start of a new piece.
func (c *clock) bend(now int64) { c.base, c.since = c.read(now), now }

func (c *clock) step(now int64, by time.Duration) {
	c.bend(now)
	c.base += int64(by)
}

func (c *clock) drift(now int64, ppm int) {
	c.bend(now)
	c.ppm = int64(ppm)
}

func (c *clock) freeze(now int64, by int) {
	c.bend(now)
	c.frozen += by
}

func newClock(c Clock, epoch int64) clock {
	return clock{base: epoch + int64(c.Offset), ppm: int64(c.Drift)}
}
