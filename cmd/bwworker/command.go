package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"backwave/engine"
	"backwave/store"
)

// commands runs handlers that are commands, each in a process group of its
// own, so that whatever it starts can be stopped with it.
type commands struct {
	out *lineWriter // of commands whose output is passed on

	mu   sync.Mutex
	live map[int]struct{} // process groups
	shut bool
}

func newCommands(out io.Writer) *commands {
	return &commands{out: &lineWriter{to: out}, live: map[int]struct{}{}}
}

// stderrTail is how much of a command's standard error a failure keeps.
const stderrTail = 4 << 10

var errShut = errors.New("the worker is exiting")

// run is the handler of the jobs of h: it runs the command and returns nil if
// it exits with 0.
func (c *commands) run(ctx context.Context, h *handlerConfig, job *engine.RawJob) error {
	cmd := exec.Command(h.argv[0], h.argv[1:]...) // not CommandContext, which would kill the command alone, and at once
	cmd.Stdin = bytes.NewReader(job.Payload)
	cmd.Env = append(os.Environ(),
		"BW_JOB_ID="+job.ID.String(),
		"BW_JOB_NAME="+job.Name,
		"BW_JOB_QUEUE="+job.Queue,
		"BW_ATTEMPT="+strconv.Itoa(job.Attempt),
		"BW_TOKEN="+job.Token().String(),
		"BW_LEASE_SECONDS="+strconv.FormatFloat(job.Lease.Seconds(), 'f', -1, 64),
	)
	stderr := &tail{most: stderrTail}
	cmd.Stderr = stderr
	output := &head{most: store.MaxOutput + 1}
	switch h.stdout {
	case stdoutPass:
		lines := &lines{to: c.out}
		defer lines.flush()
		cmd.Stdout = lines
	case stdoutOutput:
		cmd.Stdout = output
	}
	cmd.WaitDelay = h.killAfter // how long children may hold the pipes of a command that has ended
	ownGroup(cmd)
	if err := c.start(cmd); err != nil {
		return err
	}
	err := c.wait(ctx, cmd, h.killAfter)
	if err == nil {
		return job.SetOutput(output.buf)
	}
	if text := stderr.String(); text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}

// start starts cmd unless the worker is exiting.
func (c *commands) start(cmd *exec.Cmd) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut {
		return errShut
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.live[cmd.Process.Pid] = struct{}{}
	return nil
}

// wait waits for cmd. When ctx ends, its group is asked to stop, and killed
// grace later.
func (c *commands) wait(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	pid := cmd.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		stopGroup(cmd)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case err = <-ended:
		case <-timer.C:
			killGroup(cmd)
			err = <-ended
		}
	}
	if err != nil || ctx.Err() != nil { // what it left running must not meet the next attempt
		killGroup(cmd)
	}
	c.mu.Lock()
	delete(c.live, pid)
	c.mu.Unlock()
	if errors.Is(err, exec.ErrWaitDelay) { // it has ended well; only its children held its pipes
		return nil
	}
	return err
}

// killAll ends every command at once and lets no other begin.
func (c *commands) killAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	for pid := range c.live {
		killPid(pid)
	}
}

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
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
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
