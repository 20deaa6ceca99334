//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestDemo runs the demo as its users do, on stores that processes share: real
// processes are killed and frozen, and it judges itself.
func TestDemo(t *testing.T) {
	if !canFreeze {
		return
	}
	everyStore(t, func(t *testing.T, dsn string) {
		out := says(t, exitDone, dsn, "demo", "--fast")
		for _, want := range []string{"is KILLED with SIGKILL", "is FROZEN with SIGSTOP", "is WOKEN with SIGCONT", "put the job back", "REFUSED as stale", "Every job was recorded exactly once: 8 jobs, 8 successes."} {
			if !strings.Contains(out, want) {
				t.Errorf("it does not say %q:\n%s", want, out)
			}
		}
	})
}
