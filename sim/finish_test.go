package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/checker"
	"backwave/engine/pump"
	"backwave/store"
)

// short is a world of one node and one job, with timings that are easy to add
// up.
func short(level Level, timeline ...Fault) *Scenario {
	return &Scenario{
		Name: "short", Level: level, For: 10 * time.Minute,
		Net: Net{Latency: time.Millisecond, Jitter: time.Millisecond},
		Groups: []Group{{Name: "g", Config: pump.Config{
			Queues: []pump.Queue{{Name: "a"}}, PoolSize: 2, LeaseDuration: 10 * time.Second, MaintenanceInterval: 2 * time.Second, PollInterval: time.Second, OperationTimeout: time.Second,
			Terms: &store.Terms{Default: store.Policy{MaxAttempts: 3, First: time.Second, NoJitter: true}},
		}}},
		Nodes:    []Node{{Name: "n1"}},
		Jobs:     []Job{{ID: "j1", At: time.Second, Run: []Script{{For: 3 * time.Second}}}},
		Timeline: timeline,
	}
}

// TestBoundIsTheSum adds up by hand what the comment in bound.go says.
func TestBoundIsTheSum(t *testing.T) {
	sc := short(Recoverable)
	const (
		way    = 4 * time.Millisecond                              // two messages of at most 2 ms
		beside = time.Second + 10*way                              // a poll, and 2×2+6 calls
		patrol = 2*time.Second + time.Second + time.Second + 2*way // a sweep that times out, and is made again
		start  = 5*time.Second + 2*2*time.Second + 10*time.Second + 2*patrol + 3*time.Second + 4*way
		tiny   = 2 * time.Millisecond // rounding
	)
	// One attempt may be lost: two in all, and a rest of a second between them.
	attempts := 2 * (3*time.Second + beside)
	want := start + attempts/2 + attempts + time.Second
	if got, ok := Bound(sc); !ok || got < want || got > want+4*time.Second { // later attempts rest longer
		t.Errorf("bound %v, %v, want %v and up to 4s for the rests of later attempts", got, ok, want)
	}
	b := newBounds(sc)
	b.everybody()
	if l := b.after(&sc.Jobs[0], 1); l.attempts != 2 || l.handlers != 6*time.Second || l.rests > time.Second+tiny {
		t.Errorf("after one attempt there is left %+v", l)
	}
	if l := b.after(&sc.Jobs[0], 0); l.attempts != 1 || l.rests != 0 {
		t.Errorf("before the first attempt there is left %+v", l)
	}
}

func TestWhatHasNoBound(t *testing.T) {
	for name, spoil := range map[string]func(*Scenario){
		"a handler that never returns":    func(s *Scenario) { s.Jobs[0].Run = []Script{{End: "hang"}} },
		"a handler that always snoozes":   func(s *Scenario) { s.Jobs[0].Run = []Script{{End: "snooze", After: time.Second}} },
		"a queue that nobody serves":      func(s *Scenario) { s.Jobs[0].Queue = "b" },
		"a network slower than its calls": func(s *Scenario) { s.Net.Latency = time.Second },
	} {
		sc := short(Recoverable)
		spoil(sc)
		if d, ok := Bound(sc); ok {
			t.Errorf("%s is bounded by %v", name, d)
		}
	}
	sc := short(Recoverable)
	sc.Jobs[0].Run = []Script{{End: "snooze", After: time.Second}, {}}
	if d, ok := Bound(sc); !ok {
		t.Errorf("a handler that snoozes once has no bound: %v", d)
	}
}

// violated returns the names of the invariants that r violates.
func violated(r *Result) (out []string) {
	for _, v := range r.Violations {
		out = append(out, v.Invariant)
	}
	return out
}

// meddle runs sc while row j1 is held behind the world's back, from its enqueue
// on, for so many lines of the story.
func meddle(sc *Scenario, lines int) *Result {
	var w *world
	told := -1
	w = newWorld(sc, Options{Seed: 1, Story: func(l Line) {
		switch {
		case l.Text == "j1: enqueued":
			w.store.Hold(w.jobs[0].id)
			told = 0
		case told >= 0:
			if told++; told == lines {
				w.store.Unhold(w.jobs[0].id)
			}
		}
	}})
	w.play()
	return w.result(Options{Seed: 1})
}

// TestAJobThatNeverFinishesIsSeen: the row is held behind the world's back, so
// that nothing but time tells that it is not claimed.
func TestAJobThatNeverFinishesIsSeen(t *testing.T) {
	for _, level := range []Level{Pristine, Recoverable} {
		if r := meddle(short(level), 1_000_000); !slices.Contains(violated(r), finishes) {
			t.Errorf("%s: the job is %s at the end, and %v is violated", level, r.Jobs[0].Row.State, violated(r))
		}
	}
	r := meddle(short(Adversarial), 1_000_000)
	if len(r.Violations) > 0 || r.Live.Why == "" {
		t.Errorf("an adversarial world promises more than safety: %v", r.Violations)
	}
	early := short(Recoverable)
	early.For = 20 * time.Second
	if r := meddle(early, 1_000_000); len(r.Violations) > 0 || r.Live.Why == "" {
		t.Errorf("a world that ends before the bound judges: %v", r.Violations)
	}
}

func TestAJobThatWaitsBesideAFreeSlotIsSeen(t *testing.T) {
	sc := short(Pristine, Cancel{At: 30 * time.Second, Job: "j2"}) // something to tell
	sc.Jobs = append(sc.Jobs, Job{ID: "j2", At: 4 * time.Minute})
	r := meddle(sc, 2)
	if got := violated(r); !slices.Contains(got, promptly) || slices.Contains(got, once) {
		t.Errorf("a job that waited half a minute violates %v", got)
	}
	r = Run(sc, Options{Seed: 1})
	if len(r.Violations) > 0 || r.WaitBound == 0 || r.Wait > r.WaitBound {
		t.Errorf("waited %v of %v: %v", r.Wait, r.WaitBound, r.Violations)
	}
}

func TestAJobThatRunsTwiceIsSeen(t *testing.T) {
	w := newWorld(short(Pristine), Options{Seed: 1})
	w.play()
	row, _ := w.store.Lookup(w.jobs[0].id)
	if why := w.notOnce(&w.jobs[0], row); why != "" {
		t.Fatalf("ran once, and yet: %s", why)
	}
	w.jobs[0].starts = 2
	if why := w.notOnce(&w.jobs[0], row); !strings.Contains(why, "2 starts") {
		t.Errorf("started twice: %q", why)
	}
}

// TestEarly: an early world ends a lease after the last thing to be done, and
// otherwise is the world that it would have been.
func TestEarly(t *testing.T) {
	sc := short(Recoverable, Pause{At: time.Minute, Node: "n1", For: 5 * time.Second})
	sc.Early = true
	r := Run(sc, Options{Seed: 1})
	if want := 75 * time.Second; r.Virtual != want || r.Live.Judged != 1 || r.Live.Healed != 65*time.Second {
		t.Errorf("ended after %v with %+v, want %v: a lease after the pause", r.Virtual, r.Live, want)
	}
	sc.Expect.Health = []ExpectHealth{{At: 3 * time.Minute, Node: "n1"}}
	if r := Run(sc, Options{Seed: 1}); r.Virtual != 3*time.Minute+10*time.Second || r.Verdict != Held {
		t.Errorf("ended after %v, before somebody looked at its health: %v", r.Virtual, r.Violations)
	}
	sc.Jobs[0].Run = []Script{{End: "hang"}}
	if r := Run(sc, Options{Seed: 1}); r.Virtual != sc.For {
		t.Errorf("ended after %v although a job had not", r.Virtual)
	}
}

// TestAimedAtASweep: the report of j1 comes with a sweep, before or after it.
func TestAimedAtASweep(t *testing.T) {
	for _, off := range []time.Duration{-time.Microsecond, 0, time.Microsecond} {
		var sweeps []int64
		report, before := int64(-1), false
		sc := short(Adversarial, Aim{Pump: Address{Node: "n1"}, Call: "report", Nth: 1, At: "sweep", Off: off})
		r := Run(sc, Options{Seed: 1, Observe: func(s Seen) {
			c, ok := s.(SawApplied)
			switch {
			case ok && c.Call.Kind == checker.CallSweep:
				before = before || report == c.True
				sweeps = append(sweeps, c.True)
			case ok && c.Call.Kind == checker.CallReport:
				report = c.True
			}
		}})
		at := report - max(0, int64(off))
		if !slices.Contains(sweeps, at) || before != (off < 0) {
			t.Errorf("off %v: the report came at %d, sweeps at %v", off, report, sweeps)
		}
		if !slices.Contains(r.Situations, "a call came together with a sweep") || len(r.Idle) > 0 {
			t.Errorf("off %v: reached %q, idle %v", off, r.Situations, r.Idle)
		}
	}
}

func TestWhatHitsNothingIsIdle(t *testing.T) {
	sc := short(Adversarial,
		Crash{At: 20 * time.Second, Node: "n1"},
		Crash{At: 30 * time.Second, Node: "n1"}, // it is down
		OnCall{Pump: Address{Node: "n1"}, Call: "claim", Nth: 1, Do: "double"},
		OnCall{Pump: Address{Node: "n1"}, Call: "renew", Nth: 900, Do: "double"}, // there are not that many
		Hold{At: 0, Job: "j1", For: time.Second},                                 // it is not there yet
	)
	if got := Run(sc, Options{Seed: 1}).Idle; !slices.Equal(got, []int{1, 3, 4}) {
		t.Errorf("idle are %v, want 1, 3 and 4", got)
	}
}
