package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"backwave/history"
	"backwave/sim/scenario"
)

// fileNames says what to write of each run; "" = nothing.
type fileNames struct {
	trace, history, plan string
	pages                pages

	many bool // runs: each gets files of its own
}

// name returns the name of the file of one run.
func (n *fileNames) name(base string, t *task) string {
	if !n.many {
		return base
	}
	ext := filepath.Ext(base)
	return strings.TrimSuffix(base, ext) + "-" + t.label() + ext
}

// clash reports two runs of w that would write the same file.
func (n *fileNames) clash(w *workload) error {
	if n.trace == "" && n.history == "" && n.plan == "" && n.pages.dir == "" {
		return nil
	}
	seen := map[string]bool{}
	for _, s := range w.sources {
		t := task{sc: s.sc, file: s.file}
		if seen[t.label()] {
			return usage("two scenarios are called %q and would write the same files: run them one by one", s.sc.Name)
		}
		seen[t.label()] = true
	}
	return nil
}

// runFiles are the files of one run, being written.
type runFiles struct {
	trace   *os.File
	lines   *bufio.Writer
	history string
	written []string
}

// open writes the plan, before anything can go wrong with the run, and opens
// the trace.
func (n *fileNames) open(t *task) (*runFiles, error) {
	f := &runFiles{}
	if n.plan != "" {
		name := n.name(n.plan, t)
		if err := os.WriteFile(name, t.plan(), 0o644); err != nil {
			return f, fmt.Errorf("write the plan: %w", err)
		}
		f.written = append(f.written, name)
	}
	if n.trace != "" {
		name := n.name(n.trace, t)
		file, err := os.Create(name)
		if err != nil {
			return f, fmt.Errorf("write the trace: %w", err)
		}
		f.trace, f.lines = file, bufio.NewWriterSize(file, 64<<10)
		f.written = append(f.written, name)
	}
	if n.history != "" {
		f.history = n.name(n.history, t)
	}
	return f, nil
}

// plan returns the world and its seed as text.
func (t *task) plan() []byte {
	return scenario.Format(t.sc, scenario.Header{Version: scenario.Version, Seed: t.seed, Scenario: t.origin})
}

// traceLine returns what takes the lines of a trace, nil if nothing does.
func (f *runFiles) traceLine() func(string) {
	if f.lines == nil {
		return nil
	}
	return func(line string) {
		_, _ = f.lines.WriteString(line) // an error stays with the writer; close tells of it
		_ = f.lines.WriteByte('\n')
	}
}

// close writes the history, and returns the names of all files.
func (f *runFiles) close(log *history.Log) ([]string, error) {
	var errs []error
	if f.trace != nil {
		if err := errors.Join(f.lines.Flush(), f.trace.Close()); err != nil {
			errs = append(errs, fmt.Errorf("write the trace: %w", err))
		}
	}
	if f.history != "" {
		if err := writeHistory(f.history, log); err != nil {
			errs = append(errs, fmt.Errorf("write the history: %w", err))
		} else {
			f.written = append(f.written, f.history)
		}
	}
	return f.written, errors.Join(errs...)
}

func writeHistory(name string, log *history.Log) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(history.Write(file, log), file.Close())
}
