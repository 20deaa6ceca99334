package mutants

import (
	"testing"

	"backwave/internal/mutant"
)

func TestAnchorsOfSurroundings(t *testing.T) {
	if err := mutant.Check("../..", Surroundings()); err != nil {
		t.Fatal(err)
	}
}
