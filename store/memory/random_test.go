package memory_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/store"
	"backwave/store/memory"
	"backwave/store/storetest"
)

// world drives a store and the model side by side.
type world struct {
	ops    *storetest.Operations
	clock  *storetest.Clock
	s      *memory.Store
	m      *model
	mirror map[store.JobID]store.Job // built from Changes alone
	images []image                   // what Changes told, and what it looked like then
	left   []abandoned
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

// newWorld has one job.
func newWorld(t *rapid.T) *world {
	w := &world{clock: &storetest.Clock{}, m: newModel(), mirror: map[store.JobID]store.Job{}}
	w.clock.Set(1_700_000_000_000_000)
	w.s = memory.New(w.clock)
	w.ops = &storetest.Operations{Clock: w.clock, Send: w.step, Terms: terms, Rare: w.m.rare}
	w.step(t, &store.Enqueue{Jobs: []store.NewJob{{ID: storetest.ID(1), Name: "n", Queue: "a", MaxAttempts: 3}}})
	return w
}

// terms have no jitter, of which the model knows nothing.
func terms(ceiling int) *store.Terms {
	return &store.Terms{
		Default: store.Policy{MaxAttempts: ceiling, First: 5 * time.Second, Factor: 2, Cap: time.Minute, NoJitter: true},
		ByName:  []store.NamedPolicy{{Name: "m", Policy: store.Policy{MaxAttempts: 2, First: time.Second, Factor: 2, Cap: 3 * time.Second, NoJitter: true}}},
	}
}

// rare lists the jobs that a requeue or a repeated cancel is about.
func (m *model) rare() (ids []store.JobID) {
	for _, j := range m.jobs {
		if j.State == store.DeadLettered || j.CancelRequested {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

func TestRandomOperationsAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		actions := w.ops.Actions()
		actions["hold"], actions["damage"], actions["clone"], actions[""] = w.hold, w.damage, w.clone, w.agree
		t.Repeat(actions)
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
	want := w.m.apply(w.clock.Now(), req)
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
	for _, q := range storetest.QueueNames {
		if w.s.Paused(q) != w.m.paused[q] {
			t.Fatalf("paused %q: %v", q, w.s.Paused(q))
		}
	}
	if got := w.s.Audits(); len(got)+len(w.m.audits) > 0 && !reflect.DeepEqual(got, w.m.audits) {
		t.Fatalf("audits %+v, want %+v", got, w.m.audits)
	}
}

func (w *world) hold(t *rapid.T) {
	job := storetest.RandomID(t)
	if w.m.held[job] = rapid.IntRange(0, 2).Draw(t, "hold") == 0; w.m.held[job] {
		w.s.Hold(job)
	} else {
		w.s.Unhold(job)
	}
}

func (w *world) damage(t *rapid.T) {
	job := storetest.RandomID(t)
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
	w.ops.Given(func(worker string, key store.LeaseKey) {
		if _, err := w.s.Apply(&store.Report{Worker: worker, Rows: []store.ReportRow{{Key: key, Outcome: store.Failure{Error: "elsewhere"}}}}); err != nil {
			t.Fatal(err)
		}
	})
	for _, req := range []store.Request{
		&store.Sweep{Any: true, Queues: []string{"a", "b", "c"}, Max: 9},
		&store.Claim{Worker: "w", Number: w.ops.Number("w") + 9, Queues: []store.Quota{{Queue: "a", Most: 9}, {Queue: "b", Most: 9}}, Max: 9, Lease: time.Minute},
		&store.Enqueue{Jobs: []store.NewJob{{ID: storetest.ID(99), Name: "n", Queue: "elsewhere", UniqueKey: "k"}}},
		&store.Do{Actor: "bob", RequestID: "r33", Command: store.Pause{Queue: "a"}},
	} {
		if _, err := w.s.Apply(req); err != nil {
			t.Fatal(err)
		}
	}
	w.s.Hold(storetest.ID(1))
	w.left = append(w.left, abandoned{w.s, rows(w.s)})
	w.s = c
}
