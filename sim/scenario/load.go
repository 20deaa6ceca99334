package scenario

import (
	"fmt"

	"backwave/scenarios"
	"backwave/sim"
)

// Load returns the shipped scenario called name, or an error that lists the
// names there are.
func Load(name string) (*sim.Scenario, error) {
	file := scenarios.File(name)
	src, err := scenarios.FS.ReadFile(file)
	if err != nil {
		e := fmt.Errorf("scenario: no shipped scenario is called %q, want one of %s", name, listed(scenarios.Names()))
		if guess := near(name, scenarios.Names()); guess != "" {
			e = fmt.Errorf("%w (did you mean %q?)", e, guess)
		}
		return nil, e
	}
	return Parse("scenarios/"+file, src)
}
