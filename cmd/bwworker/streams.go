package main

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// tail keeps the end of what is written to it.
type tail struct {
	most int
	buf  []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.most; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(p), nil
}

// String returns the end, as text.
func (t *tail) String() string {
	s := strings.TrimSpace(strings.ToValidUTF8(string(t.buf), ""))
	if t.cut {
		return "… " + s
	}
	return s
}

// head keeps the beginning of what is written to it.
type head struct {
	most int
	buf  []byte
}

func (h *head) Write(p []byte) (int, error) {
	h.buf = append(h.buf, p[:min(len(p), h.most-len(h.buf))]...)
	return len(p), nil
}

// lineWriter is shared by commands, which write whole lines to it.
type lineWriter struct {
	mu   sync.Mutex
	to   io.Writer
	tame bool // to is a terminal: control characters are escaped
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tame {
		_, err := io.WriteString(w.to, harmless(string(p)))
		return len(p), err
	}
	return w.to.Write(p)
}

// lines gathers what one command writes into whole lines.
type lines struct {
	to  io.Writer
	buf []byte
}

// maxLine is how long a line may grow before it is passed on in pieces.
const maxLine = 64 << 10

func (l *lines) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	n := bytes.LastIndexByte(l.buf, '\n') + 1
	if n == 0 && len(l.buf) >= maxLine {
		n = len(l.buf)
	}
	if n > 0 {
		_, _ = l.to.Write(l.buf[:n]) // a command must not fail because nobody reads
		l.buf = append(l.buf[:0], l.buf[n:]...)
	}
	return len(p), nil
}

func (l *lines) flush() {
	if len(l.buf) > 0 {
		_, _ = l.to.Write(append(l.buf, '\n'))
	}
}
