package memory_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/store"
	"backwave/store/memory"
)

// A store that went its own way and is put back answers as if it had not.
func TestRewoundStoresAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		high := w.clock.Now()
		rewind := func(t *rapid.T) {
			high = max(high, w.clock.Now())
			astray := &tick{now: high}
			c := w.s.Clone(astray)
			stray(t, c, astray)
			c.Rewind(rows(w.s), high)
			w.s = c.Clone(w.clock)
		}
		actions := w.ops.Actions()
		goOn := actions["time"]
		actions["time"] = func(t *rapid.T) { high = max(high, w.clock.Now()); goOn(t) }
		actions["rewind"], actions["rewindMore"], actions[""] = rewind, rewind, w.agree
		delete(actions, "do") // Rewind forgets the results of commands
		t.Repeat(actions)
	})
}

// stray drives a store somewhere else, but adds no rows.
func stray(t *rapid.T, s *memory.Store, clock *tick) {
	for range rapid.IntRange(0, 4).Draw(t, "strayed") {
		got, err := s.Apply(&store.Claim{Worker: "stranger", Number: uint64(clock.now), Queues: []store.Quota{{Queue: "a"}, {Queue: "b"}}, Max: 3, Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range got.(*store.Claimed).Leases {
			if rapid.Bool().Draw(t, "done") {
				if _, err := s.Apply(&store.Report{Worker: "stranger", Rows: []store.ReportRow{{Key: l.Key, Outcome: store.Success{}}}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		clock.advance(time.Duration(rapid.IntRange(0, 3).Draw(t, "minutes")) * time.Minute)
		if _, err := s.Apply(&store.Sweep{Queues: []string{"a"}, Any: true, Max: 2}); err != nil {
			t.Fatal(err)
		}
	}
}

// To rewind to another number of rows is a mistake of the caller.
func TestRewindWantsTheSameRows(t *testing.T) {
	s := memory.New(&tick{now: 1})
	if _, err := s.Apply(&store.Enqueue{Jobs: []store.NewJob{{ID: id(1), Name: "n", Queue: "a"}}}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a store with one row was rewound to none")
		}
	}()
	s.Rewind(nil, 1)
}
