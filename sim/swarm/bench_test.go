package swarm

import (
	"slices"
	"testing"

	"backwave/sim"
)

// BenchmarkGoals measures after how many runs, and how many events, a search has
// reached all that it must, blind and guided: the median of the searches from
// b.N first seeds. docs/swarm.md has the figures.
func BenchmarkGoals(b *testing.B) {
	for _, way := range []struct {
		name   string
		guided bool
	}{{"blind", false}, {"guided", true}} {
		b.Run(way.name, func(b *testing.B) {
			var runs, events []float64
			for i := range b.N {
				n, e := reach(b, Config{First: uint64(1 + i*1_000_000), Guided: way.guided})
				runs, events = append(runs, float64(n)), append(events, float64(e))
			}
			slices.Sort(runs)
			slices.Sort(events)
			b.Logf("%s: runs %v", way.name, runs)
			b.ReportMetric(runs[len(runs)/2], "median-runs")
			b.ReportMetric(events[len(events)/2], "median-events")
		})
	}
}

// reach searches until all goals are reached, 20,000 runs at most.
func reach(b *testing.B, c Config) (runs int, events uint64) {
	s, left := New(c), Must(sim.Situations())
	for len(left) > 0 && s.Seen().Runs() < 20_000 {
		p := s.Next()
		r := sim.Run(p.Scenario, sim.Options{Seed: p.Seed})
		if r.Verdict != sim.Held {
			b.Fatalf("%s: %s: %v", p.Scenario.Name, r.Verdict, r.Violations)
		}
		events += r.Events
		s.Learn(p, r.Situations)
		left = s.Seen().Missing(left)
	}
	return s.Seen().Runs(), events
}
