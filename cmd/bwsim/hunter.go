package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	n := h.flags.starts
	results := inOrder(ctx, (len(h.list)+1)*n, h.flags.jobs, func(_, i int) search {
		m := mutant.Mutant{}
		if i >= n {
			m = h.list[i/n-1]
		}
		return h.hunt(ctx, m, i%n)
	})
	t := newMatrix(s, h.flags, h.list)
	tick := time.NewTicker(s.pace())
	defer tick.Stop()
	var failed error
	for results != nil {
		select {
		case <-tick.C:
			s.progress(fmt.Sprintf("%d of %s run, %.0f s", len(t.all), count(len(h.list), "planted bug"), time.Since(began).Seconds()))
		case r, ok := <-results:
			switch {
			case !ok:
				results = nil
			case ctx.Err() == nil: // else it was cut off
				if failed = t.take(r); failed != nil {
					stop()
				}
			}
		}
	}
	switch {
	case failed != nil:
		return failed
	case ctx.Err() != nil:
		return cannot("interrupted after %d of %s", len(t.all), count(len(h.list), "planted bug"))
	}
	err := t.conclude()
	s.note("done in %.0f s", time.Since(began).Seconds())
	return err
}

// search is what came of one search for one bug.
type search struct {
	seeds int            // random worlds until it was caught; 0: only a scenario caught it, or nothing
	runs  int            // runs until it was caught, whatever they were
	tried int            // random worlds that were run
	first string         // the run that caught it first; "" if none did
	found string         // the first of what did not hold there
	by    map[string]int // by invariant: random worlds until it caught the bug; 0: only a scenario
	err   error          // it could not be run
}

// hunt runs one search for one mutant; the zero Mutant is the product itself.
// Every search has seeds of its own, and the first also plays the scenarios.
func (h *hunter) hunt(ctx context.Context, m mutant.Mutant, nth int) search {
	args := []string{}
	if m.Name == "" {
		args = append(args, "--all")
	}
	if nth > 0 {
		args = append(args, "--shipped=false")
	}
	return h.process(ctx, m, nth, args...)
}

// process runs one search in a process of its own.
func (h *hunter) process(ctx context.Context, m mutant.Mutant, nth int, args ...string) search {
	r := search{by: map[string]int{}}
	limited, stop := context.WithTimeout(ctx, h.flags.limit)
	defer stop()
	seed := h.flags.seed + uint64(nth)*uint64(h.flags.seeds)
	args = append([]string{"hunt", "--seed", strconv.FormatUint(seed, 10), "--seeds", strconv.Itoa(h.flags.seeds)}, args...)
	p, err := start(limited, h.binary, m.Name, args...)
	if err != nil {
		r.err = err
		return r
	}
	last, err := r.follow(p.out)
	err = errors.Join(err, p.Wait())
	r.tried = last.Seeds
	switch {
	case last.Done && err == nil:
	case ctx.Err() != nil: // interrupted
	case limited.Err() != nil:
		r.catch(last, hang, fmt.Sprintf("still running after %v", h.flags.limit))
	case last.Run == "": // it did not even begin
		r.err = cannot("mutant %s cannot be run: %v: %s", m.Name, err, strings.TrimSpace(p.said.String()))
	default:
		r.catch(last, crash, fmt.Sprintf("the process ended: %v: %s", err, firstLine(p.said.String())))
	}
	return r
}

// follow reads what a hunt prints, and returns the last line of it.
func (r *search) follow(out interface{ Read([]byte) (int, error) }) (last hunted, err error) {
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
func (r *search) catch(line hunted, name, found string) {
	seeds := line.Seeds
	if strings.HasPrefix(line.Run, "scenario ") {
		seeds = 0
	}
	if r.first == "" {
		r.first, r.found, r.seeds, r.runs = line.Run, found, seeds, line.Seeds
	}
	if _, ok := r.by[name]; !ok {
		r.by[name] = seeds
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
