//go:build unix

package main

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backwave/checker"
	"backwave/history"
	"backwave/store"
)

// recorded reads a history and judges it.
func recorded(t *testing.T, name string) *history.Log {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	l, cut, err := history.Read(file)
	if err != nil || cut.Line != 0 {
		t.Fatalf("the recording: %v, cut at line %d", err, cut.Line)
	}
	if got := checker.CheckLinear(l, checker.LinearOptions{Completions: true}); got.BlackBox != checker.Held {
		t.Errorf("the recording is judged %+v", got)
	}
	return l
}

// leases counts the leases and the outcomes that a history tells of.
func leases(l *history.Log) (given, applied int) {
	for _, r := range l.Records() {
		if p, ok := r.Reply.(*store.Claimed); ok {
			given += len(p.Leases)
		}
		if p, ok := r.Reply.(*store.Reported); ok {
			for _, a := range p.Rows {
				if a.Status == store.ReportApplied {
					applied++
				}
			}
		}
	}
	return given, applied
}

const quickConfig = "groups: [{name: g, queues: [q], poll_interval: 1h, operation_timeout: 1s}]\nhandlers: {h: {command: [echo, started]}}\n"

func TestAWorkerRecordsItsCalls(t *testing.T) {
	name := filepath.Join(t.TempDir(), "h.jsonl")
	p := start(t, quickConfig, `{"name": "h"}`+"\n"+`{"name": "h"}`+"\n", "--until-empty", "--record", name)
	p.exit(exitDone)
	if given, applied := leases(recorded(t, name)); given != 2 || applied != 2 {
		t.Errorf("%d leases and %d outcomes were recorded, want 2 of each", given, applied)
	}
	if st, err := os.Stat(name); err != nil || st.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the payloads: %v, %v", st.Mode(), err)
	}
}

// What a worker has done is in its recording even if it is killed.
func TestAKilledWorkerHasRecordedItsClaim(t *testing.T) {
	name := filepath.Join(t.TempDir(), "h.jsonl")
	p := start(t, "groups: [{name: g, queues: [q]}]\nhandlers: {h: {command: [sh, -c, 'echo started; sleep 2']}}\n", `{"name": "h"}`+"\n", "--record", name)
	p.see("started")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.ended()
	if given, applied := leases(recorded(t, name)); given != 1 || applied != 0 {
		t.Errorf("%d leases and %d outcomes were recorded, want one and none", given, applied)
	}
}

// A recorded worker hears of new jobs as any other does.
func TestHintsReachARecordedWorker(t *testing.T) {
	dir := t.TempDir()
	dsn := "sqlite:" + filepath.Join(dir, "jobs.db")
	p := start(t, quickConfig, `{"name": "h"}`+"\n", "--store", dsn, "--record", filepath.Join(dir, "worker.jsonl"))
	p.see("started") // by its first claim; the next is an hour away
	e := command(t, "", "enqueue", "h", "--queue", "q", "--store", dsn, "--record", filepath.Join(dir, "client.jsonl"))
	e.exit(exitDone)
	p.see("started")
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.exit(exitDone)
	if got := recorded(t, filepath.Join(dir, "client.jsonl")).Records(); len(got) != 2 || got[0].Kind != history.Sent || !strings.HasPrefix(got[0].Client, "bwworker ") {
		t.Errorf("the enqueue was recorded as %+v", got)
	}
}

func TestARecordingIsNotOverwritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "h.jsonl")
	if err := os.WriteFile(name, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.run(exitUsage, "enqueue h --record "+name)
	b.says("bwworker: --record: ", "file exists")
	if text, err := os.ReadFile(name); err != nil || string(text) != "precious" {
		t.Errorf("the file is now %q, %v", text, err)
	}
	b.run(exitUsage, "queues pause q --record "+filepath.Join(name, "x"))
	b.says("--record: ")
	if views, err := b.st.Queues(t.Context()); len(views) != 0 || err != nil {
		t.Errorf("something was done all the same: %+v, %v", views, err)
	}
}

// A full disk costs the recording and the exit code, not the work.
func TestARecordingThatCannotBeWritten(t *testing.T) {
	var log strings.Builder
	file, err := os.Create(filepath.Join(t.TempDir(), "h.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	r := &recording{log: slog.New(slog.NewTextHandler(&log, nil)), file: file}
	w := history.NewWriter(r).Flushed()
	w.Sent(1, 1, "c", &store.Sweep{})
	w.Sent(2, 2, "c", &store.Sweep{})
	if strings.Count(log.String(), "the recording ends here") != 1 {
		t.Errorf("the log is %q", log.String())
	}
	lost := r.end()
	if !errors.Is(lost, os.ErrClosed) {
		t.Errorf("the end says %v", lost)
	}
	if _, err := r.Write(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a write after the end: %v", err)
	}
	for _, c := range []struct {
		err  error
		code int
	}{{nil, exitFailed}, {&exitError{exitAbandoned, nil}, exitAbandoned}, {&exitError{exitFailed, io.EOF}, exitFailed}} {
		got, ok := errors.AsType[*exitError](orLost(c.err, lost))
		if !ok || got.code != c.code || !errors.Is(got, lost) {
			t.Errorf("%v becomes %v", c.err, got)
		}
	}
	if err := orLost(io.EOF, nil); !errors.Is(err, io.EOF) {
		t.Errorf("with all recorded, the error is %v", err)
	}
}

func TestTheRecordingsClockGoesForward(t *testing.T) {
	times := []int64{5, 3, 7}
	now := neverBack(func() time.Time { n := times[0]; times = times[1:]; return time.Unix(0, n) })
	if a, b, c := now(), now(), now(); a != 5 || b != 5 || c != 7 {
		t.Errorf("it reads %d, %d, %d", a, b, c)
	}
}
