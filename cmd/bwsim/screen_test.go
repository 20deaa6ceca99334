package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestALostResultIsNoPass: a run whose output nobody got must not look green,
// and one that was violated must still look red.
func TestALostResultIsNoPass(t *testing.T) {
	for file, code := range map[string]int{"testdata/lapse.yaml": exitCannot, "testdata/wrong.yaml": exitViolated} {
		var stderr bytes.Buffer
		got := bwsim(context.Background(), []string{"run", file, "--quiet"}, fullDisk{}, &stderr)
		if got != code || !strings.Contains(stderr.String(), "print the result: no space left") {
			t.Errorf("%s: exit code %d, want %d\n%s", file, got, code, stderr.String())
		}
	}
}
