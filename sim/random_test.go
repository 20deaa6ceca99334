package sim

import (
	"testing"
	"time"
)

// jobs counts the jobs of sc.
func jobs(sc *Scenario) (n int) {
	for i := range sc.Jobs {
		n += max(1, sc.Jobs[i].Count)
	}
	return n
}

// TestRandomWorldsAreOfAllSizes looks at many worlds without running them.
func TestRandomWorldsAreOfAllSizes(t *testing.T) {
	const seeds = 4000
	nodes, most := map[int]int{}, 0
	one, calm := 0, 0
	leases, levels := map[time.Duration]int{}, map[Level]int{}
	for seed := range uint64(seeds) {
		sc := Random(seed)
		levels[sc.Level]++
		leases[sc.Groups[0].Config.LeaseDuration]++
		nodes[len(sc.Nodes)]++
		most = max(most, jobs(sc))
		if jobs(sc) == 1 {
			one++
		}
		if len(sc.Timeline) == 0 {
			calm++
		}
		if err := sc.Groups[0].Config.Validate(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if bound, _ := Bound(sc); sc.Level != Adversarial && sc.For < min(bound, 365*24*time.Hour) {
			t.Errorf("seed %d: a %s world of %v promises what takes up to %v", seed, sc.Level, sc.For, bound)
		}
	}
	for n := 1; n <= 20; n++ {
		if nodes[n] == 0 {
			t.Errorf("no world has %d nodes", n)
		}
	}
	if len(nodes) != 20 || most < 5000 || most > 10_000 || one == 0 {
		t.Errorf("worlds have %d sizes, and up to %d jobs; %d have one", len(nodes), most, one)
	}
	if leases[time.Second] == 0 || leases[6*time.Hour] == 0 {
		t.Errorf("leases are %v", leases)
	}
	within := func(what string, n, percent int) {
		if n < seeds*percent/100-seeds/30 || n > seeds*percent/100+seeds/30 {
			t.Errorf("%d of %d worlds are %s, want about %d %%", n, seeds, what, percent)
		}
	}
	within("pristine", levels[Pristine], 10)
	within("recoverable", levels[Recoverable], 30)
	within("adversarial", levels[Adversarial], 60)
	within("without faults", calm, 10+9+2) // the pristine, one in ten of the others, and those in which no kind came
}

// TestRecoverableWorldsHeal: what begins ends, what goes down comes up.
func TestRecoverableWorldsHeal(t *testing.T) {
	for seed := range uint64(1500) {
		sc := RandomOf(seed, Recoverable)
		paused, halted := map[string]time.Duration{}, map[string]time.Duration{}
		for _, f := range sc.Timeline {
			ends := true
			switch f := f.(type) {
			case Crash:
				ends = f.Restart > 0
				if f.At >= halted[f.Node] {
					delete(halted, f.Node)
				}
			case Drain:
				ends = f.Restart > 0
			case Partition:
				ends = f.For > 0
			case Slow:
				ends = f.For > 0
			case StoreError:
				ends = f.For > 0 || f.At >= 0 && f.Class == "fatal"
				if f.Class == "fatal" {
					halted[f.Nodes[0]] = f.At
				}
			case PauseQueue:
				paused[f.Queue] = max(paused[f.Queue], f.At)
			case ResumeQueue:
				if f.At >= paused[f.Queue] {
					delete(paused, f.Queue)
				}
			}
			if !ends {
				t.Errorf("seed %d: %T %+v never ends", seed, f, f)
			}
		}
		if len(halted) > 0 {
			t.Errorf("seed %d: halted for good are %v", seed, halted)
		}
		for q, at := range paused {
			t.Errorf("seed %d: queue %s is paused at %v, and not resumed after that", seed, q, at)
		}
	}
	for seed := range uint64(500) {
		if sc := RandomOf(seed, Pristine); len(sc.Timeline) > 0 {
			t.Errorf("seed %d: a pristine world has faults: %v", seed, sc.Timeline)
		}
	}
}
