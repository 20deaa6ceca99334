package swarm

import (
	"fmt"
	"testing"

	"backwave/sim"
)

// reached makes up what the n-th plan has reached: a few situations, and now and
// then one for the first time.
func reached(n int) (out []string) {
	names := sim.Situations()
	for i := range 1 + n%4 {
		out = append(out, names[(n/8*i+n%5+7*i)%len(names)])
	}
	return out
}

// walk makes n plans and learns, late by lag, what they have reached. It returns
// what tells the plans apart.
func walk(c Config, n, lag int) (out []string) {
	s := New(c)
	var open []Plan
	for len(out) < n {
		for len(open) > 0 && (len(open) > lag || !s.Ready()) {
			s.Learn(open[0], reached(open[0].Number))
			open = open[1:]
		}
		p := s.Next()
		open = append(open, p)
		out = append(out, fmt.Sprintf("%s %d %v %d faults, %d jobs, %v", p.Scenario.Name, p.Seed, p.Drawn, len(p.Scenario.Timeline), len(p.Scenario.Jobs), p.Scenario.For))
	}
	return out
}

// TestPlansDependOnTheConfigAlone: however late results come, the plans are the
// same.
func TestPlansDependOnTheConfigAlone(t *testing.T) {
	for _, c := range []Config{{First: 5}, {First: 5, Guided: true}, {First: 9, Guided: true, Level: sim.Recoverable}} {
		n := 4 * generation
		prompt := walk(c, n, 0)
		for _, lag := range []int{1, 7, generation, 3 * generation} {
			for i, late := range walk(c, n, lag) {
				if late != prompt[i] {
					t.Fatalf("%+v: plan %d is %q with results %d late, %q with none", c, i, late, lag, prompt[i])
				}
			}
		}
		made := 0
		for i := range prompt {
			if s := prompt[i]; len(s) > 6 && s[:6] == "guided" {
				made++
			}
		}
		if c.Guided != (made > n/4) {
			t.Errorf("%+v: %d of %d plans are made of others", c, made, n)
		}
	}
}

func TestShardsShareTheSeeds(t *testing.T) {
	seen := map[uint64]int{}
	for shard := 1; shard <= 3; shard++ {
		s := New(Config{First: 100, Shard: shard, Shards: 3})
		for range 5 {
			seen[s.Next().Seed]++
		}
	}
	for seed := uint64(100); seed < 115; seed++ {
		if seen[seed] != 1 {
			t.Errorf("seed %d is run %d times by three shards, want once", seed, seen[seed])
		}
	}
}

// TestMutatedWorldsAreSound: what no file could say would be refused when the
// plan of a finding is read again; sim/scenario reads them back in a test of its
// own. Here they are run, over many steps, and must hold.
func TestMutatedWorldsHold(t *testing.T) {
	for seed := uint64(1); seed <= 6; seed++ {
		sc := sim.Random(seed)
		before := fmt.Sprintf("%+v", *sc)
		next := sc
		for step := range uint64(5) {
			next = sim.Mutate(next, seed*100+step)
			if r := sim.Run(next, sim.Options{Seed: seed}); r.Verdict != sim.Held {
				t.Errorf("seed %d, step %d: %s: %v", seed, step, r.Verdict, r.Violations)
			}
		}
		if after := fmt.Sprintf("%+v", *sc); after != before {
			t.Errorf("seed %d: the world that was mutated has changed:\n%s\n%s", seed, before, after)
		}
	}
}
