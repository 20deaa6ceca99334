package main

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backwave/store"
)

func TestHeadKeepsTheBeginning(t *testing.T) {
	h := &head{most: 3}
	for _, s := range []string{"a", "bcd", "e"} {
		if n, err := h.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("Write gave %d, %v", n, err)
		}
	}
	if string(h.buf) != "abc" {
		t.Errorf("it kept %q", h.buf)
	}
}

const (
	wild = "é\ta\x1b[2J\r\x00\x7f\u009b\x9b'\"\\\n"
	tame = "é\ta\\x1b[2J\\r\\x00\\x7f\\u009b\\x9b'\"\\\n"
)

func TestATerminalIsNotSteered(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var out bytes.Buffer
		want := map[bool]string{false: wild, true: tame}[terminal]
		l := &lines{to: &lineWriter{to: &out, tame: terminal}}
		if n, err := l.Write([]byte(wild)); n != len(wild) || err != nil || out.String() != want {
			t.Errorf("terminal %v: passed on %q, %d, %v; want %q", terminal, out.String(), n, err, want)
		}
	}
}

func TestOnlyDevicesAreTakenForTerminals(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // the one such device that is everywhere
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	for _, c := range []struct {
		to   io.Writer
		want bool
	}{{file, false}, {null, true}, {&bytes.Buffer{}, false}} {
		if got := newCommands(&masker{to: c.to}, slog.New(slog.DiscardHandler)).out.tame; got != c.want {
			t.Errorf("%T: taken for a terminal: %v, want %v", c.to, got, c.want)
		}
	}
}

func TestASummaryDoesNotSteerATerminal(t *testing.T) {
	var out bytes.Buffer
	s := &summary{Failed: []failedJob{{Name: "n\x1b", Queue: "q\x07", State: store.DeadLettered, Error: wild}}}
	if err := s.write(&out, "text"); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.ContainsAny(got, "\x1b\x07\x00\r") || !strings.Contains(got, `n\x1b (queue q\a) is dead-lettered: `+strings.TrimSpace(tame)) {
		t.Errorf("the summary is %q", got)
	}
}

func TestAByteOrderMarkIsSkipped(t *testing.T) {
	c, err := readConfig("w.yaml", []byte("\uFEFFgroups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := readJobs("j.jsonl", []byte("\uFEFF{\"name\": \"h\"}\n"), c, "")
	if err != nil || len(jobs) != 1 || jobs[0].Name != "h" {
		t.Errorf("the jobs are %+v, %v", jobs, err)
	}
}
