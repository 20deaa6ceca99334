package browsertest

import (
	"fmt"
	"testing"
	"time"

	"backwave/checker"
	"backwave/history"
	"backwave/sim"
	"backwave/sim/scenario"
	"backwave/sim/timeline"
	"backwave/store"
)

// run draws a run of a scenario.
func run(t testing.TB, sc *sim.Scenario) *timeline.Page {
	t.Helper()
	c := timeline.NewCollector(sc)
	page := c.Page(sim.Run(sc, sim.Options{Seed: 1, Observe: c.Observe}))
	page.Plan = string(scenario.Format(sc, scenario.Header{Version: scenario.Version, Seed: 1, Scenario: sc.Name}))
	page.Repeat = "bwsim run " + sc.Name + " --seed 1"
	return page
}

func shipped(t *testing.T, name string) *timeline.Page {
	t.Helper()
	sc, err := scenario.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, sc)
}

// parsed draws a run of a scenario in text.
func parsed(t testing.TB, text string) *timeline.Page {
	t.Helper()
	sc, err := scenario.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return run(t, sc)
}

// cutOff is a world with all kinds of shades in it, and a job of which its author
// expects what does not come true.
const cutOff = `
name: cut-off
story: A node is cut off, another crashes, and the store has an outage.
level: adversarial
for: 3m
groups:
  - {name: default, queues: [q], lease: 20s}
nodes:
  - {name: n1}
  - {name: n2, wall: {offset: 3s}}
  - {name: n3}
jobs:
  - {id: j, count: 6, every: 3s, queue: q, run: [{for: 25s}]}
timeline:
  - {at: 10s, partition: [n1], for: 40s}
  - {at: 15s, crash: n2, restart: 30s}
  - {at: 20s, pause: n3, for: 15s}
  - {at: 1m, outage: 8s}
  - {at: 70s, step: n2, by: -2s}
  - {at: 80s, step: store, by: 5s}
  - {at: 90s, cancel: j-6}
expect:
  jobs:
    - {job: j-2, state: cancelled}
`

// twoHolders is a history in which two workers hold one lease.
func twoHolders(t *testing.T) *timeline.Page {
	t.Helper()
	id := store.NewJobID(1_767_225_600_000, 1, 7)
	at := func(d time.Duration) store.Instant {
		return store.Instant(1_767_225_600_000_000 + d.Microseconds())
	}
	l := history.NewLog()
	ms := func(n int) int64 { return 1_767_225_600_000_000_000 + int64(n)*int64(time.Millisecond) }
	l.Sent(ms(0), 1, "bwworker host/1", &store.Enqueue{Jobs: []store.NewJob{{ID: id, Name: "work", Queue: "q"}}})
	l.Answered(ms(2), 1, &store.Enqueued{At: at(time.Millisecond), Rows: []store.EnqueueAnswer{{Status: store.EnqueueAdded}}})
	for i, w := range []string{"host/1/q/0/aa", "host/2/q/0/bb"} {
		from := 10 + 1000*i
		l.Sent(ms(from), uint64(2+i), w, &store.Claim{Worker: w, Number: 1, Queues: []store.Quota{{Queue: "q", Most: 1}}, Max: 1, Lease: time.Minute})
		now := at(time.Duration(from+1) * time.Millisecond)
		l.Answered(ms(from+2), uint64(2+i), &store.Claimed{At: now, Leases: []store.Lease{{Key: store.LeaseKey{Job: id, Attempt: 1 + i, Claim: 1}, Name: "work", Queue: "q", ExpiresAt: now.Add(time.Minute)}}})
	}
	goesOn(l, ms, at)
	lin := checker.CheckLinear(l, checker.LinearOptions{})
	page := timeline.OfHistory(l, lin)
	page.Title = "two-holders.jsonl"
	for _, f := range lin.Findings {
		if e, ok := checker.FindExplanation(l, f.Job, checker.LinearOptions{}); ok {
			page.Explain(e)
		}
	}
	return page
}

// goesOn lets another job run for a minute, in good order.
func goesOn(l *history.Log, ms func(int) int64, at func(time.Duration) store.Instant) {
	const w = "host/2/q/1/cc"
	id := store.NewJobID(1_767_225_600_000, 1, 8)
	key := store.LeaseKey{Job: id, Attempt: 1, Claim: 1}
	l.Sent(ms(2000), 10, "bwworker host/1", &store.Enqueue{Jobs: []store.NewJob{{ID: id, Name: "work", Queue: "q"}}})
	l.Answered(ms(2002), 10, &store.Enqueued{At: at(2001 * time.Millisecond), Rows: []store.EnqueueAnswer{{Status: store.EnqueueAdded}}})
	l.Sent(ms(3000), 11, w, &store.Claim{Worker: w, Number: 1, Queues: []store.Quota{{Queue: "q", Most: 1}}, Max: 1, Lease: 30 * time.Second})
	now := at(3001 * time.Millisecond)
	l.Answered(ms(3002), 11, &store.Claimed{At: now, Leases: []store.Lease{{Key: key, Name: "work", Queue: "q", ExpiresAt: now.Add(30 * time.Second)}}})
	for i := range 6 {
		from := 13_000 + 10_000*i
		now := at(time.Duration(from+1) * time.Millisecond)
		l.Sent(ms(from), uint64(12+i), w, &store.Renew{Worker: w, Lease: 30 * time.Second, Rows: []store.RenewRow{{Key: key}}})
		l.Answered(ms(from+2), uint64(12+i), &store.Renewed{At: now, Rows: []store.RenewAnswer{{Status: store.RenewOK, ExpiresAt: now.Add(30 * time.Second)}}})
	}
}

// large is a page of so many jobs, with ten events of each.
func large(t testing.TB, jobs int) *timeline.Page {
	t.Helper()
	return parsed(t, fmt.Sprintf(`
name: large
level: recoverable
for: 20m
groups:
  - {name: default, queues: [q], pool: 20, lease: 30s}
nodes: [{name: n1}, {name: n2}, {name: n3}, {name: n4}, {name: n5}]
jobs:
  - {id: j, count: %d, every: 200ms, queue: q, run: [{for: 15s}]}
timeline:
  - {at: 1m, pause: n3, for: 1m}
  - {at: 2m, crash: n4, restart: 20s}
`, jobs))
}
