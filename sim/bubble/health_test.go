package bubble

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"

	"backwave/sim"
)

// expectHealth asks for the health of nodes when the plan's author expects
// something of it.
func (w *world) expectHealth() {
	for _, x := range w.sc.Expect.Health {
		w.at(x.At, func() { w.health(x) })
	}
}

// health compares the health of a node, and what its page answers, with what is
// expected.
func (w *world) health(x sim.ExpectHealth) {
	w.mu.Lock()
	p := w.node(x.Node).proc
	w.mu.Unlock()
	if p == nil {
		w.breach("node %s is not up to be asked for its health", x.Node)
		return
	}
	h := p.engine.Health()
	if x.Healthy != nil && h.Healthy() != *x.Healthy {
		w.breach("node %s: healthy is %v, expected %v: %v", x.Node, h.Healthy(), *x.Healthy, h)
	}
	groups := func(what string, got, want []string) {
		if want != nil && !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			w.breach("node %s: %s are %v, expected %v", x.Node, what, got, want)
		}
	}
	groups("halted", slices.Sorted(maps.Keys(h.HaltedGroups())), x.Halted)
	groups("partially halted", slices.Sorted(maps.Keys(h.PartiallyHaltedGroups())), x.Partial)
	groups("degraded", slices.Sorted(maps.Keys(h.DegradedGroups())), x.Degraded)
	answer := httptest.NewRecorder()
	p.page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	if green := answer.Code == http.StatusOK; green != h.Healthy() || answer.Body.String() != h.String() {
		w.breach("the health page of node %s answers %d %q, and its health is %q", x.Node, answer.Code, answer.Body, h)
	}
}
