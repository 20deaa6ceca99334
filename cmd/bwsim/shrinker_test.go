package main

import (
	"testing"
	"time"

	"backwave/sim/shrink"
)

// TestDearTriesDoNotCount: a plan that still fails, but takes far more events
// than the one that shrinking began with, would make all later tries as dear.
func TestDearTriesDoNotCount(t *testing.T) {
	src, err := load("testdata/untidy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	start := shrink.Plan{Scenario: src.sc, Seed: 1}
	k := newShrinker(t.Context(), 1)
	found, _ := k.look(start)
	k.target = found[0].ID
	longer := *src.sc
	longer.For += 24 * time.Hour
	dear := shrink.Plan{Scenario: &longer, Seed: 1}
	if !k.try([]shrink.Plan{start})[0].Fails {
		t.Error("the plan itself does not count")
	}
	if k.try([]shrink.Plan{dear})[0].Fails {
		t.Error("a plan that is a thousand times longer counts")
	}
	k.events = 0
	if !k.try([]shrink.Plan{dear})[0].Fails {
		t.Error("it does not fail, however many events it may take: this shows nothing")
	}
}
