package travel_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/sim"
	"backwave/sim/scenario"
	"backwave/sim/travel"
)

// zombie is the shipped scenario zombie-returns, of which the tests know the story.
func zombie(t *testing.T) *sim.Scenario {
	t.Helper()
	sc, err := scenario.Load("zombie-returns")
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// stop returns the number of the first event of a run at which a condition
// stops, with the lines of the story that it told; 0 if it never does.
func stop(t *testing.T, sc *sim.Scenario, condition string) (event uint64, at time.Duration, told []string) {
	t.Helper()
	b, err := travel.ParseBreakpoint(condition, sc)
	if err != nil {
		t.Fatal(err)
	}
	sim.Run(sc, travel.With(sc, sim.Options{Seed: 1}, func(m *travel.Moment) bool {
		if !b.Hit(m) {
			return true
		}
		event, at = m.Number, m.At
		for _, l := range m.Lines {
			told = append(told, l.Who+": "+l.Text)
		}
		return false
	}))
	return event, at, told
}

// TestBreakpointsStopWhereTheStorySaysSo: each condition is met first by the
// event that tells a certain line.
func TestBreakpointsStopWhereTheStorySaysSo(t *testing.T) {
	sc := zombie(t)
	for condition, line := range map[string]string{
		"kind=start":                     "n1: starts j1, attempt 1",
		"kind=start attempt=2":           "n2: starts j1, attempt 2",
		"job=j1 attempt=2":               "store: j1: attempt 2 is claimed by n2.1",
		"node=n2":                        "n2: starts, process 1",
		"kind=boot node=n2":              "n2: starts, process 1",
		"kind=fault":                     "n1: STANDS STILL for 2m0s",
		"kind=still node=n1":             "n1: STANDS STILL for 2m0s",
		"kind=resume":                    "n1: goes on",
		"kind=told":                      "n1: tells j1, attempt 1, to stop: lease-lost",
		"kind=return node=n1":            "n1: j1, attempt 1, returns: ok",
		"kind=reply call=report":         "n2: is answered for the success of j1#2: applied",
		"kind=reply call=report node=n1": "n1: is answered for the success of j1#1: stale",
		"kind=apply call=report job=j1":  "store: j1: attempt 2 ends as success",
		"job=j1 kind=return at=2m":       "n1: j1, attempt 1, returns: ok",
	} {
		_, _, told := stop(t, sc, condition)
		if !slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, line) }) {
			t.Errorf("%s stops where is told %q, want %q", condition, told, line)
		}
	}
	for condition, want := range map[string]uint64{"event=42": 42, "at=0s": 1, "event=1": 1, "kind=forget": 0, "kind=wake event=62": 64} {
		if got, _, _ := stop(t, sc, condition); got != want && (want != 64 || got < 62) {
			t.Errorf("%s stops at event %d, want %d", condition, got, want)
		}
	}
	// What n1's handler would have done while it stood still came to nothing.
	if n, at, told := stop(t, sc, "kind=nothing node=n1 job=j1"); n == 0 || at.Round(time.Second) != 20*time.Second || len(told) > 0 {
		t.Errorf("kind=nothing stops at event %d, %v, where is told %q", n, at, told)
	}
	if n, at, _ := stop(t, sc, "at=1m30s"); n == 0 || at < 90*time.Second || at > 92*time.Second {
		t.Errorf("at=1m30s stops at event %d, %v", n, at)
	}
}

// TestABreakpointThatAsksForATimeStopsOnce, one that asks for more again and
// again.
func TestABreakpointThatAsksForATimeStopsOnce(t *testing.T) {
	sc := zombie(t)
	hits := func(condition string) (n int) {
		b, err := travel.ParseBreakpoint(condition, sc)
		if err != nil {
			t.Fatal(err)
		}
		sim.Run(sc, travel.With(sc, sim.Options{Seed: 1}, func(m *travel.Moment) bool {
			if b.Hit(m) {
				n++
			}
			return true
		}))
		return n
	}
	for condition, want := range map[string]int{"at=20s": 1, "event=50": 1, "at=20s event=50": 1, "kind=start": 2, "kind=start at=20s": 1} {
		if got := hits(condition); got != want {
			t.Errorf("%s stops %d times, want %d", condition, got, want)
		}
	}
}

func TestBadBreakpoints(t *testing.T) {
	sc := zombie(t)
	for text, want := range map[string]string{
		"":                `want a condition, such as job=j7 attempt=2; fields are job, attempt, node, kind, call, at, event`,
		"j1":              `"j1": want field=value; fields are`,
		"jobb=j1":         `there is no field jobb, want one of job, attempt`,
		"job=j2":          `there is no job j2, want one of j1`,
		"node=n9":         `there is no node n9, want one of n1, n2, store`,
		"kind=crash":      `there is no kind crash, want one of apply, reply, `,
		"call=renewal":    `there is no call renewal, want one of renew, report, claim, `,
		"attempt=0":       `want a number from 1`,
		"at=20":           `want a time since the start of the world, such as 90s`,
		"event=x":         `want the number of an event, from 1`,
		"job=j1 job=j1":   `job is asked for twice`,
		"job=j1 attempt=": `"attempt=": want field=value`,
	} {
		if _, err := travel.ParseBreakpoint(text, sc); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// TestWithChangesNothing: a run that is travelled through is the run.
func TestWithChangesNothing(t *testing.T) {
	for seed := uint64(1); seed <= 30; seed++ {
		sc := sim.Random(seed)
		want := sim.Run(sc, sim.Options{Seed: seed})
		if want.Events > 20_000 {
			continue
		}
		var trail travel.Trail
		got := sim.Run(sc, travel.With(sc, sim.Options{Seed: seed}, trail.Follow(sc)))
		if got.TraceHash != want.TraceHash || uint64(len(trail.Events)) != want.Events {
			t.Errorf("seed %d: the run has changed", seed)
		}
		if slices.ContainsFunc(trail.Events, func(e travel.Event) bool { return strings.HasSuffix(e.What, "  ") }) {
			t.Errorf("seed %d: an event has no words", seed)
		}
	}
}

func TestApply(t *testing.T) {
	sc := &sim.Scenario{For: time.Minute, Timeline: []sim.Fault{
		sim.Crash{At: 10 * time.Second, Node: "a"},
		sim.OnCall{Pump: sim.Address{Node: "a"}, Call: "renew", Nth: 1, Do: "double"},
		sim.Pause{At: 20 * time.Second, Node: "b", For: time.Second},
		sim.Aim{Pump: sim.Address{Node: "a"}, Call: "renew", Nth: 1, At: "expiry"},
	}}
	got, err := travel.Apply(sc, []travel.Edit{{Entry: 1, Drop: true}, {Entry: 2, By: -5 * time.Second}, {Entry: 3, Drop: true}})
	want := []sim.Fault{sc.Timeline[0], sim.Pause{At: 15 * time.Second, Node: "b", For: time.Second}}
	if err != nil || !slices.Equal(got.Timeline, want) {
		t.Fatalf("got %+v, %v; want %+v", got, err, want)
	}
	if len(sc.Timeline) != 4 || sc.Timeline[2].(sim.Pause).At != 20*time.Second {
		t.Error("the original has changed")
	}
	for _, c := range []struct {
		edit travel.Edit
		want string
	}{
		{travel.Edit{Entry: 4, Drop: true}, "f5: the timeline has 4 entries"},
		{travel.Edit{Entry: 0, By: -11 * time.Second}, "it would happen at -1s, and the world lasts from 0s to 1m0s"},
		{travel.Edit{Entry: 0, By: 51 * time.Second}, "it would happen at 1m1s"},
		{travel.Edit{Entry: 1, By: time.Second}, "f2, {on-call: a, call: renew, nth: 1, do: double}: it hits a call by its number"},
		{travel.Edit{Entry: 3, By: time.Second}, "it hits a call by its number"},
	} {
		if _, err := travel.Apply(sc, []travel.Edit{c.edit}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.edit, err, c.want)
		}
	}
}

func follow(sc *sim.Scenario) *travel.Trail {
	var t travel.Trail
	sim.Run(sc, travel.With(sc, sim.Options{Seed: 1}, t.Follow(sc)))
	return &t
}

func TestTrailsPart(t *testing.T) {
	sc := zombie(t)
	was := follow(sc)
	if _, ok := was.Part(follow(sc)); ok || len(was.Only(follow(sc))) > 0 {
		t.Error("two runs of one seed part")
	}
	changed, err := travel.Apply(sc, []travel.Edit{{Entry: 0, Drop: true}})
	if err != nil {
		t.Fatal(err)
	}
	is := follow(changed)
	event, ok := was.Part(is)
	if !ok || was.Events[event-1].At != 10*time.Second || !strings.HasPrefix(was.Events[event-1].What, "fault  begins: {at: 10s, pause: n1") {
		t.Fatalf("they part at event %d: %+v", event, was.Events[event-1])
	}
	for _, c := range []struct {
		a, b      *travel.Trail
		has, hasn string
	}{{was, is, "STANDS STILL for 2m0s", "starts j1, attempt 1"}, {is, was, "j1: attempt 1 ends as success → succeeded", "starts j1, attempt 1"}} {
		only := c.a.Only(c.b)
		in := func(text string) bool {
			return slices.ContainsFunc(only, func(l sim.Line) bool { return l.Text == text })
		}
		if !in(c.has) || in(c.hasn) {
			t.Errorf("what only one of them tells is %v", only)
		}
	}
	// An entry that is gone moves the places of those after it, nothing else.
	two := *sc
	two.Timeline = []sim.Fault{sim.Pause{At: 170 * time.Second, Node: "n2", For: time.Second}, sc.Timeline[0]}
	if event, _ := was.Part(follow(&two)); was.Events[event-1].At < 169*time.Second {
		t.Errorf("with a pause at 2:50 more they part at %+v", was.Events[event-1])
	}
}

func TestTrailBetween(t *testing.T) {
	sc := zombie(t)
	trail := follow(sc)
	var all []sim.Line
	for n := uint64(0); n < uint64(len(trail.Events)); n += 100 {
		all = append(all, trail.Between(n, n+100)...)
	}
	if !slices.Equal(all, trail.Lines) || len(all) == 0 {
		t.Errorf("a hundred events at a time, the story is\n%v\nwant\n%v", all, trail.Lines)
	}
}

func TestPoints(t *testing.T) {
	for _, c := range []struct {
		first, last uint64
		n           int
		want        []uint64
	}{
		{1, 100, 4, []uint64{1, 34, 67, 100}},
		{1, 3, 10, []uint64{1, 2, 3}},
		{5, 5, 2, []uint64{5}},
		{7, 1_000_000_000_000, 2, []uint64{7, 1_000_000_000_000}},
	} {
		if got := travel.Points(c.first, c.last, c.n); !slices.Equal(got, c.want) {
			t.Errorf("from %d to %d by %d: %v, want %v", c.first, c.last, c.n, got, c.want)
		}
	}
}

func TestRise(t *testing.T) {
	odds := func(same ...int) (out []travel.Odds) {
		for _, n := range same {
			out = append(out, travel.Odds{Runs: 10, Same: n})
		}
		return out
	}
	for _, c := range []struct {
		list []travel.Odds
		want int
	}{
		{odds(0, 1, 9, 10), 2}, {odds(10, 10), 0}, {odds(10, 3, 2), 0}, {odds(0, 5, 10), 1}, {odds(8, 0, 1, 10), 3}, {nil, 0},
	} {
		if got := travel.Rise(c.list); got != c.want {
			t.Errorf("%v rises most before %d, want %d", c.list, got, c.want)
		}
	}
	if s := (travel.Odds{Runs: 3, Same: 2}).Share(); s != 66 {
		t.Errorf("2 of 3 are %d %%", s)
	}
}
