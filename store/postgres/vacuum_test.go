package postgres_test

import (
	"testing"
	"time"

	"backwave/store"
	"backwave/store/postgres"
)

// TestHotTableIsVacuumedWhileItGrows: the server's own vacuum is off for the
// table, so what is counted is ours.
func TestHotTableIsVacuumedWhileItGrows(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	hand := w.connect()
	w.exec(hand, "alter table job set (autovacuum_enabled = off)")
	w.LookEvery(100)
	next, number := 0, uint64(0)
	come := func(n int) {
		var jobs []store.NewJob
		for range n {
			next++
			jobs = append(jobs, store.NewJob{ID: id(next), Name: "n", Queue: "q", Payload: make([]byte, 1000)})
		}
		if _, err := w.Enqueue(t.Context(), &store.Enqueue{Jobs: jobs}); err != nil {
			t.Fatal(err)
		}
	}
	finish := func(n int) {
		number++
		out, err := w.Claim(t.Context(), &store.Claim{Worker: "w", Number: number, Queues: []store.Quota{{Queue: "q", Most: n}}, Max: n, Lease: time.Minute})
		if err != nil || len(out.Leases) != n {
			t.Fatalf("claimed %v (%v), want %d", out, err, n)
		}
		r := &store.Report{Worker: "w"}
		for _, l := range out.Leases {
			r.Rows = append(r.Rows, store.ReportRow{Key: l.Key, Outcome: store.Success{}})
		}
		if _, err := w.Report(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		w.Looked()
	}
	vacuums := func() (n int) {
		if err := hand.QueryRow(t.Context(), "select vacuum_count from pg_stat_user_tables where schemaname = current_schema() and relname = 'job'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	come(300)
	for range 3 { // it drains: nothing comes that could use the room
		finish(100)
	}
	if n := vacuums(); n != 0 {
		t.Fatalf("vacuumed %d times while the queue only drained", n)
	}
	come(600)
	finish(100)
	if n := vacuums(); n != 1 {
		t.Fatalf("vacuumed %d times after the table had grown, want 1", n)
	}
	finish(100)
	if n := vacuums(); n != 1 {
		t.Fatalf("vacuumed %d times, want still 1: it has not grown", n)
	}
}
