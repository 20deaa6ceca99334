package postgres

import (
	"sync"
	"sync/atomic"

	"backwave/store"
)

// calms knows which workers have found nothing to do, and heard of nothing
// since: their next claim only looks when something will be due, which costs the
// server a fraction of one. A claim that may be a repeat has to ask in earnest, and
// so does one in ten, so that tables that have become unusable do not stay
// unnoticed until there is work.
type calms struct {
	news atomic.Uint64 // grows when this process hears of work

	mu sync.Mutex
	of map[string]calm // by worker
}

// calm is what is known of one worker.
type calm struct {
	top   uint64 // highest claim number
	quiet bool   // its last claim was answered nothing
	news  uint64 // then: before it was sent
	looks int    // since the last claim in earnest
}

// mostLooks is how often a worker only looks before it claims in earnest.
const mostLooks = 9

// ask books a claim that is about to be sent, and reports whether there is
// nothing to expect of it.
func (c *calms) ask(r *store.Claim) (news uint64, quiet bool) {
	news = c.news.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.of[r.Worker]
	quiet = w.quiet && w.news == news && r.Number > w.top && w.looks < mostLooks
	if quiet {
		w.looks++
	} else {
		w.looks = 0
	}
	c.of[r.Worker] = calm{top: max(w.top, r.Number), looks: w.looks}
	return news, quiet
}

// found books that the last claim of a worker was answered nothing.
func (c *calms) found(worker string, news uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.of[worker]
	c.of[worker] = calm{top: w.top, quiet: true, news: news, looks: w.looks}
}
