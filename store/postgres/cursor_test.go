package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"backwave/clockx"
	"backwave/store"
	"backwave/store/postgres"
)

// late puts a job in front of all others without the store's knowing, as a
// caller's transaction does that commits late.
func (w *world) late(n int) {
	w.t.Helper()
	w.exec(w.connect(), "insert into job (id, due, qid, name) select $1, $2, qid, 'n' from queue where name = 'q'", id(n).String(), n)
}

func TestClaimsGoOnWhereTheLastEnded(t *testing.T) {
	clock := clockx.NewMock()
	w := open(t, postgres.Config{NoNotify: true, Timer: clock})
	w.AllDear()
	number := uint64(0)
	claims := func(most int, jobs ...int) {
		t.Helper()
		number++
		got := w.claim("w", number, most, time.Hour)
		for i, l := range got {
			if i >= len(jobs) || l.Key.Job != id(jobs[i]) {
				t.Fatalf("claimed %v as number %d, want jobs %v", l.Key, i, jobs)
			}
		}
		want(t, "jobs claimed", len(got), len(jobs))
	}
	for n := range 12 {
		w.add(store.NewJob{ID: id(100 + n)})
	}
	claims(2, 100, 101)
	w.late(1)
	claims(2, 102, 103) // passed over
	clock.Add(5 * time.Second)
	claims(2, 1, 104) // but not for longer than that
	w.late(2)
	claims(2, 105, 106)
	claims(8, 2, 107, 108, 109, 110, 111) // a claim that is not filled has looked behind
	for n := range 6 {
		w.add(store.NewJob{ID: id(200 + n)})
	}
	claims(2, 200, 201)
	w.add(store.NewJob{ID: id(3), HasAt: true, At: 5}) // this process knows
	claims(2, 3, 202)
	w.late(4)
	w.do(store.Pause{Queue: "q"})
	claims(2)
	w.do(store.Resume{Queue: "q"})
	claims(2, 4, 203)
}

// The cheap claims of a short queue are always in order.
func TestClaimsOfAShortQueueBeginAtTheFront(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true, Clock: &fixed{now: 1_000_000}})
	for n := range 6 {
		w.add(store.NewJob{ID: id(100 + n)})
	}
	want(t, "first", w.claim("w", 1, 2, time.Hour)[0].Key.Job, id(100))
	w.late(1)
	want(t, "first", w.claim("w", 2, 2, time.Hour)[0].Key.Job, id(1))
}

// fixed is a clock that stands.
type fixed struct{ now store.Instant }

func (f *fixed) Now() store.Instant { return f.now }

func (w *world) do(c store.Command) {
	w.t.Helper()
	out, err := w.Do(w.t.Context(), &store.Do{Actor: "a", RequestID: fmt.Sprintf("%T", c), Command: c})
	if err != nil || out.Result != store.DoChanged {
		w.t.Fatalf("%+v: %+v, %v", c, out, err)
	}
}
