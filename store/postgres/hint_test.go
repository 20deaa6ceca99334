package postgres_test

import (
	"testing"
	"time"

	"backwave/store"
	"backwave/store/postgres"
)

// other opens a second process's store on the same schema.
func (w *world) other() *postgres.Store {
	w.t.Helper()
	s, err := postgres.Open(w.t.Context(), postgres.Config{URL: w.url, Schema: w.named})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(s.Close)
	return s
}

// heard waits until the queue is hinted; the deadline of the test is the bound.
func heard(t *testing.T, hints <-chan string, queue string) {
	t.Helper()
	for q := range hints {
		if q == queue {
			return
		}
	}
}

func listen(t *testing.T, s *postgres.Store) <-chan string {
	hints := make(chan string, 10_000)
	t.Cleanup(s.Hints(func(queue string) { hints <- queue }))
	return hints
}

// listening waits until the other store has subscribed.
func (w *world) listening(n int) {
	w.t.Helper()
	conn := w.connect()
	for got := 0; got < n; {
		if err := conn.QueryRow(w.t.Context(), "select count(*), pg_sleep(0.01) from pg_stat_activity where query like 'listen%' and query like '%' || $1 || '%'", w.schema[1:len(w.schema)-1]).Scan(&got, nil); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestHintsReachOtherProcessesAndAreCoalesced(t *testing.T) {
	w := open(t, postgres.Config{})
	near, far := listen(t, w.Store), listen(t, w.other())
	w.listening(2)
	w.add(store.NewJob{ID: id(1), Queue: "a 'queue'\n\"é\""})
	heard(t, near, "a 'queue'\n\"é\"")
	heard(t, far, "a 'queue'\n\"é\"")
	var jobs []store.NewJob
	for i := range 500 {
		jobs = append(jobs, store.NewJob{ID: id(10 + i)})
	}
	w.add(jobs...)
	heard(t, far, "q")
	_, err := w.Do(t.Context(), &store.Do{Actor: "a", RequestID: "p", Command: store.Pause{Queue: "q"}})
	want(t, "error", err, nil)
	_, err = w.Do(t.Context(), &store.Do{Actor: "a", RequestID: "r", Command: store.Resume{Queue: "q"}})
	want(t, "error", err, nil)
	heard(t, far, "q")
	if n := len(far); n > 4 {
		t.Errorf("500 jobs of one call made %d more hints", n)
	}
}

// What this process enqueues it is hinted once: its own notification, which comes
// before the other's, says nothing new.
func TestOwnNotificationsAreNoHints(t *testing.T) {
	w := open(t, postgres.Config{})
	near, other := listen(t, w.Store), w.other()
	far := listen(t, other)
	w.listening(2)
	w.add(store.NewJob{ID: id(1)})
	heard(t, far, "q")
	if _, err := other.Enqueue(t.Context(), &store.Enqueue{Jobs: []store.NewJob{{ID: id(2), Name: "n", Queue: "r"}}}); err != nil {
		t.Fatal(err)
	}
	want(t, "first hint", <-near, "q")
	want(t, "second hint", <-near, "r")
}

// A listener whose connection was killed comes back, and hints what it may have
// missed.
func TestListenerComesBack(t *testing.T) {
	w := open(t, postgres.Config{})
	far := listen(t, w.other())
	w.listening(1)
	w.add(store.NewJob{ID: id(1)})
	heard(t, far, "q")
	start := time.Now()
	w.exec(w.connect(), "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and pid <> pg_backend_pid()")
	heard(t, far, "q")
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("after %v", d)
	}
}

func TestNoNotifyListensAndSendsNothing(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	near := listen(t, w.Store)
	w.add(store.NewJob{ID: id(1)})
	heard(t, near, "q") // within the process it costs nothing
	var n int
	err := w.connect().QueryRow(t.Context(), "select count(*) from pg_stat_activity where query like 'listen%' and query like '%' || $1 || '%'", w.schema[1:len(w.schema)-1]).Scan(&n)
	want(t, "error", err, nil)
	want(t, "listeners", n, 0)
}
