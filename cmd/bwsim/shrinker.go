package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"backwave/history"
	"backwave/sim"
	"backwave/sim/finding"
	"backwave/sim/shrink"
)

// shrinker runs the plans of a search.
type shrinker struct {
	ctx    context.Context
	jobs   int
	logs   []*history.Log
	target string // the finding that is to stay
	linear bool   // only linearizability shows it
	lazy   bool   // linearizability is only looked at if nothing else was found
	events uint64 // a run may take; 0 = any number
}

func newShrinker(ctx context.Context, jobs int) *shrinker {
	k := &shrinker{ctx: ctx, jobs: jobs, linear: true}
	for range jobs {
		k.logs = append(k.logs, history.NewLog())
	}
	return k
}

// look returns all that a plan has found. A check that was undecided may have
// missed something.
func (k *shrinker) look(p shrink.Plan) (found []finding.Finding, undecided bool) {
	o := k.play(0, p)
	k.events = 4*o.res.Events + spareEvents
	return finding.Of(o.res), o.res.Verdict == sim.Undecided
}

// spareEvents is what a run may take beyond four times the events of the first.
// Without a bound a plan that loses a setting such as its poll interval can keep
// its finding and cost a thousand times more, and so does every try after it.
const spareEvents = 50_000

// play makes one run. One that takes far more events than the first is stopped:
// that depends on the plan alone.
func (k *shrinker) play(worker int, p shrink.Plan) *outcome {
	asked := uint64(0)
	opts := sim.Options{Seed: p.Seed, Stop: func() bool {
		asked += 4096
		return k.events > 0 && asked > k.events || k.ctx.Err() != nil
	}}
	if k.linear {
		opts.Log = k.logs[worker]
		opts.Log.Reset()
	}
	o := &outcome{task: task{sc: p.Scenario, seed: p.Seed}}
	o.run(opts)
	if k.linear && o.stack == "" && !o.res.Stopped && (!k.lazy || len(o.res.Violations) == 0) {
		o.check(opts.Log)
	}
	return o
}

// try is a search's: it makes all runs at once.
func (k *shrinker) try(plans []shrink.Plan) []shrink.Verdict {
	out := make([]shrink.Verdict, len(plans))
	var all sync.WaitGroup
	for i := range plans {
		all.Go(func() {
			o := k.play(i, plans[i])
			if o.res.Stopped {
				return
			}
			for _, f := range finding.Of(o.res) {
				if f.ID == k.target {
					out[i] = shrink.Verdict{Fails: true, At: time.Duration(f.First.At)}
				}
			}
		})
	}
	all.Wait()
	return out
}

// shrink makes start small, and shows how far it is. s may be nil.
func (k *shrinker) shrink(s *screen, start shrink.Plan, target finding.Finding, budget int) shrink.Result {
	k.target, k.linear = target.ID, target.Invariant == linearizable
	o := shrink.Options{
		Try: k.try, Width: k.jobs, Budget: budget,
		Stop: func() bool { return k.ctx.Err() != nil },
	}
	if s != nil {
		shown := time.Now()
		o.Progress = func(p shrink.Progress) {
			if time.Since(shown) < s.pace() {
				return
			}
			shown = time.Now()
			s.progress(fmt.Sprintf("run %s of at most %s: %s, %s", grouped(uint64(p.Steps)), grouped(uint64(budget)), p.Size, p.Pass))
		}
	}
	r, _ := shrink.Shrink(start, o)
	return r
}
