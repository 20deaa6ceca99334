package history

import (
	"context"
	"errors"
	"testing"

	"backwave/store"
)

func kinds(l *Log) (out []Kind) {
	for _, r := range l.Records() {
		out = append(out, r.Kind)
	}
	return out
}

func same[T comparable](t *testing.T, got []T, want ...T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

var poll = &store.Claim{Worker: "n1", Number: 1, Max: 1}

func claimedAt(at store.Instant, leases int) *store.Claimed {
	return &store.Claimed{At: at, Leases: make([]store.Lease, leases)}
}

func TestLogDropsIdleCalls(t *testing.T) {
	l := NewLog()
	l.Sent(1, 1, "n1", poll)
	l.Applied(2, 1, claimedAt(5, 0))
	l.Sent(3, 2, "n1", poll)
	l.Answered(4, 1, claimedAt(5, 0))
	l.Answered(5, 2, claimedAt(6, 1))
	same(t, kinds(l), Sent, Answered)
	if r := l.Records(); r[0].Seq >= r[1].Seq || l.Seq() != r[1].Seq {
		t.Errorf("positions %d, %d, last %d", r[0].Seq, r[1].Seq, l.Seq())
	}
}

func TestLogKeepsWhatMatters(t *testing.T) {
	l := NewLog()
	l.Sent(1, 1, "n1", poll) // idle, and its reply is lost
	l.Applied(2, 1, claimedAt(5, 0))
	l.Sent(3, 2, "n1", poll) // doubled: its copy may take a job later
	l.Doubled(3, 2)
	l.Answered(4, 2, claimedAt(6, 0))
	l.Applied(5, 2, claimedAt(7, 1))
	same(t, kinds(l), Sent, Applied, Sent, Doubled, Answered, Applied)
	l.Reset()
	l.KeepIdle = true
	l.Sent(1, 1, "n1", poll)
	l.Answered(2, 1, claimedAt(5, 0))
	same(t, kinds(l), Sent, Answered)
}

// An idle answer that shows a clock which stepped back is evidence; one that
// merely overtook another is not.
func TestLogNotesSteps(t *testing.T) {
	l := NewLog()
	l.Sent(1, 1, "n1", poll)
	l.Sent(1, 2, "n2", poll)
	l.Answered(2, 2, claimedAt(100, 0))
	l.Answered(3, 1, claimedAt(90, 0))
	same(t, kinds(l))
	l.Sent(4, 3, "n1", poll)
	l.Answered(5, 3, claimedAt(99, 1)) // the idle answers are gone, the highest instant is not
	l.Sent(6, 4, "n1", poll)
	l.Applied(7, 4, claimedAt(50, 0))
	l.Sent(8, 5, "n1", poll)
	l.Applied(9, 5, claimedAt(40, 0))
	l.Answered(10, 5, claimedAt(40, 0))
	same(t, kinds(l), Sent, Stepped, Answered, Sent, Applied, Sent, Stepped, Applied, Stepped, Answered)
}

// Among a hundred thousand idle polls the log stays small, and calls that stay
// open survive compaction.
func TestLogStaysSmall(t *testing.T) {
	l := NewLog()
	l.Sent(0, 1, "n1", poll)
	for i := uint64(2); i < 200_002; i += 2 {
		l.Sent(0, i, "n1", poll)
		l.Sent(0, i+1, "n2", poll)
		l.Applied(0, i, claimedAt(store.Instant(i), 0))
		l.Answered(0, i, claimedAt(store.Instant(i), 0))
		l.Answered(0, i+1, claimedAt(store.Instant(i), 0))
	}
	if cap(l.records) > 8192 {
		t.Errorf("room for %d records", cap(l.records))
	}
	l.Answered(1, 1, claimedAt(200_002, 1))
	same(t, kinds(l), Sent, Answered)
}

// fake answers what it is told to.
type fake struct {
	store.Store
	claimed *store.Claimed
	err     error
}

func (f fake) Claim(context.Context, *store.Claim) (*store.Claimed, error) { return f.claimed, f.err }

func TestRecorder(t *testing.T) {
	l := NewLog()
	now := int64(0)
	clock := func() int64 { now++; return now }
	for _, f := range []fake{
		{claimed: claimedAt(1, 1)},
		{err: &store.TransientError{Fault: store.FaultConnection, Err: errors.New("reset")}},
		{err: &store.BoundError{Field: "x"}},
		{},
	} {
		got, err := NewRecorder(f, l, "c", clock).Claim(context.Background(), poll)
		if got != f.claimed || !errors.Is(err, f.err) {
			t.Errorf("got %v, %v, want %v, %v", got, err, f.claimed, f.err)
		}
	}
	same(t, kinds(l), Sent, Answered, Sent, Failed, Sent, Failed, Sent, Failed)
	r := l.Records()
	if r[0].Client != "n1" || r[3].Fault != store.FaultConnection || r[3].Refused || !r[5].Refused || r[7].Refused {
		t.Errorf("got %+v", r)
	}
}

func BenchmarkLogIdlePoll(b *testing.B) {
	l := NewLog()
	reply := claimedAt(1, 0)
	call := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		call++
		l.Sent(0, call, "n1", poll)
		l.Applied(0, call, reply)
		l.Answered(0, call, reply)
	}
}

// told is a store that gives a hint when it is asked for hints.
type told struct{ store.Store }

func (told) Hints(hint func(string)) (stop func()) {
	hint("q")
	return func() { hint("stopped") }
}

func TestRecorderPassesHintsOn(t *testing.T) {
	var got []string
	hint := func(queue string) { got = append(got, queue) }
	now := func() int64 { return 0 }
	NewRecorder(told{}, NewLog(), "c", now).Hints(hint)()
	same(t, got, "q", "stopped")
	NewRecorder(nil, NewLog(), "c", now).Hints(hint)()
	same(t, got, "q", "stopped")
}
