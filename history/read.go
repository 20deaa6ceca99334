package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"backwave/store"
)

// maxLine bounds a line, in bytes: a request of many jobs with large payloads
// is far below it.
const maxLine = 256 << 20

// Cut is a last line that its writer did not finish.
type Cut struct {
	Line int    // from 1; 0 if nothing was cut
	Text string // what is there of it, cut to a readable length
}

// Read reads a whole history. Blank lines are skipped. A last line without its
// line end that is no record is what a crashed process leaves behind: it is
// reported in cut and is no error. Anything else that is not as the format
// says is a *LineError; the log then holds the lines before it.
func Read(r io.Reader) (l *Log, cut Cut, err error) {
	d := reader{in: bufio.NewReaderSize(r, 64<<10), log: NewLog(), calls: map[uint64]*callRead{}}
	d.log.KeepIdle = true
	err = d.all()
	return d.log, d.cut, err
}

// callRead is what the reader keeps of a call to see that its answer fits.
type callRead struct {
	req      store.Request
	answered bool
}

type reader struct {
	in    *bufio.Reader
	log   *Log
	calls map[uint64]*callRead
	line  int
	cut   Cut
}

func (d *reader) all() error {
	header := false
	for {
		text, err := d.next()
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return fmt.Errorf("history: line %d: %w", d.line, err)
		}
		text = bytes.TrimRight(text, "\r\n")
		if len(bytes.TrimSpace(text)) > 0 {
			take := d.record
			if !header {
				take = d.header
			}
			if err := take(text); err != nil {
				if !ended || complete(text) {
					return err
				}
				d.cut = Cut{d.line, short(text)}
				return nil
			}
			header = true
		}
		if ended {
			if !header {
				return ErrEmpty
			}
			return nil
		}
	}
}

// complete reports whether text is a whole JSON value: then its writer was not
// interrupted, and what is wrong with it is an error.
func complete(text []byte) bool { return json.Valid(text) }

// next returns one line with its end; io.EOF comes with the last one.
func (d *reader) next() (line []byte, err error) {
	d.line++
	for {
		part, err := d.in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (d *reader) wrong(text []byte, want string, err error) error {
	return &LineError{Line: d.line, Want: want, Text: short(text), Err: err}
}

func short(text []byte) string { return store.CleanText(string(text), 200) }

func (d *reader) header(text []byte) error {
	var h wireHeader
	if err := decode(text, &h); err != nil || h.Version != version {
		return d.wrong(text, fmt.Sprintf(`the header {"backwave_history":%d}`, version), err)
	}
	return nil
}

func (d *reader) record(text []byte) error {
	var w wireRecord
	if err := decode(text, &w); err != nil {
		return d.wrong(text, "a record", err)
	}
	r, err := fromRecord(&w)
	if err != nil {
		return d.wrong(text, "a record of one kind", err)
	}
	if r.Seq <= d.log.seq {
		return d.wrong(text, fmt.Sprintf("a seq above %d", d.log.seq), nil)
	}
	if want := d.fits(&r); want != "" {
		return d.wrong(text, want, nil)
	}
	d.log.seq = r.Seq
	d.log.records = append(d.log.records, r)
	return nil
}

// fits returns what was expected in place of r, "" if r is right where it is.
func (d *reader) fits(r *Record) string {
	if r.Kind == Forgot {
		if r.To >= r.Seq {
			return "a forgot whose to is before it"
		}
		return ""
	}
	if r.Kind == Stepped {
		return ""
	}
	c := d.calls[r.Call]
	switch {
	case r.Kind == Sent && c != nil:
		return "a call id that was not sent before"
	case r.Kind == Sent:
		d.calls[r.Call] = &callRead{req: r.Req}
		return ""
	case c == nil:
		return "the id of a call that was sent before"
	case r.Reply != nil && !answers(c.req, r.Reply):
		return "a reply that fits its request"
	}
	if r.Kind == Answered || r.Kind == Failed {
		if c.answered {
			return "one answer per call"
		}
		c.answered = true
	}
	return ""
}

// answers reports whether p is of the kind that q asks for.
func answers(q store.Request, p store.Reply) (ok bool) {
	switch q.(type) {
	case *store.Claim:
		_, ok = p.(*store.Claimed)
	case *store.Renew:
		_, ok = p.(*store.Renewed)
	case *store.Report:
		_, ok = p.(*store.Reported)
	case *store.Sweep:
		_, ok = p.(*store.Swept)
	case *store.Enqueue:
		_, ok = p.(*store.Enqueued)
	case *store.Do:
		_, ok = p.(*store.Done)
	}
	return ok
}

// decode reads one JSON value strictly: a misspelt field is an error, not
// silence.
func decode(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more than one value")
	}
	return nil
}
