package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"backwave/scenarios"
	"backwave/sim"
)

// TestGoldenHashes holds the trace hash of every shipped scenario and of some
// random worlds against those that were committed. A difference is no failure
// of a promise: it says that the engine, the world or the random worlds have
// changed what they do, which the author of the change should know. It also
// shows that a run is the same on another machine.
func TestGoldenHashes(t *testing.T) {
	const file = "testdata/hashes.golden"
	var b strings.Builder
	for _, name := range scenarios.Names() {
		sc, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		r := sim.Run(sc, sim.Options{Seed: 1})
		fmt.Fprintf(&b, "%s %016x %d\n", name, r.TraceHash, r.Events)
	}
	for seed := uint64(1); seed <= 40; seed++ {
		r := sim.Run(sim.Random(seed), sim.Options{Seed: seed})
		fmt.Fprintf(&b, "random-%d %016x %d\n", seed, r.TraceHash, r.Events)
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, old := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(old)) {
		if i >= len(got) || i >= len(old) || got[i] != old[i] {
			t.Fatalf("line %d is %q, was %q; if that is meant: make golden, and say in the commit why",
				i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), strings.Join(old[min(i, len(old)):min(i+1, len(old))], ""))
		}
	}
}
