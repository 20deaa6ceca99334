package bubble

import (
	"sync"
	"time"

	"backwave/clockx"
)

// line is a clock: a line through true time, in ns, bent by drift, broken by
// steps, level while it is frozen.
type line struct {
	since, base, ppm int64
	frozen           int
}

const million = 1_000_000

func (l *line) read(now int64) int64 {
	if l.frozen > 0 {
		return l.base
	}
	d := now - l.since
	return l.base + d + d/million*l.ppm + d%million*l.ppm/million
}

// bend begins a new piece of the line at now.
func (l *line) bend(now int64, change func()) {
	l.base, l.since = l.read(now), now
	change()
}

// until returns how long it takes from now on until l reads reading.
func (l *line) until(reading, now int64) (d int64, ok bool) {
	left := reading - l.read(now)
	if left <= 0 {
		return 0, true
	}
	if l.frozen > 0 {
		return 0, false
	}
	d = left - left/(million+l.ppm)*l.ppm
	for l.read(now+d) < reading {
		d++
	}
	for d > 0 && l.read(now+d-1) >= reading {
		d--
	}
	return d, true
}

// nodeClock is the clock of a node: it drifts, and while the node stands still
// its timers wait, so that an engine on it does not move at all.
type nodeClock struct {
	n     *node
	began time.Time

	mu   sync.Mutex
	line line // from began on, in ns
}

var _ clockx.Clock = (*nodeClock)(nil)

// Now implements clockx.Clock.
func (c *nodeClock) Now() time.Time {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	d := int64(now.Sub(c.began))
	return now.Add(time.Duration(c.line.read(d) - d))
}

// AfterFunc implements clockx.Clock.
func (c *nodeClock) AfterFunc(d time.Duration, f func()) clockx.Timer {
	return &nodeTimer{c, time.AfterFunc(c.real(d), func() {
		c.n.stand()
		f()
	})}
}

// real returns how long it really takes until d has passed on c.
func (c *nodeClock) real(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return d - d/million*time.Duration(c.line.ppm)
}

func (c *nodeClock) drift(ppm int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line.bend(int64(time.Since(c.began)), func() { c.line.ppm = int64(ppm) })
}

type nodeTimer struct {
	clock *nodeClock
	timer *time.Timer
}

// Stop implements clockx.Timer.
func (t *nodeTimer) Stop() bool { return t.timer.Stop() }

// Reset implements clockx.Timer.
func (t *nodeTimer) Reset(d time.Duration) bool { return t.timer.Reset(t.clock.real(d)) }
