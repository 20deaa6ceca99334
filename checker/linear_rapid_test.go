package checker

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"backwave/history"
)

// A store without a bug holds in both verdicts, whatever the network does.
func TestLinearHoldsForANaiveStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		w := newWorld("", draw)
		mustHold(t, w.run(draw(150)))
	})
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func mustHold(t failer, h *history.Log) {
	t.Helper()
	got := CheckLinear(h, LinearOptions{})
	if got.BlackBox != Held || got.Bounded != Held || got.Undecided > 0 {
		t.Fatalf("black-box %v, bounded %v, %d undecided: %v\n%s", got.BlackBox, got.Bounded, got.Undecided, got.Findings, tellAll(h, got))
	}
}

func tellAll(h *history.Log, got Linear) (s string) {
	for _, f := range got.Findings {
		s += Explain(h, f.Job, LinearOptions{})
	}
	return s
}

// seeded drives a world without rapid, so that a fixed set of runs is the same
// every time.
func seeded(seed uint64) func(int) int {
	r := rand.New(rand.NewPCG(seed, 1))
	return func(n int) int { return r.IntN(n) }
}

func TestLinearHoldsForManySeeds(t *testing.T) {
	notAttempted, jobs := 0, 0
	for seed := range uint64(1500) {
		h := newWorld("", seeded(seed)).run(int(100 + seed%400))
		got := CheckLinear(h, LinearOptions{})
		if got.BlackBox != Held || got.Bounded != Held || got.Undecided > 0 {
			t.Fatalf("seed %d: black-box %v, bounded %v, %d undecided: %v\n%s", seed, got.BlackBox, got.Bounded, got.Undecided, got.Findings, tellAll(h, got))
		}
		notAttempted += got.NotAttempted
		jobs += got.Jobs
	}
	if notAttempted*5 > jobs {
		t.Errorf("%d of %d jobs not attempted: the black-box verdict says too little", notAttempted, jobs)
	}
	t.Logf("%d of %d jobs not attempted", notAttempted, jobs)
}

// What clients alone wrote down, without a word of the world, is never called
// a violation, nor after a trip through a file.
func TestLinearHoldsForClientsAlone(t *testing.T) {
	undecided := 0
	for seed := range uint64(600) {
		var file bytes.Buffer
		out := history.NewWriter(&file)
		for _, r := range newWorld("", seeded(seed)).run(int(100 + seed%200)).Records() {
			switch r.Kind {
			case history.Sent, history.Answered, history.Failed, history.Stepped, history.Doubled:
				out.Write(&r)
			case history.Applied, history.Lost, history.Forgot:
			}
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		h, _, err := history.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		got := CheckLinear(h, LinearOptions{})
		undecided += got.Undecided
		if got.BlackBox == Violated || got.Bounded == Violated {
			t.Fatalf("seed %d: %v\n%s", seed, got.Findings, tellAll(h, got))
		}
	}
	if undecided > 3 {
		t.Errorf("%d jobs undecided", undecided)
	}
}

var refBugs = []string{
	"enqueue twice", "unique ignored", "double claim", "claim before due", "pause ignored",
	"attempt not counted", "attempt skipped", "fence without worker", "fence without claim number",
	"fence without attempt", "fence at expiry", "fence without expiry", "renewal not written",
	"cancel not told", "outcome applied twice", "kept end forgotten", "already with the kind asked",
	"retried at once", "ceiling off by one", "snooze counts", "cancel beats success",
	"cancel lost at the end", "live lease swept", "action twice", "cancel of a waiting job lost",
	"requeue of a succeeded job", "requeue resets attempts", "requeue keeps base",
}

// Every planted bug is found, and what clients saw never says more than what
// the world knows.
func TestLinearFindsPlantedBugs(t *testing.T) {
	for _, bug := range refBugs {
		t.Run(bug, func(t *testing.T) {
			const seeds = 120
			bounded, black, first := 0, 0, -1
			for seed := range seeds {
				h := newWorld(bug, seeded(uint64(seed))).run(300)
				got := CheckLinear(h, LinearOptions{})
				if got.BlackBox == Violated && got.Bounded == Held {
					t.Fatalf("seed %d: black-box violated, bounded held: %v\n%s", seed, got.Findings, tellAll(h, got))
				}
				if got.Bounded == Violated {
					bounded++
					if first < 0 {
						first = seed
						t.Log(got.Findings[0].Message)
					}
				}
				if got.BlackBox == Violated {
					black++
				}
			}
			if bounded == 0 {
				t.Fatalf("not found in %d seeds", seeds)
			}
			t.Logf("bounded in %d of %d seeds (first %d), black-box in %d", bounded, seeds, first, black)
		})
	}
}
