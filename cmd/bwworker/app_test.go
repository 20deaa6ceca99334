package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"backwave/store"
	"backwave/store/memory"
)

// bench is the program within the test, over a store that others see too.
type bench struct {
	*testing.T
	*app
	st             *memory.Locked
	asked          []string // DSNs
	target         target   // the last
	stdout, stderr bytes.Buffer
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, st: memory.NewLocked(memory.New(wallClock{}))}
	b.app = &app{strings.NewReader(""), &b.stdout, &masker{to: &b.stderr}, environment{}, func(_ context.Context, t target) (*opened, error) {
		b.asked, b.target = append(b.asked, t.dsn), t
		return &opened{Store: b.st, close: func() {}}, nil
	}}
	return b
}

// run runs one command line, split at blanks unless it is given in parts, and
// returns what it printed.
func (b *bench) run(code int, args ...string) string {
	b.Helper()
	if len(args) == 1 {
		args = strings.Fields(args[0])
	}
	b.stdout.Reset()
	b.stderr.Reset()
	if got := b.program(args); got != code {
		b.Errorf("bwworker %q ended with %d, want %d:\n%s%s", args, got, code, b.stdout.String(), b.stderr.String())
	}
	return b.stdout.String()
}

// says expects text on standard error.
func (b *bench) says(texts ...string) {
	b.Helper()
	for _, text := range texts {
		if !strings.Contains(b.stderr.String(), text) {
			b.Errorf("standard error is %q, want %q in it", b.stderr.String(), text)
		}
	}
}

// shows expects text in what was printed.
func (b *bench) shows(out string, texts ...string) {
	b.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			b.Errorf("printed was\n%s\nwant %q in it", out, text)
		}
	}
}

// only returns the one job of a queue.
func (b *bench) only(queue string) *store.Job {
	b.Helper()
	jobs, err := b.st.Jobs(b.Context(), queue, nil, 10)
	if err != nil || len(jobs) != 1 {
		b.Fatalf("queue %q holds %d jobs, %v; want one", queue, len(jobs), err)
	}
	return jobs[0]
}
