package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"backwave/store"
)

// The first byte of a stored payload. None is stored as null.
const (
	payloadLost  = 0 // the rest says why the payload, or the row, cannot be read
	payloadPlain = 1 // the rest is the payload
)

func packPayload(p []byte) []byte {
	if len(p) == 0 {
		return nil
	}
	return append(append(make([]byte, 0, len(p)+1), payloadPlain), p...)
}

// unpackPayload returns the payload, or why it cannot be read.
func unpackPayload(b []byte) (payload []byte, damage string) {
	switch {
	case b == nil:
		return nil, ""
	case len(b) == 0:
		return nil, "the payload has no format"
	case b[0] == payloadPlain:
		return b[1:], ""
	case b[0] == payloadLost:
		return nil, store.CleanText(string(b[1:]), store.MaxError)
	}
	return nil, fmt.Sprintf("the payload has the unknown format %d", b[0])
}

// The first byte of stored terms.
const (
	termsPolicy   = 1 // a policy, of which the ceiling and the delay of the attempt follow
	termsResolved = 2 // ceiling and delay themselves
)

// packPolicy is what a claim stamps. It holds the policy instead of the delay,
// so that a statement can stamp rows that it has not read.
func packPolicy(p store.Policy) []byte {
	p = p.WithDefaults()
	b := []byte{termsPolicy}
	for _, n := range []int64{int64(p.MaxAttempts), p.First.Microseconds(), int64(p.Factor), p.Cap.Microseconds(), int64(p.Jitter)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// packTerms keeps what was stamped when the base that it follows from changes.
func packTerms(j *store.Job) []byte {
	b := binary.AppendUvarint([]byte{termsResolved}, uint64(j.Ceiling))
	return binary.AppendUvarint(b, uint64(j.RetryDelay.Microseconds()))
}

var errTerms = errors.New("the terms cannot be read")

// unpackTerms fills in ceiling and delay of a job whose other columns are read.
func unpackTerms(b []byte, j *store.Job) error {
	if b == nil {
		return nil
	}
	r := reader{b: b}
	switch r.byte() {
	case termsPolicy:
		p := store.Policy{MaxAttempts: r.int(), First: r.duration(), Factor: r.int(), Cap: r.duration(), Jitter: r.int()}
		p.NoJitter = p.Jitter == 0
		p.First, p.Cap = max(p.First, 1), max(p.Cap, 1) // below a microsecond is not 0, which means the default
		j.Ceiling = p.MaxAttempts
		if j.MaxAttempts > 0 {
			j.Ceiling = j.MaxAttempts
		}
		j.RetryDelay = p.Delay(store.Token{Job: j.ID, Attempt: j.Attempt}, j.Attempt-j.Base)
	case termsResolved:
		j.Ceiling, j.RetryDelay = r.int(), r.duration()
	default:
		return errTerms
	}
	if !r.done() {
		return errTerms
	}
	return nil
}

// historyFormat is the first byte of a stored history: how many ends were
// dropped, the last failure text if its end was, the end of the last lease if no
// column has it, what was there before and could not be read, and the ends.
const historyFormat = 1

var errHistory = errors.New("the history cannot be read")

// history is what of a job's past has no column of its own.
type history struct {
	cut   int
	last  string        // text of the last failure, if its end was dropped
	until store.Instant // end of the last lease
	lost  []byte        // a history that could not be read
	ends  []store.End
}

func (h *history) pack() []byte {
	if h.cut == 0 && h.until == 0 && len(h.ends) == 0 && h.last == "" && len(h.lost) == 0 {
		return nil
	}
	b := binary.AppendUvarint([]byte{historyFormat}, uint64(h.cut))
	b = appendBytes(b, h.last)
	b = binary.AppendVarint(b, int64(h.until))
	b = appendBytes(b, string(h.lost))
	for i := range h.ends {
		e := &h.ends[i]
		b = binary.AppendUvarint(b, uint64(e.Attempt))
		b = binary.AppendUvarint(b, e.Claim)
		b = append(b, byte(e.Kind), byte(e.To))
		b = binary.AppendVarint(b, int64(e.At))
		b = binary.AppendVarint(b, int64(e.Due))
		b = binary.AppendUvarint(b, uint64(e.Lease.Microseconds()))
		b = appendBytes(b, e.Worker)
		b = appendBytes(b, e.Error)
	}
	return b
}

func unpackHistory(b []byte) (h history, err error) {
	if b == nil {
		return h, nil
	}
	r := reader{b: b}
	if r.byte() != historyFormat {
		return h, errHistory
	}
	h.cut, h.last, h.until, h.lost = r.int(), r.text(), store.Instant(r.varint()), []byte(r.text())
	for !r.bad && len(r.b) > 0 {
		h.ends = append(h.ends, store.End{
			Attempt: r.int(), Claim: r.uvarint(), Kind: store.EndKind(r.byte()), To: store.State(r.byte()),
			At: store.Instant(r.varint()), Due: store.Instant(r.varint()), Lease: r.duration(), Worker: r.text(), Error: r.text(),
		})
	}
	if r.bad {
		return history{}, errHistory
	}
	return h, nil
}

func appendBytes(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// reader takes a record apart; bad says that it ended too early.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) done() bool { return !r.bad && len(r.b) == 0 }

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.skip(n)
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	r.skip(n)
	return v
}

func (r *reader) skip(n int) {
	if n <= 0 {
		r.b, r.bad = nil, true
		return
	}
	r.b = r.b[n:]
}

func (r *reader) int() int { return int(r.uvarint()) }

func (r *reader) duration() time.Duration { return time.Duration(r.uvarint()) * time.Microsecond }

func (r *reader) text() string {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}
