package sim_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/engine/pump"
	"backwave/sim"
	"backwave/store"
)

// TestSteppingChangesNothing walks through random worlds event by event, looking
// at everything, and through the same worlds without.
func TestSteppingChangesNothing(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		sc := sim.Random(seed)
		want := sim.Run(sc, sim.Options{Seed: seed})
		if want.Events > 5_000 {
			continue
		}
		next := uint64(1)
		got := sim.Run(sc, sim.Options{Seed: seed, Step: func(m *sim.Moment) bool {
			if m.Number != next {
				t.Fatalf("seed %d: event %d comes after %d", seed, m.Number, next-1)
			}
			next++
			if s := m.State(); s.Event != m.Number || s.At != m.At || len(s.Nodes) != len(sc.Nodes) {
				t.Fatalf("seed %d, event %d: the state is that of event %d at %v", seed, m.Number, s.Event, s.At)
			}
			return true
		}})
		if got.TraceHash != want.TraceHash || next != want.Events+1 {
			t.Errorf("seed %d: trace hash %x after %d events, without steps %x after %d", seed, got.TraceHash, next-1, want.TraceHash, want.Events)
		}
	}
}

func TestAStepEndsTheRun(t *testing.T) {
	r := sim.Run(sim.Random(3), sim.Options{Seed: 3, Step: func(m *sim.Moment) bool { return m.Number < 17 }})
	if !r.Stopped || r.Events != 17 {
		t.Errorf("stopped is %v after %d events, want true after 17", r.Stopped, r.Events)
	}
}

// book is what an observer of a world knows of it by adding up what it is told.
type book struct {
	names map[store.JobID]string
	pumps []string // workers, by PumpID
	views map[string][]sim.SeenView
	runs  map[string][]store.LeaseKey
	rows  map[store.JobID]store.Job
}

func (b *book) see(s sim.Seen) {
	switch s := s.(type) {
	case sim.SawJob:
		b.names[s.Job] = s.Name
	case sim.SawBoot:
		b.pumps = append(b.pumps, s.Worker)
	case sim.SawDeath:
		delete(b.views, b.pumps[s.Pump])
		delete(b.runs, b.pumps[s.Pump])
	case sim.SawViews:
		b.views[b.pumps[s.Pump]] = slices.Clone(s.Views)
	case sim.SawStarted:
		w := b.pumps[s.Pump]
		b.runs[w] = append(b.runs[w], s.Key)
	case sim.SawReturned:
		w := b.pumps[s.Pump]
		b.runs[w] = slices.DeleteFunc(b.runs[w], func(k store.LeaseKey) bool { return k == s.Key })
	case sim.SawApplied:
		for _, c := range s.Changes {
			b.rows[c.After.ID] = *c.After
		}
	case sim.SawForgot:
		clear(b.rows)
		for _, row := range s.Rows {
			b.rows[row.ID] = *row
		}
	case sim.SawSent, sim.SawAnswered, sim.SawLost, sim.SawTold, sim.SawNote, sim.SawFault, sim.SawStill, sim.SawNodeTime, sim.SawClocks,
		sim.SawOutsideLeft, sim.SawOutsideArrived, sim.SawOutsideRefused, sim.SawOutsideLost, sim.SawOutsideAnswered, sim.SawOutsideGivenUp:
	}
}

// TestStateIsWhatAnObserverAddsUp holds what a state says against what an
// observer was told up to then: beliefs, handlers and rows.
func TestStateIsWhatAnObserverAddsUp(t *testing.T) {
	compared := 0
	for seed := uint64(1); seed <= 20; seed++ {
		sc := sim.Random(seed)
		b := &book{names: map[store.JobID]string{}, views: map[string][]sim.SeenView{}, runs: map[string][]store.LeaseKey{}, rows: map[store.JobID]store.Job{}}
		sim.Run(sc, sim.Options{Seed: seed, Observe: b.see, Step: func(m *sim.Moment) bool {
			if m.Number%37 != 0 {
				return m.Number < 5_000
			}
			state := m.State()
			for _, n := range state.Nodes {
				for _, p := range n.Pumps {
					compared += b.pump(t, m, p)
				}
			}
			if len(state.Store.Rows) != len(b.rows) {
				t.Fatalf("seed %d, event %d: the state has %d rows, the observer %d", seed, m.Number, len(state.Store.Rows), len(b.rows))
			}
			for id, row := range b.rows {
				i := slices.IndexFunc(state.Store.Rows, func(r sim.RowState) bool { return r.Job == b.names[id] })
				if i < 0 || state.Store.Rows[i].State != row.State.String() || state.Store.Rows[i].Attempt != row.Attempt {
					t.Fatalf("seed %d, event %d: %s is %+v, the observer has %v, attempt %d", seed, m.Number, b.names[id], state.Store.Rows, row.State, row.Attempt)
				}
			}
			return true
		}})
	}
	if compared < 100 {
		t.Errorf("only %d leases were compared", compared)
	}
}

// pump compares what a pump believes and runs, and returns how many leases that
// was about.
func (b *book) pump(t *testing.T, m *sim.Moment, p sim.PumpState) int {
	t.Helper()
	var believed, want, handlers, running []sim.Subject
	for _, l := range p.Leases {
		if !l.Lost {
			believed = append(believed, l.Subject)
		}
	}
	for _, v := range b.views[p.Worker] {
		want = append(want, sim.Subject{Job: b.names[v.Key.Job], Attempt: v.Key.Attempt})
	}
	for _, k := range b.runs[p.Worker] {
		running = append(running, sim.Subject{Job: b.names[k.Job], Attempt: k.Attempt})
	}
	for _, h := range p.Handlers {
		handlers = append(handlers, h.Subject)
	}
	if !slices.Equal(believed, want) {
		t.Fatalf("%s, event %d: %s believes in %v, the observer was told %v", p.Phase, m.Number, p.Worker, believed, want)
	}
	if !slices.Equal(handlers, running) {
		t.Fatalf("event %d: %s runs %v, the observer was told %v", m.Number, p.Worker, handlers, running)
	}
	return len(believed)
}

// plain is a scenario in which chance decides when things happen, and nothing
// else.
var plain = &sim.Scenario{
	Name: "plain", Level: sim.Recoverable, For: time.Minute, Net: sim.Net{Latency: 10 * time.Millisecond, Jitter: 50 * time.Millisecond},
	Groups: []sim.Group{{Name: "g", Config: pump.Config{Queues: []pump.Queue{{Name: "q"}}}}},
	Nodes:  []sim.Node{{Name: "n1"}, {Name: "n2"}},
	Jobs:   []sim.Job{{ID: "a", Count: 6, Every: 3 * time.Second, Run: []sim.Script{{For: 5 * time.Second}}}},
}

func traceOf(sc *sim.Scenario, o sim.Options) (lines []string, story []sim.Line, r *sim.Result) {
	o.Trace = func(l string) { lines = append(lines, l) }
	o.Story = func(l sim.Line) { story = append(story, l) }
	r = sim.Run(sc, o)
	return lines, story, r
}

func TestReseed(t *testing.T) {
	sc := plain
	was, wasStory, base := traceOf(sc, sim.Options{Seed: 1})
	_, other, _ := traceOf(sc, sim.Options{Seed: 2})
	// From the first event on, what happens is what happens with that seed.
	if _, got, _ := traceOf(sc, sim.Options{Seed: 1, Reseed: sim.Reseed{From: 1, Seed: 2}}); !slices.Equal(got, other) || slices.Equal(got, wasStory) {
		t.Errorf("with seed 2 from the first event on the story is\n%v\nwant\n%v", got, other)
	}
	// After the last event nothing is drawn any more.
	if _, _, r := traceOf(sc, sim.Options{Seed: 1, Reseed: sim.Reseed{From: base.Events + 1, Seed: 2}}); r.TraceHash != base.TraceHash {
		t.Error("another seed after the end has changed the run")
	}
	// In the middle: the same up to there, and another run after it.
	for _, from := range []uint64{40, 100, base.Events / 2} {
		got, _, r := traceOf(sc, sim.Options{Seed: 1, Reseed: sim.Reseed{From: from, Seed: 2}})
		if r.TraceHash == base.TraceHash {
			t.Errorf("from event %d on nothing has changed", from)
		}
		for i, line := range was {
			if before := number(t, line) < from; before && (i >= len(got) || got[i] != line) {
				t.Fatalf("with another seed from event %d on, line %d is %q, want %q", from, i, got[i], line)
			}
		}
	}
}

// number returns the number of the event of a trace line.
func number(t *testing.T, line string) (n uint64) {
	t.Helper()
	_, rest, ok := strings.Cut(line, "#")
	if !ok {
		t.Fatalf("no event in %q", line)
	}
	for _, r := range rest {
		if r < '0' || r > '9' {
			break
		}
		n = 10*n + uint64(r-'0')
	}
	return n
}

// TestStateOfANodeThatStandsStill: it believes in a lease that is over.
func TestStateOfANodeThatStandsStill(t *testing.T) {
	sc := &sim.Scenario{
		Name: "zombie", Level: sim.Recoverable, For: 3 * time.Minute,
		Groups:   []sim.Group{{Name: "g", Config: pump.Config{Queues: []pump.Queue{{Name: "q"}}}}},
		Nodes:    []sim.Node{{Name: "n1"}, {Name: "n2", Start: 5 * time.Second}},
		Jobs:     []sim.Job{{ID: "j1", Run: []sim.Script{{For: 20 * time.Second}}}},
		Timeline: []sim.Fault{sim.Pause{At: 10 * time.Second, Node: "n1", For: 2 * time.Minute}},
	}
	at := func(d time.Duration) (got *sim.State) {
		sim.Run(sc, sim.Options{Seed: 1, Step: func(m *sim.Moment) bool {
			if m.At < d {
				return true
			}
			got = m.State()
			return false
		}})
		return got
	}
	for d, want := range map[time.Duration]string{30 * time.Second: "holds", 61 * time.Second: "lapsed", 80 * time.Second: "over"} {
		if s := at(d); s.Nodes[0].Pumps[0].Leases[0].Store != want {
			t.Errorf("at %v the store says of the lease %+v, want %s", s.At, s.Nodes[0].Pumps[0].Leases[0], want)
		}
	}
	got := at(100 * time.Second)
	n := got.Nodes[0]
	if !n.Up || !n.Still || n.Arrived == 0 || len(n.Pumps) != 1 || len(n.Pumps[0].Leases) != 1 {
		t.Fatalf("n1 is %+v", n)
	}
	if l := n.Pumps[0].Leases[0]; l.Lost || l.Store != "over" || l.Until < 55*time.Second || l.Until > time.Minute {
		t.Errorf("the lease of the zombie is %+v, want one believed until about 0:58.8 that is over", l)
	}
	if row := got.Store.Rows[0]; row.State != "succeeded" || !slices.Equal(row.Ends, []string{"lapse", "success"}) {
		t.Errorf("the row is %+v", row)
	}
}
