package scenario

import (
	"reflect"
	"testing"

	"backwave/sim"
)

// TestMutatedWorldsReadBack: the plan of a finding of a guided search must be a
// file that can be read.
func TestMutatedWorldsReadBack(t *testing.T) {
	for seed := uint64(1); seed <= 15; seed++ {
		sc := sim.Random(seed)
		for step := range uint64(8) {
			sc = sim.Mutate(sc, 100*seed+step)
			text := Format(sc, Header{Version: Version, Seed: seed})
			back, err := Parse("x.yaml", text)
			if err != nil {
				t.Fatalf("seed %d, step %d: %v\n%s", seed, step, err, text)
			}
			if again := Format(back, Header{Version: Version, Seed: seed}); string(again) != string(text) || !reflect.DeepEqual(back.Timeline, sc.Timeline) && len(sc.Timeline) > 0 {
				t.Fatalf("seed %d, step %d: read back it is another world:\n%s\n%s", seed, step, text, again)
			}
		}
	}
}
