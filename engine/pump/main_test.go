package pump_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain makes the state machine run more often than rapid's 100 times, since
// a step costs microseconds. The command line can still say otherwise:
// go test ./engine/pump -rapid.checks=20000 -rapid.steps=100.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "4000"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
