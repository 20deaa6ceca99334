package explore

import (
	"encoding/binary"
	"fmt"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// Text implements pump.Walker.
func (r *reader) Text(s *string) {
	if !r.named {
		r.named, *s = true, r.p.name
		return
	}
	*s = ""
	if r.byte() != 0 {
		*s = "a fault"
	}
}

// Byte implements pump.Walker.
func (r *reader) Byte(v *uint8) { *v = uint8(r.byte()) }

// Bool implements pump.Walker.
func (r *reader) Bool(v *bool) { *v = r.byte() != 0 }

// Int implements pump.Walker.
func (r *reader) Int(v *int) {
	x, n := binary.Varint(r.b)
	*v, r.b = int(x), r.b[n:]
}

// Op implements pump.Walker.
func (r *reader) Op(v *pump.Op) { *v = pump.Op(r.byte()) }

// LastOp implements pump.Walker.
func (r *reader) LastOp(v *pump.Op) { *v = lastOp }

// Number implements pump.Walker.
func (r *reader) Number(v *uint64) { *v = uint64(r.byte()) }

// Key implements pump.Walker.
func (r *reader) Key(k *store.LeaseKey) {
	i := r.byte()
	r.p.touches |= 1 << i
	k.Job = r.m.jobs[i].id
	k.Attempt = r.byte()
	k.Claim = uint64(r.byte())
}

// Due implements pump.Walker.
func (r *reader) Due(t *pump.Time) {
	switch v := r.byte(); v {
	case writtenNever:
		*t = pump.Never
	case writtenPast:
		*t = base - 1
	default:
		*t = base.Add(time.Duration(v-writtenNow) * Tick)
	}
}

// Since implements pump.Walker.
func (r *reader) Since(t *pump.Time) { *t = base - pump.Time(int64(r.byte())*int64(Tick)) }

// AnyDue implements pump.Walker.
func (r *reader) AnyDue(t *pump.Time) { *t = pump.Never }

// Span implements pump.Walker.
func (r *reader) Span(d *time.Duration) { *d = r.m.cfg.PollInterval }

// Outcome implements pump.Walker.
func (r *reader) Outcome(o *store.Outcome) {
	switch k := store.EndKind(r.byte()); k {
	case 0:
		*o = nil
	case store.EndSuccess:
		*o = store.Success{}
	case store.EndFailure:
		*o = store.Failure{Error: failed}
	case store.EndRelease:
		*o = store.Released{}
	case store.EndDiscard, store.EndSnooze, store.EndUnknownName, store.EndUndecodable, store.EndLapse, store.EndCancel, store.EndForce:
		panic(fmt.Sprintf("explore: no outcome of kind %v is written", k))
	}
}

// Bytes implements pump.Walker.
func (r *reader) Bytes(b *[]byte) { *b = nil }

// Len implements pump.Walker.
func (r *reader) Len(int) (want int) { return r.byte() }
