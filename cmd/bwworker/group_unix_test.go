//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"backwave/engine"
)

// The children of a command are asked to stop too, not only killed after it.
func TestChildrenAreAskedToStop(t *testing.T) {
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	if err := syscall.Mkfifo(ready, 0o600); err != nil {
		t.Fatal(err)
	}
	h := parseHandler(t, `
dir: `+dir+`
kill_after: 3s
command: [sh, -c, 'trap : TERM; sh -c "trap \"echo >told; exit\" TERM; sleep 1000 & echo >ready; wait" & wait; wait']`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(ready) // waits for the child
		cancel()
	}()
	err := newCommands(&bytes.Buffer{}, slog.New(slog.DiscardHandler)).run(ctx, &h.command, &engine.RawJob{Name: "h"})
	if _, missing := os.Stat(filepath.Join(dir, "told")); missing != nil {
		t.Errorf("the child was told nothing (%v); the command ended with %v", missing, err)
	}
}

func TestKillAllEndsEveryCommandAndLetsNoneBegin(t *testing.T) {
	c := newCommands(&bytes.Buffer{}, slog.New(slog.DiscardHandler))
	ended := make(chan error, 2)
	for range cap(ended) {
		cmd := exec.Command("sleep", "1000")
		ownGroup(cmd)
		if err := c.start(cmd); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- c.wait(context.Background(), cmd, time.Hour) }()
	}
	c.killAll()
	for range cap(ended) {
		var code *exec.ExitError
		if err := <-ended; !errors.As(err, &code) || code.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("a command ended with %v, want killed", err)
		}
	}
	if err := c.start(exec.Command("true")); !errors.Is(err, errShut) {
		t.Errorf("another began: %v", err)
	}
	if len(c.live) != 0 {
		t.Errorf("%d are taken for alive", len(c.live))
	}
}
