package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"backwave/history"
	"backwave/sim"
	"backwave/sim/finding"
	"backwave/sim/travel"
)

// mostBetween is how many lines of the story are told of the step after which
// the odds are highest.
const mostBetween = 20

type oddsFlags struct {
	seeds, points int
	from, until   uint64
	finding       string
	seed          uint64
	format        string
	jobs          int
}

func oddsCommand(s *screen) *cobra.Command {
	f := &oddsFlags{}
	c := &cobra.Command{
		Use:   "odds FILE",
		Short: "Show where in a run its failure became likely",
		Long: `odds goes back to points of a run that fails, from its first event to the one that
showed the failure, and makes the rest of it again and again, each time with
another seed. It prints in how many of those runs the same finding comes up. Where
the bar grows the failure was decided: what came before did not matter, what came
after could not help. FILE is a plan, a scenario file, or the name of a shipped
scenario.

Everything that the plan says stays as it is; a seed decides how long messages
take and which hints get lost. The result does not depend on --jobs.`,
		Example: "  bwsim odds plan.yaml\n  bwsim odds plan.yaml --seeds 1000 --points 40\n  bwsim odds plan.yaml --from 195 --until 215   a closer look\n  bwsim odds plan.yaml --finding fence      not of the first finding, but of this one",
		Args:    oneArg("a plan or a scenario"),
		RunE: func(c *cobra.Command, args []string) error {
			src, err := loadWithSeed(c, args[0], f.seed)
			if err != nil {
				return err
			}
			return f.run(c.Context(), s, src)
		},
	}
	c.Flags().IntVar(&f.seeds, "seeds", 100, "runs from each point")
	c.Flags().IntVar(&f.points, "points", 20, "how many points, at least 2")
	c.Flags().Uint64Var(&f.from, "from", 1, "the first point: the number of an `EVENT`")
	c.Flags().Uint64Var(&f.until, "until", 0, "the last point; default: just after the `EVENT` that showed the failure")
	c.Flags().StringVar(&f.finding, "finding", "", "`ID` of the finding, or its invariant; default: the first")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of a scenario; default of a plan: its own")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	addJobs(c, &f.jobs, "runs at once")
	return c
}

// gambler makes the rest of one run again and again.
type gambler struct {
	ctx    context.Context
	src    source
	target finding.Finding
	events uint64 // that a run may take
	logs   []*history.Log
}

func (f *oddsFlags) run(ctx context.Context, s *screen, src source) error {
	switch {
	case f.format != "text" && f.format != "json":
		return usage("--format %s: want text or json", f.format)
	case f.seeds < 1 || f.jobs < 1:
		return usage("--seeds %d --jobs %d: want at least 1", f.seeds, f.jobs)
	case f.points < 2:
		return usage("--points %d: want at least 2", f.points)
	}
	was := follow(ctx, src.sc, src.seed)
	if err := was.stopped(); err != nil {
		return err
	}
	found := finding.Of(was.res)
	target, ok := choose(found, f.finding)
	switch {
	case !ok && len(found) > 0:
		return usage("--finding %s: the run has no such finding, but %s", f.finding, ids(found))
	case !ok && was.res.Verdict == sim.Undecided:
		s.printf("%s, seed %d, is undecided: there is no finding to look for\n", src.sc.Name, src.seed)
		return verdict(exitUndecided)
	case !ok:
		s.printf("%s, seed %d, holds: there is no failure that could have become likely\n", src.sc.Name, src.seed)
		return nil
	}
	last := uint64(len(was.trail.Events)) // of what a history shows, no event is known
	if e := target.First.Event; e > 0 {
		last = min(last, e)
	}
	until := last + 1
	if f.until > 0 {
		until = min(until, f.until)
	}
	if f.from < 1 || f.from >= until {
		return usage("--from %d: want an event before %d", f.from, until)
	}
	g := &gambler{ctx: ctx, src: src, target: target, events: 4*was.res.Events + 1_000_000}
	for range f.jobs {
		g.logs = append(g.logs, history.NewLog())
	}
	list := f.play(s, g, was, travel.Points(f.from, until, f.points))
	if ctx.Err() != nil {
		return cannot("interrupted: a part of the runs says nothing")
	}
	o := &oddsReport{f: f, src: src, was: was, target: target, list: list}
	if f.format == "json" {
		o.json(s)
	} else {
		o.print(s)
	}
	return verdict(exitViolated)
}

// play makes all runs from all points.
func (f *oddsFlags) play(s *screen, g *gambler, was *followed, points []uint64) []travel.Odds {
	list := make([]travel.Odds, len(points))
	for i, p := range points {
		e := was.trail.Events[min(p, uint64(len(was.trail.Events)))-1]
		list[i] = travel.Odds{Event: p, At: int64(e.At)}
	}
	n, done, shown := len(points)*f.seeds, 0, time.Now()
	for r := range inOrder(g.ctx, n, f.jobs, func(worker, i int) ending {
		return g.play(worker, points[i/f.seeds], g.src.seed+1+uint64(i%f.seeds))
	}) {
		o := &list[done/f.seeds]
		o.Runs++
		switch r {
		case same:
			o.Same++
		case other:
			o.Other++
		case held:
			o.Held++
		}
		done++
		if time.Since(shown) > s.pace() {
			shown = time.Now()
			s.progress(fmt.Sprintf("run %s of %s", grouped(uint64(done)), grouped(uint64(n))))
		}
	}
	return list
}

// ending is how a run went, as odds count it.
type ending int

const (
	held ending = iota
	same
	other
)

// play makes one run whose rest has another seed.
func (g *gambler) play(worker int, from, seed uint64) ending {
	asked := uint64(0)
	opts := sim.Options{Seed: g.src.seed, Reseed: sim.Reseed{From: from, Seed: seed}, Stop: func() bool {
		asked += 4096
		return asked > g.events || g.ctx.Err() != nil
	}}
	linear := g.target.Invariant == linearizable
	if linear {
		opts.Log = g.logs[worker]
		opts.Log.Reset()
	}
	o := &outcome{task: task{sc: g.src.sc, seed: g.src.seed}}
	o.run(opts)
	if linear && o.stack == "" && !o.res.Stopped {
		o.check(opts.Log)
	}
	found := finding.Of(o.res)
	switch {
	case o.res.Stopped, len(found) == 0:
		return held
	case finding.Has(found, g.target.ID):
		return same
	}
	return other
}

// oddsReport is what came of it.
type oddsReport struct {
	f      *oddsFlags
	src    source
	was    *followed
	target finding.Finding
	list   []travel.Odds
}

func (o *oddsReport) json(s *screen) {
	s.json(struct {
		Scenario  string        `json:"scenario"`
		Seed      uint64        `json:"seed"`
		Finding   string        `json:"finding"`
		Invariant string        `json:"invariant"`
		Shape     string        `json:"shape"`
		Seeds     int           `json:"seeds"`
		Points    []travel.Odds `json:"points"`
		Rise      int           `json:"rise"` // place of the point before which the share rises most; 0 = it does not
	}{o.src.sc.Name, o.src.seed, o.target.ID, o.target.Invariant, o.target.Shape, o.f.seeds, o.list, travel.Rise(o.list)})
}

func (o *oddsReport) print(s *screen) {
	s.printf("%s\n", s.paint(bold, fmt.Sprintf("%s, seed %d", o.src.sc.Name, o.src.seed)))
	s.printf("  %s at %s: %s\n\n", s.paint(bold, o.target.ID), clock(time.Duration(o.target.First.At)), o.target.Shape)
	s.printf("%10s  %9s  %s\n", "from event", "at", "runs of "+grouped(uint64(o.f.seeds))+" that have the finding")
	rise := travel.Rise(o.list)
	for i, p := range o.list {
		bar := strings.Repeat("█", p.Share()*40/100)
		if i == rise && i > 0 {
			bar = s.paint(red, bar)
		}
		rest := ""
		if p.Other > 0 {
			rest = fmt.Sprintf("  (%d have others)", p.Other)
		}
		s.printf("%10s  %9s  %3d %%  %s%s\n", grouped(p.Event), clock(time.Duration(p.At)), p.Share(), bar, rest)
	}
	s.printf("\n")
	o.risen(s, rise)
}

// risen tells what happened where the share rises most.
func (o *oddsReport) risen(s *screen, rise int) {
	if rise == 0 {
		s.printf("it was never less likely before: what the plan says decides it, not chance\n")
		return
	}
	a, b := o.list[rise-1], o.list[rise]
	s.printf("it became likely between event %s and %s: from %d %% to %d %%. There\n", grouped(a.Event), grouped(b.Event), a.Share(), b.Share())
	lines := condense(o.was.trail.Between(a.Event-1, b.Event-1))
	s.told(lines[max(0, len(lines)-mostBetween):])
	if events := o.was.trail.Events[a.Event-1 : b.Event-1]; len(lines) == 0 || len(events) <= mostBetween {
		for i, e := range events[:min(mostBetween, len(events))] {
			s.printf("  event %d  %s  %s\n", a.Event+uint64(i), clock(e.At), e.What)
		}
	}
	if b.Event-a.Event > 1 {
		s.printf("closer: bwsim odds %s --seed %d --from %d --until %d\n", quote(o.src.arg), o.src.seed, a.Event, b.Event)
	}
}
