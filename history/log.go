package history

import (
	"errors"
	"math"
	"slices"

	"backwave/store"
)

// minInstant is before every reading of a store's clock.
const minInstant = store.Instant(math.MinInt64)

// Log is a history in memory. It is not safe for goroutines.
//
// Unless KeepIdle is set it drops calls that were answered with nothing: an
// idle claim or sweep constrains no checker, and a node makes one every
// second. It keeps those that met a store clock which had stepped back.
type Log struct {
	KeepIdle bool

	records []Record
	dropped int // records whose Kind is 0, waiting for compaction
	seq     uint64
	high    store.Instant // highest instant in an answer so far
	applied store.Instant // instant of the last Applied
	open    []openCall    // sent and not answered, in the order of sending
}

// openCall is a call that has no answer yet.
type openCall struct {
	call    uint64
	sent    int           // index of its Sent record
	applied int           // index of its one idle Applied record, or -1
	high    store.Instant // Log.high when it was sent
	keep    bool          // more is known of it than an idle answer
}

// NewLog returns an empty log.
func NewLog() *Log {
	l := &Log{}
	l.Reset()
	return l
}

// Reset empties l and keeps its memory.
func (l *Log) Reset() {
	clear(l.records)
	*l = Log{KeepIdle: l.KeepIdle, records: l.records[:0], open: l.open[:0], high: minInstant, applied: minInstant}
}

// Records returns what happened, in order. The slice is good until the next
// change of l and must not be written.
func (l *Log) Records() []Record {
	l.compact()
	return l.records
}

// Blur lets every call in l be sent earlier, and answered later, by so many
// nanoseconds: for records of which the times are not known better. Only the
// times change; Merge orders by them.
func (l *Log) Blur(by int64) {
	for i := range l.records {
		switch r := &l.records[i]; r.Kind {
		case Sent:
			r.At -= by
		case Answered, Failed:
			r.At += by
		case Applied, Lost, Doubled, Forgot, Stepped:
		}
	}
}

// Seq returns the position of the last thing told to l, kept or not: what is
// told later is after it.
func (l *Log) Seq() uint64 { return l.seq }

// Sent notes that client sent call. Ids are never used twice.
func (l *Log) Sent(at int64, call uint64, client string, req store.Request) {
	l.open = append(l.open, openCall{call: call, sent: len(l.records), applied: -1, high: l.high})
	l.add(Record{At: at, Kind: Sent, Call: call, Client: client, Req: req})
}

// Answered notes that the caller of call got reply.
func (l *Log) Answered(at int64, call uint64, reply store.Reply) {
	now := reply.DecidedAt()
	l.high = max(l.high, now)
	i := l.find(call)
	if i >= 0 {
		o := l.open[i]
		l.open = slices.Delete(l.open, i, i+1)
		back := now < o.high
		if !back && !o.keep && !l.KeepIdle && idle(reply) {
			l.drop(o)
			l.seq++
			return
		}
		if back {
			l.add(Record{At: at, Kind: Stepped, High: o.high})
		}
	}
	l.add(Record{At: at, Kind: Answered, Call: call, Reply: reply})
}

// Failed notes that the caller of call got err instead of a reply.
func (l *Log) Failed(at int64, call uint64, err error) {
	if i := l.find(call); i >= 0 {
		l.open = slices.Delete(l.open, i, i+1)
	}
	l.add(Record{At: at, Kind: Failed, Call: call, Fault: store.FaultOf(err), Refused: refused(err), Err: err.Error()})
}

// refused reports whether err says that nothing was carried out.
func refused(err error) bool {
	if _, ok := errors.AsType[*store.BoundError](err); ok {
		return true
	}
	_, ok := errors.AsType[*store.InvalidError](err)
	return ok
}

// Applied notes that the store carried call out now and decided reply, whether
// or not the caller will ever hear of it. It may happen more than once for one
// call, and after its answer; a call that will be carried out again after an
// idle answer must have been Doubled before that answer, else l has dropped it.
func (l *Log) Applied(at int64, call uint64, reply store.Reply) {
	now := reply.DecidedAt()
	back := now < l.applied
	if back {
		l.add(Record{At: at, Kind: Stepped, High: l.applied})
	} else {
		l.applied = now
	}
	nothing := idle(reply) && now >= l.applied && !l.KeepIdle
	i := l.find(call)
	switch {
	case i < 0 && nothing: // one more copy of an answered call, and it did nothing
		l.seq++
		return
	case i >= 0 && nothing && l.open[i].applied < 0:
		l.open[i].applied = len(l.records)
	case i >= 0:
		l.open[i].keep = true
	}
	l.add(Record{At: at, Kind: Applied, Call: call, Reply: reply})
}

// Lost notes that what is still under way of call will never be carried out.
func (l *Log) Lost(at int64, call uint64) { l.mark(at, call, Lost) }

// Doubled notes that one more copy of call is under way.
func (l *Log) Doubled(at int64, call uint64) { l.mark(at, call, Doubled) }

func (l *Log) mark(at int64, call uint64, k Kind) {
	if i := l.find(call); i >= 0 {
		l.open[i].keep = true
	}
	l.add(Record{At: at, Kind: k, Call: call})
}

// Forgot notes that the store lost every effect after the record to (see Seq).
// Its clock may show any instant from here on.
func (l *Log) Forgot(at int64, to uint64) {
	l.add(Record{At: at, Kind: Forgot, To: to})
}

func (l *Log) add(r Record) {
	l.seq++
	r.Seq = l.seq
	l.records = append(l.records, r)
}

// find returns the place of call in l.open, or -1. It looks from the end, where
// the calls are that were sent of late; what is never answered stays in front.
func (l *Log) find(call uint64) int {
	for i := len(l.open) - 1; i >= 0; i-- {
		if l.open[i].call == call {
			return i
		}
	}
	return -1
}

// drop removes the records of o. Those at the end go at once, the others when
// they are half of all.
func (l *Log) drop(o openCall) {
	l.records[o.sent] = Record{}
	l.dropped++
	if o.applied >= 0 {
		l.records[o.applied] = Record{}
		l.dropped++
	}
	for n := len(l.records); n > 0 && l.records[n-1].Kind == 0; n-- {
		l.records = l.records[:n-1]
		l.dropped--
	}
	if l.dropped > 1024 && l.dropped > len(l.records)/2 {
		l.compact()
	}
}

// compact closes the gaps that drop left.
func (l *Log) compact() {
	if l.dropped == 0 {
		return
	}
	moved := make([]int, len(l.records)) // old index -> new index
	n := 0
	for i := range l.records {
		moved[i] = n
		if l.records[i].Kind != 0 {
			l.records[n] = l.records[i]
			n++
		}
	}
	clear(l.records[n:])
	l.records, l.dropped = l.records[:n], 0
	for i := range l.open {
		l.open[i].sent = moved[l.open[i].sent]
		if l.open[i].applied >= 0 {
			l.open[i].applied = moved[l.open[i].applied]
		}
	}
}
