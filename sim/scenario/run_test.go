package scenario

import (
	"flag"
	"fmt"
	"testing"

	"backwave/scenarios"
	"backwave/sim"
)

var seeds = flag.Uint64("seeds", 3, "seeds with which each shipped scenario is run")

// What a shipped scenario expects was derived from the semantics by thinking;
// it must come true whatever the seed.
func TestShippedHold(t *testing.T) {
	for _, name := range scenarios.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			for seed := uint64(1); seed <= *seeds; seed++ {
				r := sim.Run(sc, sim.Options{Seed: seed})
				if r.Verdict == sim.Held {
					continue
				}
				text := ""
				for _, v := range r.Violations {
					text += fmt.Sprintf("  %s: %s\n", v.Invariant, v.Message)
				}
				t.Errorf("seed %d is %s: bwsim run scenarios/%s.yaml --seed %d\n%s", seed, r.Verdict, name, seed, text)
			}
		})
	}
}
