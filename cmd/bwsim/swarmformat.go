package main

import (
	"fmt"
	"strings"

	"backwave/sim"
	"backwave/sim/swarm"
)

// swarmJSON prints a line per finding, and one for all.
type swarmJSON struct{ s *screen }

type jsonFound struct {
	ID        string `json:"id"`
	Invariant string `json:"invariant"`
	Shape     string `json:"shape"`
	Message   string `json:"message"`
	Scenario  string `json:"scenario"`
	Seed      uint64 `json:"seed"`
	Event     uint64 `json:"event"`
	At        int64  `json:"at"` // ns of true time
	Known     string `json:"known,omitempty"`
	Repeat    string `json:"repeat"`
	File      string `json:"file,omitempty"`
	Runs      int    `json:"runs"` // so far
}

type jsonSwarm struct {
	Summary    bool           `json:"summary"`
	Seeds      int            `json:"seeds"`
	WallS      float64        `json:"wall_s"`
	Events     uint64         `json:"events"`
	NodeHours  float64        `json:"node_hours"`
	Levels     map[string]int `json:"levels"`
	Findings   map[string]int `json:"findings"` // runs, by id
	Unknown    int            `json:"unknown_findings"`
	Undecided  int            `json:"undecided"`
	Situations map[string]int `json:"situations"` // runs, by name
	Never      []string       `json:"never"`
	PairsMet   int            `json:"pairs_met"`
	Missing    []string       `json:"must_missing"`
	Bound      float64        `json:"rate_bound"` // of what was not seen, at 95 %; 0 of a guided search
	Cut        bool           `json:"interrupted"`
}

func (r *swarmJSON) found(x *shown) {
	r.s.json(jsonFound{x.ID, x.Invariant, x.Shape, x.message, x.Plan.Scenario.Name, x.Plan.Seed, x.First.Event, x.First.At, x.Known, x.repeat, x.file, x.Runs})
}

func (r *swarmJSON) end(h *swarmRun) error {
	met, _ := h.seen.Met()
	j := jsonSwarm{
		Summary: true, Seeds: h.seen.Runs(), WallS: h.took().Seconds(), Events: h.events, NodeHours: h.nodes.Hours(), Levels: map[string]int{}, Findings: map[string]int{},
		Unknown: h.finds.Unknown(), Undecided: h.undecided, Situations: map[string]int{}, Never: append([]string{}, h.seen.Never()...), PairsMet: met, Missing: []string{}, Cut: h.cut,
	}
	for l, sums := range h.levels {
		j.Levels[string(l)] = sums.runs
	}
	for _, x := range h.shown {
		j.Findings[x.ID] = x.Runs
	}
	for _, name := range sim.Situations() {
		j.Situations[name] = h.seen.Hits(name)
	}
	_, missing := h.goals()
	for _, g := range missing {
		j.Missing = append(j.Missing, g.String())
	}
	if !h.cfg.Guided {
		j.Bound = swarm.Bound(h.seen.Runs())
	}
	r.s.json(j)
	return nil
}

// swarmGithub prints workflow commands, which annotate a run on GitHub.
type swarmGithub struct{ s *screen }

func (r *swarmGithub) found(x *shown) {
	level := "error"
	if x.Known != "" {
		level = "notice"
	}
	text := x.message + ". To repeat it: " + x.repeat
	if x.Known != "" {
		text = "known: " + x.Known + ". " + text
	}
	r.s.printf("::%s title=%s::%s\n", level, property(x.ID), data(text))
}

func (r *swarmGithub) end(h *swarmRun) error {
	if _, missing := h.goals(); h.flags.must {
		for _, g := range missing {
			r.s.printf("::error title=%s::%s\n", property("not reached"), data(fmt.Sprintf("%s: on the must list, and not reached in %s", g, count(h.seen.Runs(), "seed"))))
		}
	}
	for _, line := range h.sum() {
		r.s.printf("%s\n", line)
	}
	return nil
}

// swarmMarkdown prints a summary at the end.
type swarmMarkdown struct{ print func(text string) error }

func (r *swarmMarkdown) found(*shown) {}

func (r *swarmMarkdown) end(h *swarmRun) error {
	var b strings.Builder
	lines := h.sum()
	fmt.Fprintf(&b, "### bwsim swarm: %s\n\n%s\n\n", h.verdictLine(), lines[0])
	b.WriteString("| level | seeds | what was shown |\n|---|---|---|\n")
	for _, l := range []sim.Level{sim.Pristine, sim.Recoverable, sim.Adversarial} {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", l, grouped(uint64(h.levels[l].runs)), h.levels[l].proved(l))
	}
	if len(h.shown) > 0 {
		b.WriteString("\n| finding | runs | what was found | to repeat it |\n|---|---|---|---|\n")
	}
	for _, x := range h.shown {
		known := ""
		if x.Known != "" {
			known = "known (" + x.Known + "): "
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | `%s` |\n", x.ID, x.Runs, cell(known+x.message), cell(x.repeat))
	}
	b.WriteString("\n")
	for _, line := range append(h.coverageLines(), h.mustLines()...) {
		indent, text := "", line
		if rest, ok := strings.CutPrefix(line, "  "); ok {
			indent, text = "  ", rest
		}
		fmt.Fprintf(&b, "%s- %s\n", indent, text)
	}
	return r.print(b.String() + "\n")
}

// cell keeps a text within its cell of a table.
func cell(s string) string { return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s) }

// swarmJunit writes a file as test runners do: a case for the search as a whole,
// one for each finding, and one for each goal that was not reached.
type swarmJunit struct{ *junitReport }

func (r *swarmJunit) found(*shown) {}

func (r *swarmJunit) end(h *swarmRun) error {
	r.suite.Cases = append(r.suite.Cases, junitCase{Class: "swarm", Name: "search", Time: seconds(h.took())})
	for _, x := range h.shown {
		c := junitCase{Class: "swarm", Name: x.ID, Time: "0"}
		if x.Known == "" {
			c.Failure = &junitProblem{x.Invariant, fmt.Sprintf("%s\nin %s\nto repeat it: %s", x.message, count(x.Runs, "run"), x.repeat)}
			r.suite.Failures++
		}
		r.suite.Cases = append(r.suite.Cases, c)
	}
	if _, missing := h.goals(); h.flags.must {
		for _, g := range missing {
			r.suite.Errors++
			r.suite.Cases = append(r.suite.Cases, junitCase{Class: "swarm must", Name: g.String(), Time: "0", Error: &junitProblem{"not reached", "not reached in " + count(h.seen.Runs(), "seed")}})
		}
	}
	r.took = h.took()
	return r.junitReport.end(&totals{runs: len(r.suite.Cases)})
}
