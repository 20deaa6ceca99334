//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"backwave/engine"
	"backwave/store"
)

// told runs a command in this process and returns the job's output and the log.
func told(t *testing.T, fields string) (output string, log string, err error) {
	t.Helper()
	h := parseHandler(t, fields)
	var buf bytes.Buffer
	c := newCommands(&bytes.Buffer{}, slog.New(slog.NewTextHandler(&buf, nil)))
	job := &engine.RawJob{Name: "h", Queue: "q", Attempt: 1}
	err = c.run(t.Context(), &h.command, job)
	return string(job.Output()), buf.String(), err
}

func TestWhereAndWithWhatACommandRuns(t *testing.T) {
	t.Setenv("BW_TEST_MINE", "inherited")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "here"), []byte("#!/bin/sh\npwd; echo \"$A $BW_TEST_MINE $BW_JOB_NAME $BW_FD\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	fields := "command: [./here]\nstdout: output\ndir: " + dir + "\nenv: {A: one two}"
	if out, _, err := told(t, fields); out != dir+"\none two inherited h 3\n" || err != nil {
		t.Errorf("it printed %q, %v", out, err)
	}
	if out, _, err := told(t, fields+"\ninherit_env: false"); out != dir+"\none two  h 3\n" || err != nil {
		t.Errorf("it printed %q, %v", out, err)
	}
}

func TestLimitsOfACommand(t *testing.T) {
	out, _, err := told(t, "command: [sh, -c, 'ulimit -S -t; ulimit -H -t; ulimit -v; ulimit -n']\nstdout: output\nlimits: {cpu: 7s, memory: 512MiB, open_files: 33}")
	if want := "7\n8\n524288\n33\n"; out != want || err != nil {
		t.Errorf("its limits are %q, %v; want %q", out, err, want)
	}
	_, _, err = told(t, "command: [sh, -c, 'while :; do :; done']\nlimits: {cpu: 1s}")
	if err == nil || !strings.Contains(strings.ToLower(err.Error()), "cpu") {
		t.Errorf("a command that ran too long ended with %v", err)
	}
}

func TestTheSideChannel(t *testing.T) {
	out, log, err := told(t, "command: [sh, -c, 'echo progress 10% >&3; echo ignored; echo output one >&3; echo >&3; printf \"progress 42%% loading\\noutput two\" >&3']\nstdout: output")
	if out != "one\ntwo\n" || log != "" || err != nil {
		t.Errorf("the output is %q, logged was %q, %v", out, log, err)
	}
	out, log, err = told(t, "command: [sh, -c, 'echo what >&3; echo where >&3; head -c 100000 /dev/zero >&3; echo >&3; echo output kept >&3']")
	if out != "kept\n" || strings.Count(log, "neither progress nor output") != 1 || err != nil {
		t.Errorf("the output is %q, logged was %q, %v", out, log, err)
	}
	_, log, err = told(t, "command: [sh, -c, '(printf \"progress \"; head -c 5000 /dev/zero | tr \"\\0\" x; echo) >&3']")
	if strings.Count(log, "progress not kept") != 1 || err != nil {
		t.Errorf("logged was %q, %v", log, err)
	}
	_, _, err = told(t, "command: [sh, -c, 'i=0; while [ $i -lt 9 ]; do (printf \"output \"; head -c 9000 /dev/zero; echo) >&3; i=$((i+1)); done']")
	if err == nil || !strings.Contains(err.Error(), "at most 65536 are allowed") {
		t.Errorf("too much output ended with %v", err)
	}
}

// A child that keeps the channel open does not keep the attempt.
func TestAChildThatHoldsTheSideChannel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, err := told(t, "command: [sh, -c, 'echo output fine >&3; (read line <"+path+"; echo output late >&3) >/dev/null 2>&1 & exit 0']\nkill_after: 200ms")
	if out != "fine\n" || err != nil {
		t.Errorf("the output is %q, %v", out, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // waits for the child, and lets it end
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

// watched tells of progress that is stored.
type watched struct {
	store.Store
	progress chan string
}

func (w *watched) Renew(ctx context.Context, r *store.Renew) (*store.Renewed, error) {
	out, err := w.Store.Renew(ctx, r)
	for _, row := range r.Rows {
		if row.Progress != nil {
			w.progress <- string(row.Progress)
		}
	}
	return out, err
}

func TestProgressReachesTheStore(t *testing.T) {
	b := newBench(t)
	st := &watched{b.st, make(chan string, 100)}
	b.open = func(context.Context, target) (*opened, error) { return &opened{Store: st, close: func() {}}, nil }
	file := filepath.Join(t.TempDir(), "w.yaml")
	text := "groups: [{name: g, queues: [default], lease_duration: 1s, operation_timeout: 100ms, heartbeat_interval: 100ms}]\nhandlers: {slow: {command: [sh, -c, 'echo progress 42% >&3; exec sleep 1000']}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitDone, "enqueue slow")
	go func() {
		if p := <-st.progress; p != "42%" {
			t.Errorf("the progress is %q", p)
		}
		a := *b.app
		a.stdout = io.Discard
		if code := a.program([]string{"jobs", "cancel", b.only("default").ID.String()}); code != exitDone {
			t.Errorf("cancel ended with %d", code)
		}
	}()
	b.run(exitDone, "run", "-c", file, "--until-empty")
	if j := b.only("default"); j.State != store.Cancelled || string(j.Progress) != "42%" {
		t.Errorf("the job is %v with progress %q", j.State, j.Progress)
	}
}

func TestATimeoutOfTheHandlerItself(t *testing.T) {
	p := start(t, `
groups: [{name: g, queues: [q], retry: {max_attempts: 1}}, {name: other, queues: [o], retry: {max_attempts: 1}, timeouts: {slow: 200ms}}]
handlers: {slow: {timeout: 100ms, command: [sleep, '1000']}}
`, "{\"name\": \"slow\"}\n{\"name\": \"slow\", \"queue\": \"o\"}\n", "--until-empty", "--format", "json")
	p.exit(exitFailed)
	s := p.summary()
	if len(s.Failed) != 2 || !strings.Contains(s.Failed[0].Error, "timed out") {
		t.Errorf("the summary is %+v", s)
	}
}

func TestRequestsOfAWholeWorker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that nobody else takes meanwhile, most likely
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	var s summary
	p := start(t, `
groups: [{name: g, queues: [q], retry: {max_attempts: 1}}]
handlers: {post: {url: 'http://`+l.Addr().String()+`/nobody', timeout: 5s}}
`, `{"name": "post"}`, "--until-empty", "--format", "json")
	p.exit(exitFailed)
	if err := json.Unmarshal(p.stdout.Bytes(), &s); err != nil || len(s.Failed) != 1 || !strings.Contains(s.Failed[0].Error, "refused") {
		t.Errorf("the summary is %+v, %v", s, err)
	}
}
