package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"backwave/sim/scenario"
	"backwave/sim/swarm"
)

// shelf is a directory of plans, one for each finding, that does not grow beyond
// a size. Plans that lie there from earlier are left, and count.
type shelf struct {
	dir  string // "" = nothing is kept
	room int64  // bytes
	full int    // plans for which there was no room
}

func openShelf(dir, most string) (*shelf, error) {
	room, err := bytesOf(most)
	if err != nil || dir == "" {
		return &shelf{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, cannot("keep plans: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, cannot("keep plans: %v", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !e.IsDir() {
			room -= info.Size()
		}
	}
	return &shelf{dir: dir, room: room}, nil
}

// keep writes the plan of a finding, and returns the name of its file; "" if it
// was not kept.
func (s *shelf) keep(f *swarm.Finding, origin, message string) (string, error) {
	if s.dir == "" {
		return "", nil
	}
	name := filepath.Join(s.dir, f.ID+".yaml")
	if _, err := os.Stat(name); !missing(err) {
		return name, nil // the first one stays
	}
	text := keptPlan(f, origin, message)
	if int64(len(text)) > s.room {
		s.full++
		return "", nil
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		return "", fmt.Errorf("keep the plan of %s: %w", f.ID, err)
	}
	s.room -= int64(len(text))
	return name, nil
}

// keptPlan is the plan of a finding, with what was found above it.
func keptPlan(f *swarm.Finding, origin, message string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: a violation of %s.\n", f.ID, f.Invariant)
	for line := range strings.Lines(message) {
		fmt.Fprintf(&b, "# Found: %s\n", strings.TrimRight(line, "\n"))
	}
	fmt.Fprintf(&b, "# From: %s\n", origin)
	b.Write(scenario.Format(f.Plan.Scenario, scenario.Header{Version: scenario.Version, Seed: f.Plan.Seed, Scenario: origin}))
	return []byte(b.String())
}
