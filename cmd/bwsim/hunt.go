package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"backwave/sim"
	"backwave/sim/scenario"
	"backwave/sim/shrink"
)

// hunted is a line of what a hunt prints. Run is printed when a run begins, so
// that a process that dies or hangs has told where.
type hunted struct {
	Run    string   `json:"run"`              // such as "seed 3" or "scenario drain"
	Seeds  int      `json:"seeds"`            // random worlds begun so far
	Caught []string `json:"caught,omitempty"` // what did not hold
	Found  string   `json:"found,omitempty"`  // the first of it, for people
	Shrunk *shrunk  `json:"shrunk,omitempty"` // the first of it, made small
	Done   bool     `json:"done,omitempty"`
}

// huntCommand is what runs inside a process with one planted bug: random
// worlds until one is violated, a few more to see who else catches the bug,
// and the shipped scenarios.
func huntCommand(s *screen) *cobra.Command {
	h := &hunt{s: s}
	small, known := false, true
	c := &cobra.Command{
		Use:    "hunt [SCENARIO...]",
		Short:  "Run worlds until one is violated, then a few more",
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			w, err := newWorkload(args, len(args) == 0, h.seed, h.seeds)
			if err != nil {
				return err
			}
			if small {
				h.shrink(c.Context(), w)
				return nil
			}
			shipped := &workload{seeds: 1}
			if known {
				if shipped, err = newWorkload(nil, false, h.seed, 1); err != nil {
					return err
				}
			}
			h.player = newPlayer(1)
			h.run(w, shipped)
			return nil
		},
	}
	c.Flags().Uint64Var(&h.seed, "seed", 1, "first seed")
	c.Flags().IntVar(&h.seeds, "seeds", 1, "at most this many seeds")
	c.Flags().BoolVar(&h.all, "all", false, "go on after a violation")
	c.Flags().BoolVar(&known, "shipped", true, "play the shipped scenarios too")
	c.Flags().StringVar(&h.alone, "alone", "", "take all faults but those of this `KIND` out of the worlds")
	c.Flags().StringVar(&h.without, "without", "", "take the faults of this `KIND` out of the worlds")
	c.Flags().BoolVar(&small, "shrink", false, "shrink the first random world that is violated, and end")
	c.Flags().IntVar(&h.budget, "budget", shrink.DefaultBudget, "at most this many runs for it")
	return c
}

type hunt struct {
	s       *screen
	seed    uint64
	seeds   int
	all     bool
	alone   string // kind of fault: all others are taken out
	without string // kind of fault that is taken out
	budget  int
	player  *player
	begun   int // random worlds
}

func (h *hunt) run(random, shipped *workload) {
	last := random.len()
	caught := false
	for i := 0; i < last; i++ {
		h.begun++
		t := random.task(i)
		if h.alone != "" {
			t.sc = scenario.Only(t.sc, h.alone)
		}
		if h.without != "" {
			t.sc = scenario.Without(t.sc, h.without)
		}
		if h.one(t, fmt.Sprintf("seed %d", t.seed)) && !caught && !h.all {
			caught = true
			last = until(h.begun, last)
		}
	}
	for i := range shipped.len() {
		t := shipped.task(i)
		h.one(t, "scenario "+t.sc.Name)
	}
	h.say(hunted{Seeds: h.begun, Done: true})
}

// until returns after how many seeds a hunt ends in which the n-th was the
// first to be violated.
func until(n, seeds int) int { return min(seeds, n+max(5, n/5)) }

// one makes a run, and reports whether something was caught.
func (h *hunt) one(t task, name string) bool {
	h.say(hunted{Run: name, Seeds: h.begun})
	o := h.player.play(0, t)
	if o.res.Verdict != sim.Violated {
		return false
	}
	line := hunted{Run: name, Seeds: h.begun}
	for _, b := range o.breaches() {
		if b.expected {
			continue
		}
		if line.Found == "" {
			line.Found = fmt.Sprintf("%s at %s: %s", b.Invariant, clock(o.at(b.Violation)), o.names(b.Message))
		}
		line.Caught = append(line.Caught, b.Invariant)
	}
	h.say(line)
	return true
}

func (h *hunt) say(line hunted) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	h.s.printf("%s\n", text)
	h.s.flush()
}
