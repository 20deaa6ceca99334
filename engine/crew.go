package engine

import "sync"

// crew runs attempts, each beside all others, in as few goroutines as that
// takes. A goroutine whose handler has returned goes on with the next attempt,
// on a stack that has grown already; but before it calls any handler, another
// goroutine is on its way to what still waits.
type crew struct {
	work func(*attempt)

	mu     sync.Mutex
	todo   []*attempt // in the order of their starts
	coming bool       // a goroutine is on its way; always so while something waits
}

// add has a run. It does not wait for it.
func (c *crew) add(a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.todo = append(c.todo, a)
	c.summon()
}

// summon sends a goroutine on its way if something waits. mu must be held.
func (c *crew) summon() {
	if len(c.todo) > 0 && !c.coming {
		c.coming = true
		go c.serve()
	}
}

// serve works until nothing waits. A handler may leave the goroutine: whoever
// serves the others is on its way by then.
func (c *crew) serve() {
	for a := c.take(true); a != nil; a = c.take(false) {
		c.work(a)
	}
}

// take returns the attempt that has waited longest, or nil. arrived says that
// the caller is who was on its way.
func (c *crew) take(arrived bool) *attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if arrived {
		c.coming = false
	}
	if len(c.todo) == 0 {
		return nil
	}
	a := c.todo[0]
	c.todo[0] = nil // the array lives on
	c.todo = c.todo[1:]
	c.summon()
	return a
}
