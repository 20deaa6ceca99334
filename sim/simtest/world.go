package simtest

import (
	"fmt"
	"net/http"
	"time"

	"backwave/sim"
	"backwave/store"
)

// World is what is outside of the nodes in one run, as the author of a test sees
// it. It is for Setup, for what Setup makes, and for the handlers; not for other
// goroutines.
type World struct {
	set     *setting
	view    *sim.View
	ledger  *Ledger
	servers map[string]http.Handler
	checks  []check
	ids     uint64 // made so far
	crew    *crew
}

// check is one invariant of the author's.
type check struct {
	name   string
	ok     func() error
	always bool
	broken bool
}

// Always adds an invariant: ok is asked whenever a handler, a server or the
// store may have changed anything, and at the end. The first error counts.
func (w *World) Always(name string, ok func() error) {
	w.checks = append(w.checks, check{name: name, ok: ok, always: true})
}

// AtEnd adds an invariant: ok is asked once, when the world is over.
func (w *World) AtEnd(name string, ok func() error) {
	w.checks = append(w.checks, check{name: name, ok: ok})
}

// Elapsed returns how long the world has lasted, by true time.
func (w *World) Elapsed() time.Duration {
	if w.view == nil {
		return 0
	}
	return w.view.Elapsed()
}

// Job returns a job as the store has it, by the ID that the Scenario gives it;
// nil if it has not arrived. It must not be changed, and not be kept.
func (w *World) Job(id string) *store.Job {
	if w.view == nil {
		return nil
	}
	if _, ok := w.set.payloads[id]; !ok {
		panic(fmt.Sprintf("simtest: no job of the scenario has the ID %q", id))
	}
	return w.view.Job(id)
}

// Ledger returns the ledger of this world.
func (w *World) Ledger() *Ledger { return w.ledger }

// asked returns what is wrong by the invariants of the author's.
func (w *World) asked(end bool) (out []sim.Alarm) {
	for i := range w.checks {
		c := &w.checks[i]
		if c.broken || !end && !c.always {
			continue
		}
		if err := c.ok(); err != nil {
			c.broken = true
			out = append(out, sim.Alarm{Invariant: c.name, Message: err.Error()})
		}
	}
	return out
}

// Begin implements sim.Handlers.
func (c *crew) Begin(v *sim.View) { c.world.view = v }

// Payload implements sim.Handlers.
func (c *crew) Payload(job string) []byte { return c.world.set.payloads[job] }

// Look implements sim.Handlers.
func (c *crew) Look() []sim.Alarm { return c.world.asked(false) }

// End implements sim.Handlers.
func (c *crew) End() []sim.Alarm { return c.world.asked(true) }
