package pump_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/engine/pump"
	"backwave/store"
)

// tape is a Walker that writes a pump down, or makes another one the same. What
// a Walker may change without changing the pump it does change.
type tape struct {
	vals    []any
	reading bool
	now     pump.Time
	lease   time.Duration
}

func play[T any](w *tape, v *T, form func(T) T) {
	if w.reading {
		*v, _ = w.vals[0].(T) // of a nil outcome no type is left
		w.vals = w.vals[1:]
		return
	}
	w.vals = append(w.vals, form(*v))
}

func plain[T any](v T) T { return v }

func (w *tape) Byte(v *uint8)            { play(w, v, plain) }
func (w *tape) Bool(v *bool)             { play(w, v, plain) }
func (w *tape) Int(v *int)               { play(w, v, plain) }
func (w *tape) Op(v *pump.Op)            { play(w, v, plain) }
func (w *tape) LastOp(v *pump.Op)        { play(w, v, plain) }
func (w *tape) Number(v *uint64)         { play(w, v, plain) }
func (w *tape) Key(v *store.LeaseKey)    { play(w, v, plain) }
func (w *tape) Span(v *time.Duration)    { play(w, v, plain) }
func (w *tape) AnyDue(v *pump.Time)      { w.Due(v) }
func (w *tape) Bytes(v *[]byte)          { play(w, v, plain) }
func (w *tape) Outcome(v *store.Outcome) { play(w, v, plain) }
func (w *tape) Len(have int) int {
	play(w, &have, plain)
	return have
}

func (w *tape) Text(v *string) {
	play(w, v, func(s string) string {
		if s != "" && s != "w1" {
			return "some fault"
		}
		return s
	})
}

func (w *tape) Due(v *pump.Time) {
	play(w, v, func(t pump.Time) pump.Time {
		if t < w.now {
			return w.now - 1
		}
		return t
	})
}

func (w *tape) Since(v *pump.Time) {
	play(w, v, func(t pump.Time) pump.Time { return max(t, w.now-pump.Time(w.lease)) })
}

// rewritten returns a pump that was made of what Walk shows of the pump of m.
func rewritten(m *machine) *pump.Pump {
	w := &tape{now: m.now, lease: m.cfg.Resolved().LeaseDuration}
	m.pump.Walk(w)
	p := pump.New(m.cfg, "another", 0)
	p.Blank(m.now)
	w.reading = true
	p.Walk(w)
	return p
}

// A pump that was written down and made again does what the first one does,
// whatever happened before and happens then.
func TestAWalkShowsAllThatDecides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		rewrite := func(*rapid.T) { m.twin = rewritten(m) }
		actions := m.actions()
		actions["rewrite"], actions["rewriteMore"] = rewrite, rewrite
		actions[""] = func(t *rapid.T) { sameDeadline(t, m) }
		t.Repeat(actions)
	})
}

// sameDeadline checks that the twin wakes up when the pump does: it may have
// forgotten how early the pump would do so for nothing.
func sameDeadline(t *rapid.T, m *machine) {
	if m.twin == nil {
		return
	}
	if is, was := max(m.twin.Deadline(), m.now), max(m.pump.Deadline(), m.now); is < was {
		t.Fatalf("at %v a pump made again wakes up at %v, and the first one at %v", m.now, is, was)
	}
}
