package bubble

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"backwave/scenarios"
	"backwave/sim"
	"backwave/sim/scenario"
)

var (
	worlds = flag.Int("worlds", 520, "random plans that TestWorlds plays")
	only   = flag.Uint64("seed", 0, "the one random plan to be played, or the seed of the shipped ones; 0 = all, or 1")
)

// tally adds up what many runs have met.
type tally struct {
	mu   sync.Mutex
	hits map[string]int
}

func (l *tally) add(w *world) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, n := range w.hits {
		l.hits[k] += n
	}
}

// play runs one plan in a bubble and tells what did not hold.
func play(t *testing.T, sc *sim.Scenario, seed uint64, live bool, l *tally) {
	repeat := fmt.Sprintf("repeat with: go test -race ./sim/bubble -count=20 -run '%s$' -seed %d", t.Name(), seed)
	defer func() {
		if v := recover(); v != nil { // the bubble found a deadlock, or a goroutine that was left behind
			t.Errorf("%s: %v\n%s", sc.Name, v, repeat)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		w := run(sc, seed, live)
		l.add(w)
		if len(w.found) > 0 {
			t.Errorf("%s does not hold:\n  %s\n%s", sc.Name, strings.Join(w.found, "\n  "), repeat)
		}
	})
}

// small reports whether a plan is one for many runs: a bug shows in few jobs and
// nodes if it shows at all, and the cost of a run is that of its idle polls.
func small(sc *sim.Scenario) bool {
	jobs, polls := 0, 0
	for i := range sc.Jobs {
		jobs += max(1, sc.Jobs[i].Count)
	}
	for i := range sc.Groups {
		c := sc.Groups[i].Config.Resolved()
		polls += max(1, sc.Groups[i].Pumps) * len(sc.Nodes) * int(sc.For/min(c.PollInterval, time.Second)) // it looks at its clock every second
	}
	return len(sc.Nodes) <= 4 && jobs <= 16 && polls <= 1500
}

// plan returns the random plan of a seed: most of them heal, so that jobs must
// get done.
func plan(seed uint64) *sim.Scenario {
	level := []sim.Level{sim.Recoverable, sim.Adversarial, sim.Recoverable, sim.Adversarial, sim.Recoverable, sim.Pristine}[seed%6]
	return sim.RandomOf(seed, level)
}

// The production engine, with all its goroutines, keeps its promises in random
// worlds.
func TestWorlds(t *testing.T) {
	l := &tally{hits: map[string]int{}}
	t.Run("seed", func(t *testing.T) {
		seeds := 0
		for seed := uint64(1); seeds < *worlds; seed++ {
			if *only != 0 {
				seed = *only
			}
			sc := plan(seed)
			if *only == 0 && !small(sc) {
				continue
			}
			seeds++
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				play(t, sc, seed, sc.Level != sim.Adversarial, l)
			})
			if *only != 0 {
				return
			}
		}
	})
	for _, k := range slices.Sorted(maps.Keys(l.hits)) {
		t.Logf("%6d %s", l.hits[k], k)
	}
	if *only != 0 || t.Failed() {
		return
	}
	for _, k := range []string{"answer/lapsed", "answer/stale", "answer/already", "answer/lost"} {
		if l.hits[k] == 0 {
			t.Errorf("%d worlds gave no %s: they are too easy", *worlds, k)
		}
	}
	if n := l.hits["jobs/undecided"]; 10*n > l.hits["jobs"] {
		t.Errorf("%d of %d jobs were not decided", n, l.hits["jobs"])
	}
}

// The shipped scenarios come out on the production engine as their authors
// expect.
func TestShipped(t *testing.T) {
	l := &tally{hits: map[string]int{}}
	for _, name := range scenarios.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc, err := scenario.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			play(t, sc, max(1, *only), false, l)
		})
	}
}
