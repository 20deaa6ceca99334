package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"backwave/store"
)

// pristine returns a random world in which nothing goes wrong and in which the
// outcome of an attempt depends on the job and the attempt alone, so that how
// work is shared out cannot matter.
func pristine(seed uint64) *Scenario {
	sc := RandomOf(seed, Adversarial)
	sc.Level, sc.Timeline, sc.Early = Adversarial, nil, true
	sc.For = 30 * sc.For
	sc.Net.Hints = "all"
	for i := range sc.Nodes {
		sc.Nodes[i].Groups = nil
	}
	for i := range sc.Jobs {
		j := &sc.Jobs[i]
		j.Unique = "" // who holds a key depends on who is sooner
		for k := range j.Run {
			if s := &j.Run[k]; s.End == "hang" || s.End == "crash" {
				s.End = "error"
			}
		}
		j.Run = append(j.Run, Script{For: time.Millisecond}) // or a snooze could go on for ever
	}
	for i := range sc.Groups { // else the ceiling depends on which group was sooner
		sc.Groups[i].Config.Terms = sc.Groups[0].Config.Terms
		sc.Groups[i].Config.Timeouts = nil
	}
	return sc
}

// ends says what became of every job.
func ends(r *Result) (out []string) {
	for _, j := range r.Jobs {
		s := fmt.Sprintf("%s %s", j.Name, j.Row.State)
		for _, e := range j.Row.Ends {
			s += fmt.Sprintf(" %d:%s", e.Attempt, e.Kind)
		}
		out = append(out, s)
	}
	return out
}

// TestHowWorkIsSharedOutDoesNotMatter runs worlds in which nothing goes wrong
// in several ways, and holds what becomes of each job against the first.
func TestHowWorkIsSharedOutDoesNotMatter(t *testing.T) {
	ways := []struct {
		name   string
		change func(*Scenario)
	}{
		{"as it is", func(*Scenario) {}},
		{"without hints", func(s *Scenario) { s.Net.Hints = "none" }},
		{"with late hints", func(s *Scenario) { s.Net.Hints = "late" }},
		{"with one pump each", func(s *Scenario) { pumps(s, 1) }},
		{"with three pumps each", func(s *Scenario) { pumps(s, 3) }},
		{"one by one", func(s *Scenario) { batches(s, 1) }},
		{"in large batches", func(s *Scenario) { batches(s, 500) }},
		{"on one node", func(s *Scenario) { s.Nodes = s.Nodes[:1] }},
		{"with idle backoff", func(s *Scenario) {
			for i := range s.Groups {
				s.Groups[i].Config.MaxPollInterval = 30 * time.Second
			}
		}},
	}
	for seed := range uint64(12) {
		var want []string
		for _, way := range ways {
			sc := pristine(seed)
			way.change(sc)
			r := Run(sc, Options{Seed: seed})
			if r.Verdict != Held {
				t.Fatalf("seed %d %s: %v", seed, way.name, r.Violations)
			}
			for i := range r.Jobs {
				if j := &r.Jobs[i]; j.Starts+unstarted(&j.Row) < j.Row.Attempt || !j.Row.State.Terminal() {
					t.Fatalf("seed %d %s: %s had %d starts of %d attempts and is %s", seed, way.name, j.Name, j.Starts, j.Row.Attempt, j.Row.State)
				}
			}
			got := ends(r)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d %s:\n%v\nwant as before:\n%v", seed, way.name, got, want)
			}
		}
	}
}

// unstarted counts attempts that were given back before they started.
func unstarted(j *store.Job) (n int) {
	for _, e := range j.Ends {
		if e.Kind == store.EndRelease {
			n++
		}
	}
	return n
}

func pumps(s *Scenario, n int) {
	for i := range s.Groups {
		s.Groups[i].Pumps = n
	}
}

func batches(s *Scenario, n int) {
	for i := range s.Groups {
		c := &s.Groups[i].Config
		c.ClaimBatch, c.ReportBatch, c.SweepBatch = n, n, n
	}
}

// TestSameSeedSameRun plays worlds twice, the second time beside others.
func TestSameSeedSameRun(t *testing.T) {
	const seeds = 40
	hashes := make([]uint64, seeds)
	for i := range hashes {
		hashes[i] = Run(Random(uint64(i)), Options{Seed: uint64(i)}).TraceHash
	}
	for i := range hashes {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			if h := Run(Random(uint64(i)), Options{Seed: uint64(i)}).TraceHash; h != hashes[i] {
				t.Errorf("seed %d gave %016x, then %016x", i, hashes[i], h)
			}
		})
	}
}
