package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"backwave/store"
	"backwave/store/postgres"
)

// A fleet that dies as a whole leaves more lapsed leases behind than a sweep
// looks at, of workers that claimed side by side. Each is disposed of once.
func TestSweepsOfAWholeFleet(t *testing.T) {
	clock := &fixed{now: 1_800_000_000_000_000}
	w := open(t, postgres.Config{Clock: clock})
	const jobs, each = 12_000, 1000
	for i := 0; i < jobs; i += each {
		list := make([]store.NewJob, each)
		for k := range list {
			list[k].ID = id(1 + i + k)
		}
		w.add(list...)
	}
	for i := range jobs / each {
		clock.now++
		got, err := w.Claim(t.Context(), &store.Claim{Worker: fmt.Sprint("w", i%3), Number: uint64(i + 1), Max: each, Lease: time.Minute, Queues: []store.Quota{{Queue: "q", Most: each}}})
		want(t, "error", err, nil)
		want(t, "leases", len(got.Leases), each)
	}
	clock.now = clock.now.Add(time.Minute)
	seen := map[store.JobID]int{}
	for _, most := range []int{10_000, 10_000} {
		got, err := w.Sweep(t.Context(), &store.Sweep{Queues: []string{"q"}, Max: most})
		want(t, "error", err, nil)
		for _, d := range got.Disposed {
			seen[d.Key.Job]++
		}
		want(t, "disposed of", len(got.Disposed), min(most, jobs-len(seen)+len(got.Disposed)))
	}
	want(t, "jobs disposed of", len(seen), jobs)
	got, err := w.Sweep(t.Context(), &store.Sweep{Queues: []string{"q"}, Max: 1})
	want(t, "error", err, nil)
	want(t, "left", len(got.Disposed), 0)
}
