package main

import (
	"os/exec"
	"testing"
)

// The example is a module of its own, as a user's program is, so no pattern of
// this module reaches it.
func TestTheEmbeddedExampleBuilds(t *testing.T) {
	cmd := exec.Command("go", "vet", ".")
	cmd.Dir = "../../examples/embedded"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}
