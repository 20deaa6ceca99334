package memory_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/store"
	"backwave/store/memory"
)

// world drives a store and the model side by side.
type world struct {
	clock  *tick
	s      *memory.Store
	m      *model
	mirror map[store.JobID]store.Job // built from Changes alone
	images []image                   // what Changes told, and what it looked like then
	given  []lease                   // every lease ever answered
	left   []abandoned
	number map[string]uint64
}

type lease struct {
	worker string
	key    store.LeaseKey
}

type image struct{ told, then store.Job }

// abandoned is a store whose clone took over, and how its rows were then.
type abandoned struct {
	s    *memory.Store
	rows []store.Job
}

// rows copies what a store holds.
func rows(s *memory.Store) (all []store.Job) {
	s.Each(func(j *store.Job) bool {
		c := *j
		c.Ends = slices.Clone(c.Ends)
		all = append(all, c)
		return true
	})
	return all
}

func TestRandomOperationsAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{clock: &tick{now: 1_700_000_000_000_000}, m: newModel(), mirror: map[store.JobID]store.Job{}, number: map[string]uint64{}}
		w.s = memory.New(w.clock)
		w.step(t, &store.Enqueue{Jobs: []store.NewJob{{ID: id(1), Name: "n", Queue: "a", MaxAttempts: 3}}})
		t.Repeat(map[string]func(*rapid.T){
			"enqueue": w.enqueue,
			"claim":   w.claim,
			"renew":   w.renew,
			"report":  w.report,
			"work":    w.work,
			"sweep":   w.sweep,
			"do":      w.do,
			"hold":    w.hold,
			"time":    w.time,
			"damage":  w.damage,
			"clone":   w.clone,
			"":        w.agree,
		})
		for _, i := range w.images {
			if !reflect.DeepEqual(i.told, i.then) {
				t.Fatalf("an image changed later:\n now %+v\n then %+v", i.told, i.then)
			}
		}
		for _, a := range w.left {
			if got := rows(a.s); !reflect.DeepEqual(got, a.rows) {
				t.Fatalf("a clone changed its original:\n now %+v\n then %+v", got, a.rows)
			}
		}
	})
}

// step sends one request to both and compares the answers.
func (w *world) step(t *rapid.T, req store.Request) store.Reply {
	got, err := w.s.Apply(req)
	if err != nil {
		t.Fatal(err)
	}
	want := w.m.apply(w.clock.now, req)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v\n got %+v\nwant %+v", req, got, want)
	}
	for _, c := range w.s.Changes() {
		id := c.After.ID
		if !reflect.DeepEqual(c.Before, w.mirror[id]) {
			t.Fatalf("image before %+v\nbut was %+v", c.Before, w.mirror[id])
		}
		w.mirror[id] = c.After
		then := c.After
		then.Ends = slices.Clone(then.Ends)
		w.images = append(w.images, image{c.After, then})
	}
	return got
}

func (m *model) apply(now store.Instant, req store.Request) store.Reply {
	switch r := req.(type) {
	case *store.Claim:
		return m.claim(now, r)
	case *store.Renew:
		return m.renew(now, r)
	case *store.Report:
		return m.report(now, r)
	case *store.Sweep:
		return m.sweep(now, r)
	case *store.Enqueue:
		return m.enqueue(now, r)
	case *store.Do:
		return m.do(now, r)
	}
	return nil
}

// agree compares all that can be seen of the two.
func (w *world) agree(t *rapid.T) {
	n := 0
	w.s.Each(func(j *store.Job) bool {
		if n >= len(w.m.jobs) || !reflect.DeepEqual(*j, *w.m.jobs[n]) {
			t.Fatalf("row %d\n got %+v\nwant %+v", n, *j, w.m.jobs[min(n, len(w.m.jobs)-1)])
		}
		if !reflect.DeepEqual(*j, w.mirror[j.ID]) {
			t.Fatalf("row %d %+v\nbut its changes tell %+v", n, *j, w.mirror[j.ID])
		}
		if l, ok := w.s.Lookup(j.ID); !ok || l != j {
			t.Fatalf("row %d is not found by its id", n)
		}
		n++
		return true
	})
	if n != len(w.m.jobs) {
		t.Fatalf("%d rows, want %d", n, len(w.m.jobs))
	}
	for _, q := range queueNames {
		if w.s.Paused(q) != w.m.paused[q] {
			t.Fatalf("paused %q: %v", q, w.s.Paused(q))
		}
	}
	if got := w.s.Audits(); len(got)+len(w.m.audits) > 0 && !reflect.DeepEqual(got, w.m.audits) {
		t.Fatalf("audits %+v, want %+v", got, w.m.audits)
	}
}

var (
	queueNames = []string{"c", "a", "b"}
	spans      = []time.Duration{0, time.Microsecond, time.Second, 10 * time.Second, 59 * time.Second, time.Minute, 2 * time.Minute, time.Hour}
	leases     = []time.Duration{time.Second, 10 * time.Second, time.Minute, 2 * time.Minute}
)

func pick[T any](t *rapid.T, what string, from []T) T { return rapid.SampledFrom(from).Draw(t, what) }

func draw(t *rapid.T, what string, low, high int) int { return rapid.IntRange(low, high).Draw(t, what) }

func (w *world) enqueue(t *rapid.T) {
	req := &store.Enqueue{}
	for range draw(t, "rows", 1, 3) {
		req.Jobs = append(req.Jobs, store.NewJob{
			ID: id(draw(t, "id", 1, 8)), Name: pick(t, "name", []string{"n", "m"}), Queue: pick(t, "queue", queueNames),
			Payload: pick(t, "payload", [][]byte{nil, []byte("p")}), UniqueKey: pick(t, "key", []string{"", "k", "l"}),
			MaxAttempts: draw(t, "ceiling", 0, 3), Delay: pick(t, "delay", spans),
			HasAt: draw(t, "has at", 0, 3) == 0, At: w.clock.now.Add(-pick(t, "at", spans)),
		})
	}
	w.step(t, req)
}

func (w *world) claim(t *rapid.T) {
	worker := pick(t, "worker", []string{"v", "w"})
	number := max(1, w.number[worker]+1-min(w.number[worker], uint64(draw(t, "fewer", 0, 3))))
	w.number[worker] = max(number, w.number[worker])
	req := &store.Claim{Worker: worker, Number: number, Max: draw(t, "max", 1, 4), Lease: pick(t, "lease", leases)}
	order := pick(t, "queues", [][]string{{"a"}, {"a", "b", "c"}, {"c", "b", "a"}, {"b", "never", "a"}})
	for _, q := range order {
		req.Queues = append(req.Queues, store.Quota{Queue: q, Most: draw(t, "most", 0, 2)})
	}
	req.Terms = &store.Terms{
		Default: store.Policy{MaxAttempts: draw(t, "ceiling", 1, 3), First: 5 * time.Second, Factor: 2, Cap: time.Minute, NoJitter: true},
		ByName:  []store.NamedPolicy{{Name: "m", Policy: store.Policy{MaxAttempts: 2, First: time.Second, Factor: 2, Cap: 3 * time.Second, NoJitter: true}}},
	}
	reply := w.step(t, req).(*store.Claimed)
	for _, l := range reply.Leases {
		w.given = append(w.given, lease{worker, l.Key})
	}
}

// some draws leases that were given once, recent ones more often, now and then
// with something forged.
func (w *world) some(t *rapid.T) (worker string, keys []store.LeaseKey) {
	worker = pick(t, "worker", []string{"v", "w"})
	for range draw(t, "rows", 1, 3) {
		k := store.LeaseKey{Job: id(draw(t, "id", 1, 9)), Attempt: draw(t, "attempt", 1, 3), Claim: uint64(draw(t, "claim", 1, 3))}
		if n := len(w.given); n > 0 {
			l := w.given[max(0, n-1-draw(t, "back", 0, 5)*draw(t, "far", 0, 5))]
			worker, k = l.worker, l.key
		}
		switch draw(t, "forge", 0, 20) {
		case 0:
			k.Claim++
		case 1:
			k.Attempt++
		case 2:
			worker = "x"
		}
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return worker, keys
}

func (w *world) renew(t *rapid.T) {
	worker, keys := w.some(t)
	req := &store.Renew{Worker: worker, Lease: pick(t, "lease", leases)}
	for _, k := range keys {
		req.Rows = append(req.Rows, store.RenewRow{Key: k, Progress: pick(t, "progress", [][]byte{nil, []byte("1"), []byte("2")})})
	}
	w.step(t, req)
}

func (w *world) report(t *rapid.T) {
	worker, keys := w.some(t)
	req := &store.Report{Worker: worker}
	for _, k := range keys {
		req.Rows = append(req.Rows, store.ReportRow{Key: k, Outcome: pick(t, "outcome", []store.Outcome{
			store.Success{Output: []byte("o")},
			store.Failure{Error: "e"},
			store.Failure{Error: "f", HasRetryAfter: true, RetryAfter: time.Second},
			store.Discard{Error: "d"},
			store.Snooze{Delay: pick(t, "snooze", spans)},
			store.Released{},
			store.UnknownName{},
			store.UnknownName{},
			store.Undecodable{Error: "u"},
		})})
	}
	w.step(t, req)
}

// work runs what is due through a few whole attempts, so that lives are long.
func (w *world) work(t *rapid.T) {
	for range draw(t, "rounds", 1, 12) {
		w.claim(t)
		w.report(t)
		w.clock.advance(pick(t, "span", spans))
	}
}

func (w *world) sweep(t *rapid.T) {
	w.step(t, &store.Sweep{
		Queues: pick(t, "queues", [][]string{{"a"}, {"c", "b"}, {"b", "never"}, {"a", "b", "c"}}),
		Any:    rapid.Bool().Draw(t, "any"), Max: draw(t, "max", 1, 5),
	})
}

func (w *world) do(t *rapid.T) {
	job, queue := id(draw(t, "id", 1, 9)), pick(t, "queue", queueNames)
	if at := draw(t, "dead", 0, len(w.m.jobs)); at < len(w.m.jobs) && (w.m.jobs[at].State == store.DeadLettered || w.m.jobs[at].CancelRequested) {
		job = w.m.jobs[at].ID // the rare states get more than their share
	}
	w.step(t, &store.Do{Actor: "ann", RequestID: fmt.Sprint("r", draw(t, "request", 1, 60)), Command: pick(t, "command", []store.Command{
		store.Cancel{Job: job}, store.Cancel{Job: job, Force: true}, store.Requeue{Job: job}, store.Requeue{Job: job}, store.Pause{Queue: queue}, store.Resume{Queue: queue}, store.Resume{Queue: queue},
	})})
}

func (w *world) hold(t *rapid.T) {
	job := id(draw(t, "id", 1, 9))
	if w.m.held[job] = draw(t, "hold", 0, 2) == 0; w.m.held[job] {
		w.s.Hold(job)
	} else {
		w.s.Unhold(job)
	}
}

func (w *world) time(t *rapid.T) {
	d := pick(t, "span", spans)
	if draw(t, "back", 0, 3) == 0 {
		d = -d
	}
	w.clock.advance(d)
}

func (w *world) damage(t *rapid.T) {
	job := id(draw(t, "id", 1, 9))
	w.s.Damage(job, "torn")
	if j := w.m.find(job); j != nil {
		j.Damage = "torn"
		c := w.mirror[job]
		c.Damage = "torn"
		w.mirror[job] = c
	}
}

// clone goes on with a copy, after the original has been driven on alone: what
// it does must not be seen in the copy.
func (w *world) clone(t *rapid.T) {
	c := w.s.Clone(w.clock)
	for _, l := range w.given {
		if _, err := w.s.Apply(&store.Report{Worker: l.worker, Rows: []store.ReportRow{{Key: l.key, Outcome: store.Failure{Error: "elsewhere"}}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, req := range []store.Request{
		&store.Sweep{Any: true, Queues: []string{"a", "b", "c"}, Max: 9},
		&store.Claim{Worker: "w", Number: w.number["w"] + 9, Queues: []store.Quota{{Queue: "a", Most: 9}, {Queue: "b", Most: 9}}, Max: 9, Lease: time.Minute},
		&store.Enqueue{Jobs: []store.NewJob{{ID: id(99), Name: "n", Queue: "elsewhere", UniqueKey: "k"}}},
		&store.Do{Actor: "bob", RequestID: "r33", Command: store.Pause{Queue: "a"}},
	} {
		if _, err := w.s.Apply(req); err != nil {
			t.Fatal(err)
		}
	}
	w.s.Hold(id(1))
	w.left = append(w.left, abandoned{w.s, rows(w.s)})
	w.s = c
}
