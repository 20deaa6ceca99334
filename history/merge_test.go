package history_test

import (
	"testing"

	"backwave/history"
	"backwave/store"
)

// TestMerge puts two histories together whose calls have the same numbers and
// in part the same times.
func TestMerge(t *testing.T) {
	a, b := history.NewLog(), history.NewLog()
	a.Sent(10, 1, "a", &store.Sweep{Queues: []string{"q"}, Max: 1})
	a.Answered(20, 1, &store.Swept{At: 5, Disposed: []store.Lapse{{Worker: "w"}}})
	b.Sent(5, 1, "b", &store.Sweep{Queues: []string{"q"}, Max: 1})
	b.Sent(20, 2, "b", &store.Sweep{Queues: []string{"q"}, Max: 1})
	b.Failed(30, 1, &store.TransientError{Fault: store.FaultBusy, Err: store.ErrNotFound})
	got := history.Merge(a, b).Records()
	want := []struct {
		at   int64
		kind history.Kind
		call uint64
	}{{5, history.Sent, 1}, {10, history.Sent, 2}, {20, history.Sent, 3}, {20, history.Answered, 2}, {30, history.Failed, 1}}
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		if got[i].At != w.at || got[i].Kind != w.kind || got[i].Call != w.call {
			t.Errorf("record %d is %+v, want %+v", i, got[i], w)
		}
	}
	if f := got[4]; f.Fault != store.FaultBusy {
		t.Errorf("the failure has become %+v", f)
	}
}

// Calls that follow each other by less than their times are known to overlap
// once they are blurred.
func TestBlurLetsCallsOverlap(t *testing.T) {
	a, b := history.NewLog(), history.NewLog()
	a.Sent(10, 1, "a", &store.Sweep{Queues: []string{"q"}, Max: 1})
	a.Answered(20, 1, &store.Swept{At: 5, Disposed: []store.Lapse{{Worker: "w"}}})
	b.Sent(23, 1, "b", &store.Sweep{Queues: []string{"q"}, Max: 1})
	b.Failed(30, 1, store.ErrNotFound)
	for by, want := range map[int64][]history.Kind{
		1: {history.Sent, history.Answered, history.Sent, history.Failed},
		2: {history.Sent, history.Sent, history.Answered, history.Failed},
	} {
		for _, l := range []*history.Log{a, b} {
			l.Blur(by)
		}
		for i, r := range history.Merge(a, b).Records() {
			if r.Kind != want[i] {
				t.Errorf("blurred by %d, record %d is of kind %d, want %d", by, i, r.Kind, want[i])
			}
		}
		for _, l := range []*history.Log{a, b} {
			l.Blur(-by)
		}
	}
}
