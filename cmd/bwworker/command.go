package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"backwave/engine"
	"backwave/store"
)

// commands runs handlers that are commands, each in a process group of its
// own, so that whatever it starts can be stopped with it.
type commands struct {
	log *slog.Logger
	out *lineWriter // of commands whose output is passed on

	mu   sync.Mutex
	live map[int]struct{} // process groups
	shut bool
}

func newCommands(out io.Writer, log *slog.Logger) *commands {
	m, ok := out.(*masker)
	return &commands{log: log, out: &lineWriter{to: out, tame: ok && isTerminal(m.to)}, live: map[int]struct{}{}}
}

// stderrTail is how much of a command's standard error a failure keeps.
const stderrTail = 4 << 10

var errShut = errors.New("the worker is exiting")

// run is the handler of the jobs of h: it runs the command and returns nil if
// it exits with 0.
func (c *commands) run(ctx context.Context, h *commandConfig, job *engine.RawJob) error {
	cmd := limited(h) // not CommandContext, which would kill the command alone, and at once
	cmd.Dir = h.dir
	cmd.Stdin = bytes.NewReader(job.Payload)
	cmd.Env = h.environment(job)
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
	side, err := openSide(cmd, job, c.log)
	if err != nil {
		return err
	}
	if err := c.start(cmd); err != nil {
		side.close()
		return err
	}
	err = c.wait(ctx, cmd, h.killAfter)
	said := side.close()
	if err == nil {
		if said != nil {
			return job.SetOutput(said)
		}
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

// limited returns the command, under its limits.
func limited(h *commandConfig) *exec.Cmd {
	argv := h.argv
	if h.limits != (limits{}) {
		argv = underLimits(h.limits, argv)
	}
	return exec.Command(argv[0], argv[1:]...)
}

// environment returns the variables of a command. What the job says goes
// before what the configuration says, and that before the worker's own.
func (h *commandConfig) environment(job *engine.RawJob) []string {
	env := []string{}
	if !h.bare {
		env = os.Environ()
	}
	env = append(env, h.env...)
	return append(env,
		"BW_JOB_ID="+job.ID.String(),
		"BW_JOB_NAME="+job.Name,
		"BW_JOB_QUEUE="+job.Queue,
		"BW_ATTEMPT="+strconv.Itoa(job.Attempt),
		"BW_TOKEN="+job.Token().String(),
		"BW_LEASE_SECONDS="+strconv.FormatFloat(job.Lease.Seconds(), 'f', -1, 64),
		sideVariable,
	)
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
