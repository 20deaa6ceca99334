package sim

import (
	"fmt"
	"testing"
	"time"

	"backwave/engine/pump"
	"backwave/history"
)

// hour is the world that the figures of docs/simulation.md are about: five
// nodes, one virtual hour, jobs that fail once and then take a while, a crash,
// a pause longer than the lease, a partition, and ten lost replies.
func hour(jobs int, maxPoll time.Duration) *Scenario {
	sc := &Scenario{Name: "hour", For: time.Hour}
	sc.Groups = []Group{{Name: "default", Config: pump.Config{MaxPollInterval: maxPoll, Queues: []pump.Queue{{Name: "emails"}}}}}
	for i := range 5 {
		sc.Nodes = append(sc.Nodes, Node{Name: fmt.Sprintf("n%d", i+1)})
	}
	sc.Jobs = []Job{{ID: "j", Count: jobs, Every: 50 * time.Minute / time.Duration(jobs), Run: []Script{{For: 2 * time.Second, End: "error"}, {For: 30 * time.Second}}}}
	sc.Timeline = []Fault{
		Crash{At: 10 * time.Minute, Node: "n1", Restart: time.Minute},
		Pause{At: 20 * time.Minute, Node: "n2", For: 90 * time.Second},
		Partition{At: 30 * time.Minute, For: 2 * time.Minute, Nodes: []string{"n3"}},
	}
	for i, call := range []string{"claim", "report", "renew", "sweep", "claim"} {
		sc.Timeline = append(sc.Timeline,
			OnCall{Pump: Address{Node: "n4"}, Call: call, Nth: 2 + i, Do: "lose-reply"},
			OnCall{Pump: Address{Node: "n5"}, Call: call, Nth: 3 + i, Do: "lose-reply"})
	}
	return sc
}

// run plays worlds of consecutive seeds, with invariants and trace hash on.
func benchmarkHour(b *testing.B, sc *Scenario) {
	var events uint64
	b.ReportAllocs()
	for i := range b.N {
		r := Run(sc, Options{Seed: uint64(i)})
		if r.Verdict != Held {
			b.Fatalf("seed %d: %s: %v", i, r.Verdict, r.Violations)
		}
		events += r.Events
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "seeds/s")
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}

func BenchmarkHour(b *testing.B)            { benchmarkHour(b, hour(50, 0)) }
func BenchmarkHourIdleBackoff(b *testing.B) { benchmarkHour(b, hour(50, 30*time.Second)) }
func BenchmarkHour10000Jobs(b *testing.B)   { benchmarkHour(b, hour(10_000, 0)) }

// BenchmarkHourLinear adds the recording of the history and both verdicts of
// the linearizability check; check-share is its part of the whole.
func BenchmarkHourLinear(b *testing.B) {
	sc := hour(50, 0)
	log := history.NewLog()
	var check time.Duration
	for i := range b.N {
		log.Reset()
		r := Run(sc, Options{Seed: uint64(i), Log: log})
		before := time.Now()
		r.CheckLinear(log)
		check += time.Since(before)
		if r.Verdict != Held {
			b.Fatalf("seed %d: %s: %v", i, r.Verdict, r.Violations)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "seeds/s")
	b.ReportMetric(100*check.Seconds()/b.Elapsed().Seconds(), "check-%")
}
