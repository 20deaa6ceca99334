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
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"backwave/internal/mutant"
	"backwave/sim/shrink"
)

// shrink is a hunt that ends with the first random world that is violated, and
// makes that one small. It runs in the process of the bug: nowhere else does
// the small plan fail.
func (h *hunt) shrink(ctx context.Context, random *workload) {
	for i := range random.len() {
		if ctx.Err() != nil {
			return
		}
		h.begun++
		t := random.task(i)
		line := hunted{Run: fmt.Sprintf("seed %d", t.seed), Seeds: h.begun}
		h.say(line)
		start := shrink.Plan{Scenario: t.sc, Seed: t.seed}
		k := newShrinker(ctx, 1)
		k.lazy = true
		found, _ := k.look(start)
		if len(found) == 0 {
			continue
		}
		r := k.shrink(nil, start, found[0], h.budget)
		x := summary(t.sc, r, found[0])
		x.Plan = string(planOf(r, found[0], t.origin))
		line.Shrunk = &x
		h.say(line)
		return
	}
}

// shrunkMutant is what came of one planted bug.
type shrunkMutant struct {
	Mutant string `json:"mutant"`
	Seed   string `json:"seed,omitempty"` // "" if no random world was violated
	*shrunk
	late bool // nothing came of it within the limit
	err  error
}

// shrinkAll shrinks a finding of every bug and prints a table, in Markdown.
func (h *hunter) shrinkAll(ctx context.Context, s *screen, began time.Time) error {
	results := inOrder(ctx, len(h.list), h.flags.jobs, func(_, i int) shrunkMutant { return h.shrinkOne(ctx, h.list[i]) })
	if h.flags.format == "text" {
		s.printf("| bug | finding | nodes | jobs | faults | actions | virtual | runs |\n|---|---|---|---|---|---|---|---|\n")
	}
	tick := time.NewTicker(s.pace())
	defer tick.Stop()
	done, missed := 0, 0
	for results != nil {
		select {
		case <-tick.C:
			s.progress(fmt.Sprintf("%d of %s shrunk, %.0f s", done, count(len(h.list), "planted bug"), time.Since(began).Seconds()))
		case r, ok := <-results:
			switch {
			case !ok:
				results = nil
			case ctx.Err() != nil: // it was cut off
			case r.err != nil:
				return r.err
			default:
				done++
				if r.shrunk == nil || !r.Minimal {
					missed++
				}
				if err := h.flags.shrunkRow(s, r); err != nil {
					return err
				}
				s.flush()
			}
		}
	}
	if ctx.Err() != nil {
		return cannot("interrupted after %d of %s", done, count(len(h.list), "planted bug"))
	}
	s.note("done in %.0f s", time.Since(began).Seconds())
	if missed > 0 {
		s.note("bwsim: %d of %s not shrunk to the end", missed, count(len(h.list), "planted bug"))
		return verdict(exitViolated)
	}
	return nil
}

// shrinkOne lets the process of one bug shrink what it finds.
func (h *hunter) shrinkOne(ctx context.Context, m mutant.Mutant) shrunkMutant {
	r := shrunkMutant{Mutant: m.Name}
	limited, stop := context.WithTimeout(ctx, h.flags.limit)
	defer stop()
	cmd := exec.CommandContext(limited, h.binary, "hunt", "--shrink", "--seed", strconv.FormatUint(h.flags.seed, 10),
		"--seeds", strconv.Itoa(h.flags.seeds), "--budget", strconv.Itoa(h.flags.budget))
	cmd.Env = append(os.Environ(), mutant.Variable+"="+m.Name)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	r.late = limited.Err() != nil && ctx.Err() == nil
	if err != nil && !r.late {
		r.err = cannot("mutant %s: %v: %s", m.Name, errors.Join(err, limited.Err()), firstLine(said.String()))
		return r
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line hunted
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			r.err = cannot("mutant %s: unreadable output %q: %v", m.Name, lines.Text(), err)
			return r
		}
		if line.Shrunk != nil {
			r.Seed, r.shrunk = strings.TrimPrefix(line.Run, "seed "), line.Shrunk
		}
	}
	return r
}

// shrunkRow prints one line of the table, and writes the plan if it is to be
// kept.
func (f *mutantFlags) shrunkRow(s *screen, r shrunkMutant) error {
	if r.shrunk != nil && f.output != "" {
		if err := os.MkdirAll(f.output, 0o755); err != nil {
			return cannot("%v", err)
		}
		r.File = filepath.Join(f.output, r.Mutant+".yaml")
		if err := os.WriteFile(r.File, []byte(r.Plan), 0o644); err != nil {
			return cannot("write the plan: %v", err)
		}
	}
	switch {
	case f.format == "json":
		s.json(r)
	case r.late:
		s.printf("| `%s` | not done within %v | | | | | | |\n", r.Mutant, f.limit)
	case r.shrunk == nil:
		s.printf("| `%s` | none in %s | | | | | | |\n", r.Mutant, count(f.seeds, "random world"))
	default:
		b, a := r.Before, r.After
		runs := strconv.Itoa(r.Steps)
		if !r.Minimal {
			runs += ", not minimal"
		}
		s.printf("| `%s` | %s | %d → %d | %d → %d | %d → %d | %d → %d | %s → %s | %s |\n", r.Mutant, r.Finding,
			b.Nodes, a.Nodes, b.Jobs, a.Jobs, b.Faults, a.Faults, b.Actions, a.Actions, spanOf(r.BeforeS), spanOf(r.AfterS), runs)
	}
	return nil
}

// spanOf prints virtual seconds: 7h, not 7h0m0s.
func spanOf(x float64) string {
	s := time.Duration(x * float64(time.Second)).Round(time.Millisecond).String()
	if t, ok := strings.CutSuffix(s, "m0s"); ok {
		s = t + "m"
	}
	if t, ok := strings.CutSuffix(s, "h0m"); ok {
		s = t + "h"
	}
	return s
}
