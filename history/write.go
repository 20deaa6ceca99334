package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"backwave/store"
)

// version is the format that Writer writes and Read reads.
const version = 1

// Writer writes a history as JSON lines: a header, then one record a line. It
// is a Sink; unlike a Log it keeps idle calls, since it cannot take a line
// back. It is not safe for goroutines. The first error stays, and Flush
// returns it.
type Writer struct {
	w    *bufio.Writer
	enc  *json.Encoder
	err  error
	each bool // every record is written out at once
	seq  uint64
	high store.Instant
	sent map[uint64]store.Instant // call -> highest instant answered before it was sent
}

// NewWriter returns a Writer to w and writes the header.
func NewWriter(w io.Writer) *Writer {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return &Writer{w: b, enc: enc, err: enc.Encode(wireHeader{version}), sent: map[uint64]store.Instant{}, high: minInstant}
}

// Flushed makes w write every record out at once, the header too, and returns
// w. A process that is killed then loses at most the line it was writing, and no
// caller has an answer that the history has not.
func (w *Writer) Flushed() *Writer {
	w.each = true
	w.flush()
	return w
}

// Write writes one record as it is.
func (w *Writer) Write(r *Record) {
	if w.err == nil {
		w.seq = max(w.seq, r.Seq)
		w.err = w.enc.Encode(toRecord(r))
	}
	if w.each {
		w.flush()
	}
}

func (w *Writer) flush() {
	if w.err == nil {
		w.err = w.w.Flush()
	}
}

// Flush writes out what is buffered and returns the first error of w.
func (w *Writer) Flush() error {
	w.flush()
	if w.err != nil {
		return fmt.Errorf("history: write: %w", w.err)
	}
	return nil
}

// Sent implements Sink.
func (w *Writer) Sent(at int64, call uint64, client string, req store.Request) {
	w.sent[call] = w.high
	w.next(Record{At: at, Kind: Sent, Call: call, Client: client, Req: req})
}

// Answered implements Sink.
func (w *Writer) Answered(at int64, call uint64, reply store.Reply) {
	now := reply.DecidedAt()
	if high, ok := w.sent[call]; ok && now < high {
		w.next(Record{At: at, Kind: Stepped, High: high})
	}
	delete(w.sent, call)
	w.high = max(w.high, now)
	w.next(Record{At: at, Kind: Answered, Call: call, Reply: reply})
}

// Failed implements Sink.
func (w *Writer) Failed(at int64, call uint64, err error) {
	delete(w.sent, call)
	w.next(Record{At: at, Kind: Failed, Call: call, Fault: store.FaultOf(err), Refused: refused(err), Err: err.Error()})
}

func (w *Writer) next(r Record) {
	r.Seq = w.seq + 1
	w.Write(&r)
}

// Write writes the whole of l to w.
func Write(w io.Writer, l *Log) error {
	out := NewWriter(w)
	records := l.Records()
	for i := range records {
		out.Write(&records[i])
	}
	return out.Flush()
}
