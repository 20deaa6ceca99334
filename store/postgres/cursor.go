package postgres

import (
	"math"
	"sync"
	"time"

	"backwave/clockx"
)

// place is where a job stands in its queue. Claims go by places, lowest first.
type place struct{ due, seq int64 }

// front is before every job.
var front = place{math.MinInt64, math.MinInt64}

func (p place) before(o place) bool { return p.due < o.due || p.due == o.due && p.seq < o.seq }

const (
	// cheapClaim is how long a claim may always take from the front of its
	// queues, and dearRow how long per job, until this process has seen it done
	// in less. What takes twice that has walked over many rows which are leased,
	// or finished and not yet vacuumed.
	cheapClaim = time.Millisecond
	dearRow    = 20 * time.Microsecond
	// rewindBudget is the inverse of the share of time that goes into claims from
	// the front while they are dear, and mostRewind the longest that a claim
	// passes over what became visible behind it.
	rewindBudget = 20
	mostRewind   = 5 * time.Second
)

// cursors let claims start where the last one ended, as long as starting at the
// front is dear. They are a guess: a job that becomes visible behind one (a late
// commit, an early instant given by a caller) is overtaken until a claim comes
// back short, which has looked behind too, or until the next one from the front.
type cursors struct {
	clock clockx.Clock

	mu    sync.Mutex
	at    map[string]cursor // by queue; none: at the front
	cheap time.Duration     // cheapClaim
	row   time.Duration     // the least that a claim took per job
}

type cursor struct {
	place
	until time.Time // when the front is due for a look
}

func newCursors(clock clockx.Clock) *cursors {
	return &cursors{clock: clock, at: map[string]cursor{}, cheap: cheapClaim, row: dearRow}
}

// start is where the next claim of the queue is to begin.
func (c *cursors) start(queue string) place {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.at[queue]; ok && c.clock.Now().Before(k.until) {
		return k.place
	}
	return front
}

// moved tells how a claim of the queue went that began at from: how many jobs it
// got of all queues and how long that took the server, whether that was as many
// as it wanted, and the last place it got of this one.
func (c *cursors) moved(queue string, from, last place, n int, took time.Duration, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 {
		c.row = min(c.row, took/time.Duration(n))
	}
	k, ok := c.at[queue]
	switch {
	case !full:
		delete(c.at, queue)
	case from != front:
		if ok && k.before(last) {
			k.place = last
			c.at[queue] = k
		}
	case took > c.cheap && took > 2*time.Duration(n)*c.row:
		c.at[queue] = cursor{last, c.clock.Now().Add(min(rewindBudget*took, mostRewind))}
	default:
		delete(c.at, queue)
	}
}

// rewind lets the next claim of the queue begin at the front.
func (c *cursors) rewind(queue string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.at, queue)
}

// rewindAll does so for every queue.
func (c *cursors) rewindAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.at)
}
