package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"backwave/sim"
	"backwave/sim/finding"
	"backwave/sim/swarm"
)

// shown is a finding with what people need to repeat it.
type shown struct {
	*swarm.Finding
	message string // of the first violation, in the scenario's names
	file    string // of its plan; "" if none was kept
	repeat  string // a command
}

// swarmReport tells of a search.
type swarmReport interface {
	found(x *shown)        // something that was not found before
	end(h *swarmRun) error // the search is over
}

// levelSums adds up what the worlds of one level have shown.
type levelSums struct {
	runs    int
	broken  int           // runs that did not hold; what follows is about the others
	jobs    int           // that can finish and were judged
	share   float64       // the largest share of a bound that a job took
	took    time.Duration // then
	bound   time.Duration
	wait    time.Duration // the longest wait of a due job beside a free slot
	waitMax time.Duration // and its bound
	silent  int           // worlds of which nothing could be said
}

// swarmRun is one search.
type swarmRun struct {
	flags  *swarmFlags
	cfg    swarm.Config
	plans  *swarm.Search
	seen   *swarm.Coverage
	finds  *swarm.Findings
	shelf  *shelf
	player *player

	began, ended time.Time
	shown        []*shown
	levels       map[sim.Level]*levelSums
	undecided    int
	events       uint64
	nodes        time.Duration // simulated time × nodes
	cut          bool          // Ctrl-C came before it was due
}

func newSwarmRun(f *swarmFlags, c swarm.Config, finds *swarm.Findings, s *shelf) *swarmRun {
	h := &swarmRun{flags: f, cfg: c, plans: swarm.New(c), finds: finds, shelf: s, player: newPlayer(f.jobs), levels: map[sim.Level]*levelSums{}}
	h.player.linear, h.seen = !f.noLinear, h.plans.Seen()
	for _, l := range []sim.Level{sim.Pristine, sim.Recoverable, sim.Adversarial} {
		h.levels[l] = &levelSums{}
	}
	return h
}

// ran is a run that is made, or to be made.
type ran struct {
	plan swarm.Plan
	done chan *outcome
}

// ahead is how many runs may be begun before an earlier one is done: a big world
// takes as long as a thousand small ones.
const ahead = 256

// search makes runs until it is told to end, and books them in their order, so
// that what is found does not depend on how much is done at once.
func (h *swarmRun) search(ctx context.Context, s *screen, reports []swarmReport) error {
	h.began = time.Now()
	defer func() { h.ended = time.Now() }()
	h.player.stop = func() bool { return ctx.Err() != nil }
	work := make(chan *ran)
	stop := h.workers(work)
	defer stop()
	tick := time.NewTicker(s.pace())
	defer tick.Stop()
	var line []*ran // begun, in order
	var next *ran   // made, but not begun
	for begun := 0; ; {
		more := h.more(ctx, begun)
		if !more {
			next = nil
		}
		if more && next == nil && len(line) < ahead && h.plans.Ready() {
			next = &ran{h.plans.Next(), make(chan *outcome, 1)}
		}
		if len(line) == 0 && next == nil {
			return nil
		}
		to, first := work, chan *outcome(nil)
		if next == nil {
			to = nil
		}
		if len(line) > 0 {
			first = line[0].done
		}
		select {
		case to <- next:
			line, next = append(line, next), nil
			begun++
		case o := <-first:
			p := line[0].plan
			line = line[1:]
			if err := h.book(p, o, reports); err != nil {
				return err
			}
			s.flush()
		case <-tick.C:
			s.progress(h.line())
		}
	}
}

// more reports whether another run is to be begun.
func (h *swarmRun) more(ctx context.Context, begun int) bool {
	f := h.flags
	if f.seeds > 0 && begun >= f.seeds || f.length > 0 && time.Since(h.began) >= f.length {
		return false
	}
	if ctx.Err() != nil {
		h.cut = f.seeds > 0 || f.length > 0 // what has no end of its own is ended so
		return false
	}
	return true
}

// workers starts what makes runs. The function returned ends it.
func (h *swarmRun) workers(work chan *ran) (stop func()) {
	var all sync.WaitGroup
	for k := range h.flags.jobs {
		all.Go(func() {
			for r := range work {
				r.done <- h.player.play(k, task{sc: r.plan.Scenario, seed: r.plan.Seed})
			}
		})
	}
	return func() {
		close(work)
		all.Wait()
	}
}

// book learns from a run.
func (h *swarmRun) book(p swarm.Plan, o *outcome, reports []swarmReport) error {
	if o.res.Stopped {
		return nil
	}
	h.plans.Learn(p, o.res.Situations)
	h.events += o.res.Events
	h.nodes += o.res.Virtual * time.Duration(len(p.Scenario.Nodes))
	if o.res.Verdict == sim.Undecided {
		h.undecided++
	}
	h.levels[p.Scenario.Level].add(o.res)
	for _, x := range h.finds.Add(p, finding.Of(o.res)) {
		f := &shown{Finding: x, message: o.names(x.First.Message), repeat: h.repeat(p)}
		var err error
		if f.file, err = h.shelf.keep(x, f.repeat, f.message); err != nil {
			return cannot("%v", err)
		}
		if f.file != "" && !p.Drawn {
			f.repeat = "bwsim run " + quote(f.file)
		}
		h.shown = append(h.shown, f)
		for _, r := range reports {
			r.found(f)
		}
	}
	return nil
}

// repeat is the command that makes the run of p again without its file.
func (h *swarmRun) repeat(p swarm.Plan) string {
	switch {
	case p.Drawn:
		return fmt.Sprintf("bwsim run --random --seed %d", p.Seed)
	case h.cfg.Guided:
		return fmt.Sprintf("bwsim swarm --guided --seed %d --seeds %d", h.cfg.First, p.Number+1)
	}
	return fmt.Sprintf("bwsim swarm --level %s --seed %d --seeds 1", h.cfg.Level, p.Seed)
}

func (l *levelSums) add(r *sim.Result) {
	l.runs++
	if r.Verdict == sim.Violated {
		l.broken++
		return // it has shown something else
	}
	l.jobs += r.Live.Judged
	if r.Live.Why != "" {
		l.silent++
	} else if share := float64(r.Live.Took) / float64(r.Live.Bound); share > l.share {
		l.share, l.took, l.bound = share, r.Live.Took, r.Live.Bound
	}
	if r.Wait > l.wait {
		l.wait, l.waitMax = r.Wait, r.WaitBound
	}
}

// goals returns what must be reached, and was not.
func (h *swarmRun) goals() (all int, missing []swarm.Goal) {
	must := swarm.Must(sim.Situations())
	return len(must), h.seen.Missing(must)
}

// exit returns the exit code: the worst that was seen.
func (h *swarmRun) exit() int {
	switch _, missing := h.goals(); {
	case h.finds.Unknown() > 0:
		return exitViolated
	case h.cut:
		return exitCannot
	case h.undecided > 0, h.flags.must && len(missing) > 0:
		return exitUndecided
	}
	return exitHeld
}

func (h *swarmRun) took() time.Duration {
	if h.ended.IsZero() {
		return time.Since(h.began)
	}
	return h.ended.Sub(h.began)
}

// rate is n per second of real time.
func (h *swarmRun) rate(n uint64) string {
	per := float64(n) / max(h.took().Seconds(), 0.001)
	switch {
	case per >= 1e6:
		return fmt.Sprintf("%.1f million", per/1e6)
	case per >= 10:
		return grouped(uint64(per))
	}
	return fmt.Sprintf("%.1f", per)
}

// line is how the search stands.
func (h *swarmRun) line() string {
	reached, of := h.seen.Reached()
	met, _ := h.seen.Met()
	return fmt.Sprintf("%.0f s  %s seeds (%s/s)  %s node-hours  %s events/s  %d of %d situations, %s pairs  %s",
		h.took().Seconds(), grouped(uint64(h.seen.Runs())), h.rate(uint64(h.seen.Runs())), grouped(uint64(h.nodes.Hours())), h.rate(h.events), reached, of, grouped(uint64(met)), count(len(h.shown), "finding"))
}
