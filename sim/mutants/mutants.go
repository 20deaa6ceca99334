// Package mutants lists the planted bugs with which the checkers are tested.
package mutants

import (
	"slices"

	"backwave/internal/mutant"
)

// All returns every planted bug.
func All() []mutant.Mutant {
	return slices.Concat(inStore(), inPump(), inShell(), inLiveness(), inKinds())
}
