package explore

import (
	"encoding/binary"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// Text implements pump.Walker.
func (w *writer) Text(s *string) {
	if !w.named { // the worker comes first, and goes without saying
		w.named = true
		return
	}
	w.byte(flags(*s != ""))
}

// Byte implements pump.Walker.
func (w *writer) Byte(v *uint8) { w.byte(int(*v)) }

// Bool implements pump.Walker.
func (w *writer) Bool(v *bool) { w.byte(flags(*v)) }

// Int implements pump.Walker.
func (w *writer) Int(v *int) { w.b = binary.AppendVarint(w.b, int64(*v)) }

// Op implements pump.Walker: a call that the pump waits for is known by its
// place among those.
func (w *writer) Op(v *pump.Op) {
	n := 0
	if *v != 0 {
		n = int(staleOp)
		for i, op := range w.p.ops {
			if op == *v {
				n = i + 1
				break
			}
		}
	}
	w.byte(n)
}

// The numbers of calls in a state that is worked on: those waited for count
// from 1, all others are stale, and new ones come after both.
const (
	staleOp pump.Op = 99
	lastOp  pump.Op = 100
)

// LastOp implements pump.Walker.
func (w *writer) LastOp(*pump.Op) {}

// Number implements pump.Walker.
func (w *writer) Number(v *uint64) { w.b = append(w.b, w.p.numbers.of(*v)) }

// Key implements pump.Walker.
func (w *writer) Key(k *store.LeaseKey) {
	w.b = append(w.b, byte(w.m.jobOf(k.Job)), byte(k.Attempt), w.p.numbers.of(k.Claim))
}

// Due implements pump.Walker. What comes due between two ticks is seen at the
// later one.
func (w *writer) Due(t *pump.Time) {
	switch d := t.Sub(w.m.now); {
	case *t == pump.Never:
		w.byte(writtenNever)
	case d < 0:
		w.byte(writtenPast)
	default:
		n := int((d + Tick - 1) / Tick)
		if n > 200 {
			refuseToWrite("something is due in %v", d)
		}
		w.byte(writtenNow + n)
	}
}

// Since implements pump.Walker. Older than a lease is as old as one.
func (w *writer) Since(t *pump.Time) {
	d := w.m.now.Sub(*t)
	if d < 0 || d%Tick != 0 {
		refuseToWrite("something counts from %v ago", d)
	}
	w.byte(min(int(d/Tick), leaseTicks))
}

// AnyDue implements pump.Walker: every node serves the only queue, so sweeps of
// any queue are left out.
func (w *writer) AnyDue(*pump.Time) {}

// Span implements pump.Walker. Only one length can be, without idle backoff.
func (w *writer) Span(d *time.Duration) {
	if *d != w.m.cfg.PollInterval {
		refuseToWrite("a poll interval of %v", *d)
	}
}

// span writes how long until work is due; pumps look at it when they are
// answered.
func (w *writer) span(d time.Duration) {
	if d%Tick != 0 {
		refuseToWrite("work that is due in %v", d)
	}
	w.byte(int(d / Tick))
}

// Outcome implements pump.Walker.
func (w *writer) Outcome(o *store.Outcome) {
	switch *o {
	case nil:
		w.byte(0)
	case store.Outcome(store.Failure{Error: failed}):
		w.byte(int(store.EndFailure))
	case store.Outcome(store.Released{}):
		w.byte(int(store.EndRelease))
	default:
		if s, ok := (*o).(store.Success); !ok || s.Output != nil {
			refuseToWrite("an outcome that nothing here can make: %#v", *o)
		}
		w.byte(int(store.EndSuccess))
	}
}

// Bytes implements pump.Walker: there is no progress here.
func (w *writer) Bytes(b *[]byte) {
	if *b != nil {
		refuseToWrite("progress")
	}
}

// Len implements pump.Walker.
func (w *writer) Len(have int) (want int) {
	w.byte(have)
	return have
}
