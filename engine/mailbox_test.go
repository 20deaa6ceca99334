package engine

import (
	"testing"

	"backwave/engine/pump"
)

// Handlers that outlive Run go on posting; nobody would ever empty the box.
func TestAMailboxThatIsShutKeepsNothing(t *testing.T) {
	b := newMailbox()
	b.post(note(func(*host) {}))
	b.shut()
	b.post(note(func(*host) {}))
	if got := b.wait(nil); len(got) != 0 {
		t.Errorf("it holds %d", len(got))
	}
}

func TestAnyPumpDegradesItsGroup(t *testing.T) {
	var bad Mark
	bad.note(pump.Degraded{Kind: pump.Claiming, Text: "no"})
	h := NewHealth(map[string][]Mark{"main": {{}, bad, {}}})
	if got := h.DegradedGroups(); len(got) != 1 || got["main"] != "claim: no" {
		t.Errorf("degraded: %v", got)
	}
}
