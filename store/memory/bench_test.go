package memory_test

import (
	"fmt"
	"testing"
	"time"

	"backwave/store"
	"backwave/store/memory"
)

// tick is a clock for tests: it shows what it was set to.
type tick struct{ now store.Instant }

func (c *tick) Now() store.Instant { return c.now }

func (c *tick) advance(d time.Duration) { c.now = c.now.Add(d) }

func id(n int) store.JobID { return store.NewJobID(1_700_000_000_000, 0, uint64(n)) }

// filled returns a store with n jobs that wait for an hour in queue "later".
func filled(b *testing.B, n int) (*memory.Store, *tick) {
	c := &tick{now: 1_700_000_000_000_000}
	s := memory.New(c)
	for i := range n {
		must(b, s, &store.Enqueue{Jobs: []store.NewJob{{ID: id(i + 1), Name: "n", Queue: "later", Delay: time.Hour}}})
	}
	return s, c
}

// must is no b.Helper: that would cost more than the call it measures.
func must(b *testing.B, s *memory.Store, req store.Request) store.Reply {
	reply, err := s.Apply(req)
	if err != nil {
		b.Fatal(err)
	}
	return reply
}

// sizes runs a benchmark beside few and beside many waiting jobs.
func sizes(b *testing.B, run func(b *testing.B, waiting int)) {
	for _, n := range []int{50, 10_000} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			run(b, n)
		})
	}
}

func BenchmarkIdleClaim(b *testing.B) {
	sizes(b, func(b *testing.B, waiting int) {
		s, _ := filled(b, waiting)
		req := &store.Claim{Worker: "w", Queues: []store.Quota{{Queue: "later", Most: 20}}, Max: 20, Lease: time.Minute}
		for b.Loop() {
			req.Number++
			must(b, s, req)
		}
	})
}

func BenchmarkIdleSweep(b *testing.B) {
	sizes(b, func(b *testing.B, waiting int) {
		s, _ := filled(b, waiting)
		req := &store.Sweep{Queues: []string{"later"}, Max: 500}
		for b.Loop() {
			must(b, s, req)
		}
	})
}

// BenchmarkClaimReport runs one whole attempt per round: claimed, put off by
// an hour so that the heap stays as large as it was, due again.
func BenchmarkClaimReport(b *testing.B) {
	sizes(b, func(b *testing.B, waiting int) {
		s, c := filled(b, waiting)
		req := &store.Claim{Worker: "w", Queues: []store.Quota{{Queue: "later", Most: 1}}, Max: 1, Lease: time.Minute}
		rep := &store.Report{Worker: "w", Rows: []store.ReportRow{{Outcome: store.Snooze{Delay: time.Hour}}}}
		for b.Loop() {
			c.advance(time.Hour)
			req.Number++
			rep.Rows[0].Key = must(b, s, req).(*store.Claimed).Leases[0].Key
			must(b, s, rep)
		}
	})
}

func BenchmarkRenew20(b *testing.B) {
	sizes(b, func(b *testing.B, waiting int) {
		s, c := filled(b, waiting)
		c.advance(time.Hour)
		claimed := must(b, s, &store.Claim{Worker: "w", Number: 1, Queues: []store.Quota{{Queue: "later", Most: 20}}, Max: 20, Lease: time.Minute}).(*store.Claimed)
		req := &store.Renew{Worker: "w", Lease: time.Minute}
		for _, l := range claimed.Leases {
			req.Rows = append(req.Rows, store.RenewRow{Key: l.Key})
		}
		for b.Loop() {
			c.advance(time.Second)
			must(b, s, req)
		}
	})
}
