package timeline

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/checker"
	"backwave/history"
	"backwave/sim"
	"backwave/sim/scenario"
	"backwave/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func load(t *testing.T, name string) *sim.Scenario {
	t.Helper()
	sc, err := scenario.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

func draw(sc *sim.Scenario, seed uint64) (*Page, *sim.Result) {
	c := NewCollector(sc)
	res := sim.Run(sc, sim.Options{Seed: seed, Observe: c.Observe})
	return c.Page(res), res
}

func written(t *testing.T, p *Page) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The same run gives the same bytes, and being watched changes no run.
func TestSameRunSameBytes(t *testing.T) {
	for seed := range uint64(10) {
		sc := sim.Random(seed)
		first, res := draw(sc, seed)
		second, _ := draw(sim.Random(seed), seed)
		if !bytes.Equal(written(t, first), written(t, second)) {
			t.Errorf("seed %d: two pages of one run differ", seed)
		}
		if alone := sim.Run(sc, sim.Options{Seed: seed}); alone.TraceHash != res.TraceHash || alone.Verdict != res.Verdict {
			t.Errorf("seed %d: the run has trace hash %x if it is watched, %x if not", seed, res.TraceHash, alone.TraceHash)
		}
	}
}

// The data of one page, to be read by people.
func TestGoldenPage(t *testing.T) {
	page, _ := draw(load(t, "zombie-returns"), 1)
	page.Calls = slices.DeleteFunc(page.Calls, func(c Call) bool { return c.Idle })
	page.Facts = nil // the trace hash is not this package's
	got, err := json.MarshalIndent(page, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "zombie-returns.json")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the page differs from %s; go test -update renews it:\n%s", file, got)
	}
}

// What a page says of each job is what the rows of the store say at the end.
func TestPagesAgreeWithTheRows(t *testing.T) {
	ends := 0
	for seed := range uint64(25) {
		sc := sim.Random(seed)
		forgets := slices.ContainsFunc(sc.Timeline, func(f sim.Fault) bool { _, ok := f.(sim.Forget); return ok })
		page, res := draw(sc, seed)
		for i := range res.Jobs {
			r := &res.Jobs[i]
			if r.Row.ID.IsZero() {
				continue
			}
			k := slices.IndexFunc(page.Jobs, func(j Job) bool { return j.ID == r.Row.ID.String() })
			if k < 0 || page.Jobs[k].Name != r.Name {
				t.Fatalf("seed %d: there is no job %s", seed, r.Name)
			}
			states := page.Jobs[k].States
			if len(states) == 0 || states[len(states)-1].State != r.Row.State.String() {
				t.Errorf("seed %d, %s: the page ends with %v, the row is %s", seed, r.Name, states, r.Row.State)
			}
			if forgets || r.Row.EndsCut > 0 {
				continue // the page shows more than the rows remember
			}
			var shown []string
			for _, l := range page.Leases {
				if l.Job == k && l.To != None {
					shown = append(shown, fmt.Sprintf("%d %s→%s", l.Attempt, l.End, l.Next))
				}
			}
			var kept []string
			for _, e := range r.Row.Ends {
				kept = append(kept, fmt.Sprintf("%d %s→%s", e.Attempt, e.Kind, e.To))
				ends++
			}
			if !slices.Equal(shown, kept) {
				t.Errorf("seed %d, %s: the page has the ends %v, the row %v", seed, r.Name, shown, kept)
			}
			starts := 0
			for _, run := range page.Runs {
				if run.Job == k {
					starts++
				}
			}
			if starts != r.Starts {
				t.Errorf("seed %d, %s: the page has %d handlers, the run %d", seed, r.Name, starts, r.Starts)
			}
		}
	}
	if ends < 200 {
		t.Errorf("only %d ends were compared", ends)
	}
}

// A node's own view ends a fiftieth of the lease before the lease, counted from
// the send of what it rests on.
func TestViewsAreOlderThanLeases(t *testing.T) {
	page, _ := draw(load(t, "twenty-minute-handler"), 1)
	if len(page.Leases) != 1 || len(page.Views) != 1 || len(page.Leases[0].Renewals) < 50 || len(page.Leases[0].Renewals) != len(page.Views[0].Renewals) {
		t.Fatalf("got %d leases, %d views, want one of each with the same renewals", len(page.Leases), len(page.Views))
	}
	for i, r := range page.Leases[0].Renewals {
		v := page.Views[0].Renewals[i]
		if v.Until >= r.Until || r.Until-v.Until > int64(1300*time.Millisecond) { // a fiftieth of 60s, and the way of the request
			t.Errorf("renewal %d: the lease ends at %d, the own view at %d", i, r.Until, v.Until)
		}
		if v.At <= r.At {
			t.Errorf("renewal %d: the node knows of it at %d, the store at %d", i, v.At, r.At)
		}
	}
}

// What goes wrong with nodes, network and store is shaded where and while it does.
func TestShades(t *testing.T) {
	sc := parse(t, `
name: shades
level: adversarial
for: 2m
groups: [{name: default, queues: [q]}]
nodes: [{name: n1}, {name: n2, start: 5s}, {name: n3}]
jobs: [{id: j1, queue: q, run: [{for: 30s}]}]
timeline:
  - {at: 10s, crash: n1, restart: 5s}
  - {at: 20s, pause: n2, for: 5s}
  - {at: 30s, suspend: n2, for: 4s}
  - {at: 40s, partition: [n1, n3], for: 10s, lost: replies}
  - {at: 60s, outage: 3s}
  - {at: 70s, stall: 3s}
  - {at: 80s, store-error: connection, for: 2s}
  - {at: 90s, hold: j1, for: 2s}
  - {at: 100s, step: store, by: 3s}
  - {at: 110s, partition: n2}
`)
	page, _ := draw(sc, 1)
	var got []string
	for _, s := range page.Shades {
		got = append(got, fmt.Sprintf("%d %s %v-%v", s.Node, s.Kind, time.Duration(s.From), time.Duration(s.To)))
	}
	want := []string{
		"1 down 0s-5s", "0 down 10s-15s", "0 mark 10s-10s", "1 pause 20s-25s", "1 pause 30s-34s", "0 partition 40s-50s", "2 partition 40s-50s",
		"-1 outage 1m0s-1m3s", "-1 stall 1m10s-1m13s", "-1 error 1m20s-1m22s", "-1 hold 1m30s-1m32s", "-1 mark 1m40s-1m40s", "1 partition 1m50s-2m0s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Clocks are shown as they are: level, in steps, or at a slant; and the end of a
// lease is where the store's clock really reaches it.
func TestClocks(t *testing.T) {
	sc := parse(t, `
name: clocks
level: adversarial
for: 2m
groups: [{name: default, queues: [q], lease: 30s}]
nodes: [{name: n1, wall: {offset: 2s}}]
jobs: [{id: j1, queue: q, run: [{for: 2s, end: crash, after: 1m}]}]
timeline:
  - {at: 10s, step: store, by: 8s}
  - {at: 20s, step: n1, by: -3s}
`)
	page, _ := draw(sc, 1)
	points := func(name string) []Point {
		for _, c := range page.Clocks {
			if c.Name == name {
				return c.Points
			}
		}
		t.Fatalf("there is no clock %q", name)
		return nil
	}
	s := int64(time.Second)
	for name, want := range map[string][]Point{
		"the store's clock": {{0, 0}, {10 * s, 0}, {10 * s, 8 * s}, {120 * s, 8 * s}},
		"wall clock of n1":  {{0, 2 * s}, {20 * s, 2 * s}, {20 * s, -s}, {120 * s, -s}},
	} {
		if got := points(name); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	// Granted at about 2ms for 30s, the lease ends 8s earlier, by the step.
	if got := page.Leases[0].Until; got < 22*s || got > 22*s+int64(5*time.Millisecond) {
		t.Errorf("the lease ends at %v, want about 22s", time.Duration(got))
	}
}

func parse(t *testing.T, text string) *sim.Scenario {
	t.Helper()
	sc, err := scenario.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// A call has three events, or says which of them never came.
func TestCalls(t *testing.T) {
	page, _ := draw(load(t, "one-way-partition-lost-reply"), 1)
	lost := 0
	for _, c := range page.Calls {
		switch {
		case c.Answered != None && (len(c.Applied) == 0 || c.Applied[0] < c.Sent || c.Answered < c.Applied[0]):
			t.Errorf("call %d is sent at %d, applied at %v and answered at %d", c.ID, c.Sent, c.Applied, c.Answered)
		case c.Lost != None && c.Answered != None:
			t.Errorf("call %d is lost at %d and answered at %d", c.ID, c.Lost, c.Answered)
		case c.Lost != None:
			lost++
		}
	}
	if lost == 0 {
		t.Error("no call is lost")
	}
}

// No text of a run can end the script that holds the data, or the title.
func TestEscaping(t *testing.T) {
	page, _ := draw(load(t, "zombie-returns"), 1)
	evil := "</script><!--<script>\u2028🦊\"'&{{script}}"
	page.Title, page.Plan, page.Jobs[0].Name = evil, evil, evil
	html := written(t, page)
	if n := bytes.Count(html, []byte("</script>")); n != 2 {
		t.Errorf("the page has %d ends of scripts, want those of data and code", n)
	}
	if bytes.Contains(html, []byte("<!--")) || bytes.Count(html, []byte("</title>")) != 1 {
		t.Error("a text has become markup")
	}
	_, data, _ := bytes.Cut(html, []byte(`id="data">`))
	data, _, _ = bytes.Cut(data, []byte("</script>"))
	var back Page
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back.Title != evil || back.Jobs[0].Name != evil {
		t.Errorf("%q has become %q", evil, back.Title)
	}
}

// A page asks nobody for anything.
func TestSelfContained(t *testing.T) {
	html := string(written(t, &Page{Title: "x"}))
	for _, bad := range []string{"http:", "https:", "src=", "@import", "url("} {
		if strings.Contains(html, bad) {
			t.Errorf("the page has %q in it", bad)
		}
	}
}

// A recorded history is drawn with what is in it: the run that a world recorded
// looks the same as the run that was watched, but for handlers and faults.
func TestHistoryAgreesWithItsRun(t *testing.T) {
	for _, name := range []string{"crash-minute-by-minute", "zombie-returns", "rolling-restart-with-a-new-name", "two-sweepers"} {
		sc := load(t, name)
		log := history.NewLog()
		c := NewCollector(sc)
		res := sim.Run(sc, sim.Options{Seed: 1, Log: log, Observe: c.Observe})
		want, got := c.Page(res), OfHistory(log, checker.CheckLinear(log, checker.LinearOptions{}))
		ends := func(p *Page) (out []string) {
			for _, l := range p.Leases {
				out = append(out, fmt.Sprintf("%s #%d claim %d of %s: %d renewals, %s→%s", p.Jobs[l.Job].ID, l.Attempt, l.Claim, p.Workers[l.Worker].Name, len(l.Renewals), l.End, l.Next))
			}
			return out
		}
		if a, b := ends(got), ends(want); !slices.Equal(a, b) {
			t.Errorf("%s: the history has the leases\n%s\nthe run\n%s", name, strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
		if len(got.Runs) != len(want.Runs) {
			t.Errorf("%s: the history has %d handlers, the run %d", name, len(got.Runs), len(want.Runs))
		}
		if len(got.Notes) == 0 {
			t.Errorf("%s: the page does not say what a history cannot tell", name)
		}
	}
}

// A finding is in view with its moment, its job's name and its order of calls.
func TestExplanation(t *testing.T) {
	id := store.NewJobID(1_767_225_600_000, 1, 7)
	at := store.Instant(1_767_225_600_000_000)
	l := history.NewLog()
	l.Sent(0, 1, "people", &store.Enqueue{Jobs: []store.NewJob{{ID: id, Name: "work", Queue: "q"}}})
	l.Answered(2e6, 1, &store.Enqueued{At: at.Add(time.Millisecond), Rows: []store.EnqueueAnswer{{Status: store.EnqueueAdded}}})
	for i, w := range []string{"a.1/g/0", "b.1/g/0"} {
		from := int64(10+10*i) * 1e6
		l.Sent(from, uint64(2+i), w, &store.Claim{Worker: w, Number: 1, Queues: []store.Quota{{Queue: "q", Most: 1}}, Max: 1, Lease: time.Minute})
		now := at.Add(time.Duration(from) + time.Millisecond)
		l.Answered(from+2e6, uint64(2+i), &store.Claimed{At: now, Leases: []store.Lease{{Key: store.LeaseKey{Job: id, Attempt: 1 + i, Claim: 1}, Name: "work", Queue: "q", ExpiresAt: now.Add(time.Minute)}}})
	}
	lin := checker.CheckLinear(l, checker.LinearOptions{})
	page := OfHistory(l, lin)
	e, ok := checker.FindExplanation(l, id, checker.LinearOptions{})
	if !ok || len(page.Violations) != 1 {
		t.Fatalf("two workers hold one lease, and nobody sees it: %+v", page.Violations)
	}
	page.Explain(e)
	if got := page.Linear[0]; got.Job != 0 || len(got.Order) != 2 || got.Next.Call != 3 || !strings.Contains(got.Because, "another lease was in force") {
		t.Errorf("the explanation is %+v", got)
	}
	if l := page.Leases[0]; l.From != 11e6 || l.Until != 11e6+int64(time.Minute) {
		t.Errorf("the first lease goes from %d to %d, want from 11ms to a minute later", l.From, l.Until)
	}
	if v := page.Violations[0]; page.Jobs[v.Job].Name != "work-000007" || strings.Contains(v.Message, id.String()) || v.At != 22e6 {
		t.Errorf("the violation is %+v of %+v", v, page.Jobs[v.Job])
	}
}
