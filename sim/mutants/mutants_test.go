package mutants

import (
	"testing"

	"backwave/internal/mutant"
)

// TestAnchors fails when the code has moved away from under a planted bug.
func TestAnchors(t *testing.T) {
	if err := mutant.Check("../..", All()); err != nil {
		t.Fatal(err)
	}
}
