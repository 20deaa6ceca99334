package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"backwave/internal/mutant"
)

// hang is the name under which a mutant is caught whose process had to be
// killed.
const hang = "hang"

// hunter runs a binary with planted bugs, a process per bug.
type hunter struct {
	binary string
	flags  *mutantFlags
	list   []mutant.Mutant
}

// run judges the product first, beside the first mutants, and prints a row per
// mutant as soon as it is known that the product holds.
func (h *hunter) run(ctx context.Context, s *screen, began time.Time) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	results := inOrder(ctx, len(h.list)+1, h.flags.jobs, func(_, i int) mutantResult {
		if i == 0 {
			return h.hunt(ctx, mutant.Mutant{})
		}
		return h.hunt(ctx, h.list[i-1])
	})
	width := len("mutant")
	for _, m := range h.list {
		width = max(width, len(m.Name))
	}
	tick := time.NewTicker(s.pace())
	defer tick.Stop()
	var all []mutantResult
	var failed error
	product := false
	for results != nil {
		select {
		case <-tick.C:
			s.progress(fmt.Sprintf("%d of %s run, %.0f s", len(all), count(len(h.list), "planted bug"), time.Since(began).Seconds()))
		case r, ok := <-results:
			switch {
			case !ok:
				results = nil
			case ctx.Err() != nil: // it was cut off
			case r.err != nil:
				failed = r.err
				stop()
			case !product && len(r.CaughtBy) > 0:
				failed = &exitError{exitViolated, fmt.Sprintf("the product itself does not hold, so nothing can be said of the bugs: %s: %s", r.First, r.found)}
				stop()
			case !product:
				product = true
				if h.flags.format == "text" {
					s.printf("%-*s  seeds  caught by\n", width, "mutant")
				}
			default:
				all = append(all, r)
				h.flags.row(s, r, width)
				s.flush()
			}
		}
	}
	switch {
	case failed != nil:
		return failed
	case ctx.Err() != nil:
		return cannot("interrupted after %d of %s", len(all), count(len(h.list), "planted bug"))
	}
	err := h.flags.conclude(s, all)
	s.note("done in %.0f s", time.Since(began).Seconds())
	return err
}

// hunt runs one mutant; the zero Mutant is the product itself.
func (h *hunter) hunt(ctx context.Context, m mutant.Mutant) mutantResult {
	r := mutantResult{Mutant: m.Name, File: m.File, Func: m.Func, Breaks: m.Breaks, CaughtBy: []string{}}
	limited, stop := context.WithTimeout(ctx, h.flags.limit)
	defer stop()
	args := []string{"hunt", "--seed", strconv.FormatUint(h.flags.seed, 10), "--seeds", strconv.Itoa(h.flags.seeds)}
	if m.Name == "" {
		args = append(args, "--all")
	}
	cmd := exec.CommandContext(limited, h.binary, args...)
	cmd.Env = append(os.Environ(), mutant.Variable+"="+m.Name)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.err = cannot("mutant %s cannot be run: %v", m.Name, err)
		return r
	}
	last, err := r.follow(out)
	err = errors.Join(err, cmd.Wait())
	switch {
	case last.Done && err == nil:
	case ctx.Err() != nil: // interrupted
	case limited.Err() != nil:
		r.catch(last, hang, fmt.Sprintf("still running after %v", h.flags.limit))
	case last.Run == "": // it did not even begin
		r.err = cannot("mutant %s cannot be run: %v: %s", m.Name, err, strings.TrimSpace(said.String()))
	default:
		r.catch(last, crash, fmt.Sprintf("the process ended: %v: %s", err, firstLine(said.String())))
	}
	if len(r.CaughtBy) == 0 {
		r.Seeds = last.Seeds
	}
	r.CaughtBy = inTheirOrder(r.CaughtBy)
	return r
}

// follow reads what a hunt prints, and returns the last line of it.
func (r *mutantResult) follow(out interface{ Read([]byte) (int, error) }) (last hunted, err error) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line hunted
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return last, fmt.Errorf("unreadable output %q: %w", lines.Text(), err)
		}
		last = line
		for _, name := range line.Caught {
			r.catch(line, name, line.Found)
		}
	}
	return last, lines.Err()
}

// catch books that name caught the mutant in the run of line.
func (r *mutantResult) catch(line hunted, name, found string) {
	if r.First == "" {
		r.First, r.found = line.Run, found
		if !strings.HasPrefix(line.Run, "scenario ") {
			r.Seeds = line.Seeds
		}
	}
	if !slices.Contains(r.CaughtBy, name) {
		r.CaughtBy = append(r.CaughtBy, name)
	}
}

// inTheirOrder sorts names as bwsim list invariants does; others come last.
func inTheirOrder(names []string) []string {
	out := []string{}
	for _, i := range invariants() {
		if slices.Contains(names, i.Name) {
			out = append(out, i.Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
