package main

import (
	"fmt"
	"strings"
	"time"

	"backwave/sim"
	"backwave/sim/swarm"
)

// swarmText tells people.
type swarmText struct{ s *screen }

func (r *swarmText) found(x *shown) {
	s := r.s
	what := s.paint(red, "FOUND")
	if x.Known != "" {
		what = s.paint(yellow, "known")
	}
	s.printf("%s %s at %s in %s\n", what, s.paint(bold, x.ID), clock(time.Duration(x.First.At)), x.Plan.Scenario.Name)
	if text := sentence(x.Invariant); text != "" {
		s.printf("  rule:  %s\n", text)
	}
	s.printf("  found: %s\n", x.message)
	if x.Known != "" {
		s.printf("  known: %s\n", x.Known)
	}
	s.printf("  to repeat it: %s\n", s.paint(bold, x.repeat))
	if x.file != "" {
		s.printf("  written: %s\n", x.file)
	}
}

func (r *swarmText) end(h *swarmRun) error {
	s := r.s
	if len(h.shown) > 0 {
		s.printf("\n")
	}
	for _, line := range h.sum() {
		s.printf("%s\n", line)
	}
	return nil
}

// sum is the end of a search in lines for people.
func (h *swarmRun) sum() []string {
	out := []string{fmt.Sprintf("%s in %.0f s (%s/s), %s node-hours, %s (%s/s)",
		count(h.seen.Runs(), "seed"), h.took().Seconds(), h.rate(uint64(h.seen.Runs())), grouped(uint64(h.nodes.Hours())), count(int(h.events), "event"), h.rate(h.events))}
	for _, l := range []sim.Level{sim.Pristine, sim.Recoverable, sim.Adversarial} {
		if h.levels[l].runs > 0 {
			out = append(out, fmt.Sprintf("  %-11s %6s: %s", l, grouped(uint64(h.levels[l].runs)), h.levels[l].proved(l)))
		}
	}
	out = append(out, h.verdictLine())
	for _, x := range h.shown {
		known := ""
		if x.Known != "" {
			known = ", known: " + x.Known
		}
		out = append(out, fmt.Sprintf("  %s  in %s, first in %s%s", x.ID, count(x.Runs, "run"), x.Plan.Scenario.Name, known))
	}
	if h.shelf.full > 0 {
		out = append(out, fmt.Sprintf("  %s not kept: %s may not fill more than %s", count(h.shelf.full, "plan"), h.shelf.dir, h.flags.outMax))
	}
	return append(append(out, h.coverageLines()...), h.mustLines()...)
}

// proved says what the worlds of one level have shown.
func (l *levelSums) proved(level sim.Level) string {
	if l.broken > 0 {
		return fmt.Sprintf("%d did not hold; the others: %s", l.broken, l.held(level))
	}
	return l.held(level)
}

// held says what those worlds have shown that held.
func (l *levelSums) held(level sim.Level) string {
	live := fmt.Sprintf("%s done in time, the slowest in %.0f %% of what its plan allows (%s of %s)", count(l.jobs, "job"), 100*l.share, round(l.took), round(l.bound))
	if l.silent > 0 {
		live += fmt.Sprintf("; %s could not be judged", count(l.silent, "world"))
	}
	switch {
	case level == sim.Adversarial:
		return "safety, whatever went wrong"
	case l.jobs == 0:
		return "safety; no world was long enough to say that jobs get done"
	case level == sim.Pristine:
		return fmt.Sprintf("safety; every job once; no due job beside a free slot for longer than %s (at most %s); %s", round(l.wait), round(l.waitMax), live)
	}
	return "safety; once all faults had healed, " + live
}

func round(d time.Duration) time.Duration {
	if d > time.Minute {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

func (h *swarmRun) verdictLine() string {
	n, unknown := h.seen.Runs(), h.finds.Unknown()
	words := "nothing found"
	if len(h.shown) > 0 {
		words = count(len(h.shown), "finding")
		if known := len(h.shown) - unknown; known > 0 {
			words += fmt.Sprintf(", %d of them known", known)
		}
	} else if !h.cfg.Guided && n >= 3 {
		words += fmt.Sprintf(": what breaks a rule in more than 1 of %s seeds would have shown (95 %% confidence)", grouped(uint64(1/swarm.Bound(n))))
	}
	if h.undecided > 0 {
		words += fmt.Sprintf("; %d undecided", h.undecided)
	}
	if h.cut {
		words += "; interrupted"
	}
	return words
}

// coverageLines says what was reached, and what follows of what was not.
func (h *swarmRun) coverageLines() []string {
	reached, of := h.seen.Reached()
	met, pairs := h.seen.Met()
	out := []string{fmt.Sprintf("%d of %d situations reached, %s of %s pairs of them met in one run", reached, of, grouped(uint64(met)), grouped(uint64(pairs)))}
	never := h.seen.Never()
	for _, name := range never {
		out = append(out, "  never: "+name)
	}
	if n := h.seen.Runs(); len(never) > 0 && n >= 3 && !h.cfg.Guided {
		out = append(out, fmt.Sprintf("  each of them comes in less than 1 of %s seeds (95 %% confidence), or cannot come", grouped(uint64(1/swarm.Bound(n)))))
	}
	if rare := h.seen.Rarest(3); len(rare) > 0 {
		var words []string
		for _, p := range rare {
			words = append(words, fmt.Sprintf("%s + %s (%d)", p.A, p.B, p.Runs))
		}
		out = append(out, "  rarest: "+strings.Join(words, "; "))
	}
	return out
}

func (h *swarmRun) mustLines() []string {
	if !h.flags.must {
		return nil
	}
	all, missing := h.goals()
	out := []string{fmt.Sprintf("%d of %d on the must list reached", all-len(missing), all)}
	for _, g := range missing {
		out = append(out, "  missing: "+g.String())
	}
	return out
}
