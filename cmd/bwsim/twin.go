package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"backwave/sim"
)

// unlike is the environment of a twin: whatever could leak into a run without
// being part of its seed is different there.
var unlike = []string{"GOMAXPROCS=1", "GOGC=1", "TZ=Pacific/Chatham"}

// twin is another process that makes the same runs.
type twin struct {
	hashes *bufio.Scanner
	end    func() string // waits for its end and returns what it said to standard error
}

// args returns the command line by which another process makes the runs of w.
func (w *workload) args() []string {
	out := []string{"twin", "--seeds", strconv.Itoa(w.seeds)}
	if w.chosen {
		out = append(out, "--seed", strconv.FormatUint(w.seed, 10))
	}
	if w.random {
		return append(out, "--random")
	}
	out = append(out, "--")
	for _, s := range w.sources {
		out = append(out, s.arg)
	}
	return out
}

// self returns a command that starts this program again.
func self(ctx context.Context, env []string, args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, cannot("cannot start the twin: %v", err)
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Env = append(os.Environ(), env...)
	return c, nil
}

func startTwin(ctx context.Context, w *workload) (*twin, error) {
	cmd, err := self(ctx, unlike, w.args()...)
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, cannot("cannot start the twin: %v", err)
	}
	return &twin{bufio.NewScanner(out), func() string {
		_ = cmd.Wait() // how it ended shows in the hashes it gave
		return strings.TrimSpace(said.String())
	}}, nil
}

// compare adds the twin's trace hash to each outcome.
func (t *twin) compare(ctx context.Context, results <-chan *outcome) <-chan *outcome {
	out := make(chan *outcome)
	go func() {
		defer close(out)
		lost := false
		for o := range results {
			switch {
			case lost:
			case t.hashes.Scan():
				o.twin = t.hashes.Text()
			case ctx.Err() == nil: // if we were interrupted, so was it
				lost = true
				o.twinErr = fmt.Errorf("the twin ended early, at %s seed %d: %s", o.sc.Name, o.seed, t.end())
			}
			out <- o
		}
		if !lost {
			t.end()
		}
	}()
	return out
}

// twinCommand is what a twin runs.
func twinCommand(s *screen) *cobra.Command {
	f := &runFlags{}
	only := -1
	c := &cobra.Command{
		Use:    "twin [SCENARIO…]",
		Short:  "Print the trace hash of each run, or the trace of one",
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			w, err := newWorkload(args, f.random, f.seed, f.seeds)
			if err != nil {
				return err
			}
			w.chosen = c.Flags().Changed("seed")
			if only >= 0 {
				t := w.task(only)
				sim.Run(t.sc, sim.Options{Seed: t.seed, Trace: func(line string) { s.printf("%s\n", line) }})
				return nil
			}
			p := newPlayer(1)
			p.linear = false
			for i := range w.len() {
				s.printf("%s\n", hash(p.play(0, w.task(i)).res.TraceHash))
				s.flush()
			}
			return nil
		},
	}
	c.Flags().Uint64Var(&f.seed, "seed", 1, "first seed")
	c.Flags().IntVar(&f.seeds, "seeds", 1, "how many seeds")
	c.Flags().BoolVar(&f.random, "random", false, "a random world per seed")
	c.Flags().IntVar(&only, "only", -1, "print the trace of this run")
	return c
}

// divergence makes run i of w twice more, in two unlike processes, and prints
// where their traces part.
func (s *screen) divergence(w *workload, i int) {
	d, found, err := w.diverge(i)
	switch {
	case err != nil:
		s.note("bwsim: the traces could not be compared: %v", err)
	case !found:
		s.note("made twice more, the run had the same trace of %d lines both times: it differs only now and then", d.same)
	default:
		s.note("%s", d)
	}
}

func (w *workload) diverge(i int) (d difference, found bool, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var traces [2]io.Reader
	for k, env := range [][]string{nil, unlike} {
		cmd, err := self(ctx, env, append([]string{"twin", "--only", strconv.Itoa(i)}, w.args()[1:]...)...)
		if err != nil {
			return d, false, err
		}
		if traces[k], err = cmd.StdoutPipe(); err != nil {
			return d, false, err
		}
		if err := cmd.Start(); err != nil {
			return d, false, err
		}
		defer func() { stop(); _ = cmd.Wait() }() // it may be cut off: what it wrote has been read
	}
	return compareTraces(traces[0], traces[1], contextLines)
}

// contextLines is how many lines are shown before the first difference.
const contextLines = 3

// difference is where two traces part.
type difference struct {
	same   int      // lines
	before []string // the last of them
	here   []string // from the first that differs on
	twin   []string
}

// String prints d for people.
func (d difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the first %d lines of the trace are the same in both processes, up to\n", d.same)
	for _, l := range d.before {
		fmt.Fprintf(&b, "          %s\n", l)
	}
	fmt.Fprintf(&b, "then\n  here:   %s\n  twin:   %s\nwhere the twin runs with %s", d.here[0], d.twin[0], strings.Join(unlike, " "))
	return b.String()
}

// compareTraces finds the first line in which two traces differ, with so many
// lines around it.
func compareTraces(here, twin io.Reader, around int) (d difference, found bool, err error) {
	a, b := bufio.NewScanner(here), bufio.NewScanner(twin)
	for {
		moreA, moreB := a.Scan(), b.Scan()
		if err := a.Err(); err != nil {
			return d, false, err
		}
		if err := b.Err(); err != nil {
			return d, false, err
		}
		if !moreA && !moreB {
			return d, false, nil
		}
		if moreA && moreB && a.Text() == b.Text() {
			d.same++
			d.before = append(d.before, a.Text())
			d.before = d.before[max(0, len(d.before)-around):]
			continue
		}
		d.here, d.twin = rest(a, moreA, around), rest(b, moreB, around)
		return d, true, nil
	}
}

// rest returns the line that was read last, if any, and so many after it.
func rest(s *bufio.Scanner, more bool, after int) (out []string) {
	for ; more && len(out) <= after; more = len(out) <= after && s.Scan() {
		out = append(out, s.Text())
	}
	if len(out) == 0 {
		out = []string{"(the trace ends)"}
	}
	return out
}
