package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"backwave/store"
	"backwave/store/postgres"
)

// BenchmarkDrain claims and reports no-op jobs with a payload of 100 bytes, 500
// at a time, and tells what of the server each job cost.
func BenchmarkDrain(b *testing.B) {
	w, hand, _ := loaded(b, b.N)
	before := walOf(b, hand)
	b.ResetTimer()
	drained := 0
	for n := uint64(1); drained < b.N; n++ {
		out, err := w.Claim(b.Context(), &store.Claim{Worker: "w", Number: n, Queues: []store.Quota{{Queue: "q", Most: 500}}, Max: 500, Lease: time.Minute})
		if err != nil {
			b.Fatal(err)
		}
		r := &store.Report{Worker: "w"}
		for _, l := range out.Leases {
			r.Rows = append(r.Rows, store.ReportRow{Key: l.Key, Outcome: store.Success{}})
		}
		answer, err := w.Report(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		for _, a := range answer.Rows {
			if a.Status == store.ReportApplied {
				drained++
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric((walOf(b, hand)-before)/float64(b.N), "WAL-B/job")
}

// BenchmarkEnqueue adds jobs, a thousand at a time.
func BenchmarkEnqueue(b *testing.B) {
	w, hand, before := loaded(b, 0)
	b.ResetTimer()
	fill(b, w, b.N)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric((walOf(b, hand)-before)/float64(b.N), "WAL-B/job")
}

func loaded(b *testing.B, n int) (*world, *pgx.Conn, float64) {
	w := open(b, postgres.Config{NoNotify: true})
	fill(b, w, n)
	hand := w.connect()
	w.exec(hand, "analyze")
	return w, hand, walOf(b, hand)
}

func fill(b *testing.B, w *world, n int) {
	payload := []byte(fmt.Sprintf("%0100d", 7))
	for at := 0; at < n; at += 1000 {
		var jobs []store.NewJob
		for i := at; i < min(n, at+1000); i++ {
			jobs = append(jobs, store.NewJob{ID: id(i), Name: "n", Queue: "q", Payload: payload})
		}
		if _, err := w.Enqueue(b.Context(), &store.Enqueue{Jobs: jobs}); err != nil {
			b.Fatal(err)
		}
	}
}

func walOf(b *testing.B, conn *pgx.Conn) (bytes float64) {
	if err := conn.QueryRow(b.Context(), "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn").Scan(&bytes); err != nil {
		b.Fatal(err)
	}
	return bytes
}
