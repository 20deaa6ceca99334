package clockx_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/clockx"
)

const ms = int64(time.Millisecond)

func TestFoldTables(t *testing.T) {
	type reading struct {
		mono, wall, now int64
		jumped          bool
	}
	for _, c := range []struct {
		name     string
		readings []reading
	}{
		{"both clocks agree", []reading{{0, 0, 0, false}, {10 * ms, 10 * ms, 10 * ms, false}}},
		{"the first reading gives the start", []reading{{7, 1000 * ms, 7, false}}},
		{"a suspend is counted once", []reading{{0, 0, 0, false}, {ms, 600_000 * ms, 600_000 * ms, true}, {2 * ms, 600_001 * ms, 600_001 * ms, false}}},
		{"50 ms ahead is not counted, nor are the next 50", []reading{{0, 0, 0, false}, {0, 50 * ms, 0, false}, {0, 100 * ms, 0, false}}},
		{"a nanosecond more is, all of it", []reading{{0, 0, 0, false}, {0, 50*ms + 1, 50*ms + 1, true}}},
		{"a wall clock set back changes nothing", []reading{{0, 0, 0, false}, {ms, -3_600_000 * ms, ms, false}, {2 * ms, -3_599_999 * ms, 2 * ms, false}}},
		{"a monotonic clock that steps back stands still", []reading{{0, 0, 0, false}, {10 * ms, 10 * ms, 10 * ms, false}, {5 * ms, 11 * ms, 10 * ms, false}, {10 * ms, 16 * ms, 10 * ms, false}, {11 * ms, 17 * ms, 11 * ms, false}}},
		{"the ends of the range", []reading{{0, math.MinInt64, 0, false}, {0, math.MaxInt64, math.MaxInt64, true}, {1, 0, math.MaxInt64, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f clockx.Fold
			for i, r := range c.readings {
				now, jumped := f.Read(r.mono, r.wall)
				if now != r.now || jumped != r.jumped {
					t.Errorf("reading %d: Read(%d, %d) = %d, %v; want %d, %v", i, r.mono, r.wall, now, jumped, r.now, r.jumped)
				}
			}
		})
	}
}

// Whatever the clocks do, node time never decreases, never runs slower than
// the monotonic clock, and moves further only together with jumped.
func TestFoldProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f clockx.Fold
		mono := rapid.Int64Range(0, math.MaxInt64/4).Draw(t, "mono")
		wall := rapid.Int64Range(math.MinInt64/4, math.MaxInt64/4).Draw(t, "wall")
		last, _ := f.Read(mono, wall)
		for range rapid.IntRange(1, 30).Draw(t, "readings") {
			step := rapid.Int64Range(0, 100_000*ms).Draw(t, "step")
			drift := rapid.Int64Range(-100_000*ms, 100_000*ms).Draw(t, "drift")
			mono += step
			wall += step + drift
			now, jumped := f.Read(mono, wall)
			want := step
			if drift > int64(clockx.Tolerance) {
				want += drift
			}
			if now-last != want || jumped != (want != step) {
				t.Fatalf("a step of %d with the wall %d ahead moved node time by %d (jumped %v), want %d", step, drift, now-last, jumped, want)
			}
			last = now
		}
	})
}

// A wall clock that wobbles within the tolerance must not push node time
// ahead, however often it is read.
func TestFoldDoesNotRatchet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f clockx.Fold
		f.Read(0, 0)
		mono, now := int64(0), int64(0)
		for range rapid.IntRange(1, 200).Draw(t, "readings") {
			mono += rapid.Int64Range(0, 1000*ms).Draw(t, "step")
			now, _ = f.Read(mono, mono+rapid.Int64Range(-25*ms, 25*ms).Draw(t, "wobble"))
		}
		if now != mono {
			t.Fatalf("node time is %d after %d of monotonic time", now, mono)
		}
	})
}

// Any readings at all, the absurd ones included, keep the order of time.
func TestFoldNeverDecreases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f clockx.Fold
		last := int64(math.MinInt64)
		for range 20 {
			now, _ := f.Read(rapid.Int64().Draw(t, "mono"), rapid.Int64().Draw(t, "wall"))
			if now < last {
				t.Fatalf("node time went from %d to %d", last, now)
			}
			last = now
		}
	})
}

func TestNodeTimeFollowsItsClock(t *testing.T) {
	m := clockx.NewMock()
	n := clockx.NewNodeTime(m)
	m.Add(1500 * time.Millisecond)
	if now, jumped := n.Read(); now != 1500*ms || jumped {
		t.Errorf("after 1.5 s node time is %d, jumped %v", now, jumped)
	}
	m.Set(m.Now().Add(-time.Hour))
	if now, jumped := n.Read(); now != 1500*ms || jumped {
		t.Errorf("an hour back node time is %d, jumped %v", now, jumped)
	}
}

func TestNodeTimeReadsTheRealClock(t *testing.T) {
	n := clockx.NewNodeTime(clockx.Wall{})
	a, _ := n.Read()
	b, _ := n.Read()
	if a < 0 || b < a {
		t.Errorf("node time went from %d to %d", a, b)
	}
}
