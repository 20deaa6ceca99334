package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestQueueGivesEventsInOrder holds the heap against a sorted list.
func TestQueueGivesEventsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want []event
		for range rapid.IntRange(1, 200).Draw(t, "operations") {
			if len(want) > 0 && rapid.Bool().Draw(t, "pop") {
				got := q.pop()
				if got.at != want[0].at || got.ref != want[0].ref {
					t.Fatalf("got the event of %d entered as number %d, want that of %d entered as number %d", got.at, got.ref, want[0].at, want[0].ref)
				}
				want = want[1:]
				continue
			}
			e := event{at: rapid.Int64Range(0, 20).Draw(t, "at"), ref: int32(q.seq)}
			q.push(e)
			want = append(want, e)
			slices.SortStableFunc(want, func(a, b event) int { return int(a.at - b.at) })
		}
	})
}

// TestTimersGiveTheEarliest holds the indexed heap against a scan.
func TestTimersGiveTheEarliest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ts timers
		at := make([]int64, rapid.IntRange(1, 8).Draw(t, "pumps"))
		for i := range at {
			ts.grow()
			at[i] = never
		}
		for range rapid.IntRange(1, 100).Draw(t, "operations") {
			p := rapid.IntRange(0, len(at)-1).Draw(t, "pump")
			at[p] = rapid.SampledFrom([]int64{1, 2, 3, 4, 5, never}).Draw(t, "at")
			ts.set(int32(p), at[p])
			if got, want := ts.next(), slices.Min(at); got != want {
				t.Fatalf("the next timer is due at %d, want %d of %v", got, want, at)
			}
			if ts.next() != never {
				if first := slices.Index(at, ts.next()); int(ts.heap[0]) != first {
					t.Fatalf("pump %d is first, want %d of %v", ts.heap[0], first, at)
				}
			}
		}
	})
}
