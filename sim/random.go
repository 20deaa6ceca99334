package sim

import (
	"fmt"
	"slices"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// dice draws the quantities of a random scenario. Here a stream does no harm:
// what comes out is a plan as data, from which things can then be taken away
// one by one.
type dice struct{ seed, n uint64 }

func (d *dice) next() uint64 {
	d.n++
	return draw(d.seed, 99, d.n, 0, 0)
}

// upTo returns a number in [0, n).
func (d *dice) upTo(n int) int { return int(d.next() % uint64(n)) }

// between returns a number in [lo, hi].
func (d *dice) between(lo, hi int) int { return lo + d.upTo(hi-lo+1) }

// chance is true in percent of 100 cases.
func (d *dice) chance(percent int) bool { return d.upTo(100) < percent }

// span returns a duration in [lo, hi], in steps of a microsecond.
func (d *dice) span(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(d.next()%uint64((hi-lo)/time.Microsecond+1))*time.Microsecond
}

func pick[T any](d *dice, list ...T) T { return list[d.upTo(len(list))] }

// randomizer builds one random scenario.
type randomizer struct {
	dice
	sc    *Scenario
	lease time.Duration // of the first group: what the others are measured by
}

// Random returns a world of random size, timings and faults. Which kinds of
// faults occur at all is part of the draw, so that rare combinations are not
// drowned by common ones.
func Random(seed uint64) *Scenario {
	r := &randomizer{dice: dice{seed: mix(seed)}, sc: &Scenario{Name: fmt.Sprintf("random-%d", seed), Story: "A random world.", Level: Adversarial}}
	r.groups()
	r.nodes()
	r.sc.For = time.Duration(r.between(6, 14)) * max(r.lease, 4*time.Second)
	r.net()
	r.jobs()
	r.dropUnused()
	if !r.chance(10) {
		r.faults()
	}
	return r.sc
}

func (r *randomizer) groups() {
	r.lease = pick(&r.dice, time.Second, 3*time.Second, 10*time.Second, 10*time.Second, 30*time.Second, time.Minute)
	names := []string{"a", "b", "c"}[:r.between(1, 3)]
	for g := range r.between(1, 2) {
		c := pump.Config{LeaseDuration: r.lease, PoolSize: r.between(1, 4)}
		if g == 1 {
			c.LeaseDuration = pick(&r.dice, r.lease, 2*r.lease)
		}
		for i, q := range names {
			if len(c.Queues) == 0 && i == len(names)-1 || r.chance(70) {
				c.Queues = append(c.Queues, pump.Queue{Name: q, Weight: r.between(1, 4)})
			}
		}
		c.Weighted = r.chance(30)
		c.MaintenanceInterval = min(5*time.Second, r.lease/time.Duration(r.between(1, 6)))
		c.PollInterval = min(time.Second, r.lease/time.Duration(r.between(4, 20)))
		if r.chance(25) {
			c.MaxPollInterval = c.PollInterval * 8
		}
		if r.chance(40) {
			c.ClaimBatch, c.ReportBatch, c.SweepBatch = r.between(1, 3), r.between(1, 3), r.between(1, 3)
		}
		if r.chance(40) {
			c.Timeouts = []pump.Timeout{{Name: "bounded", After: r.span(r.lease/4, 2*r.lease)}}
			c.AbandonAfter = r.span(r.lease/2, 2*r.lease)
		}
		c.ReleaseOnDrain = r.chance(30)
		if r.chance(30) {
			c.FinishTimeout = r.span(r.lease/4, r.lease)
		}
		c.ShutdownTimeout = r.span(r.lease/4, r.lease)
		c.Terms = &store.Terms{Default: store.Policy{MaxAttempts: r.between(1, 4), First: r.span(10*time.Millisecond, r.lease/2), NoJitter: r.chance(20)}}
		if r.chance(40) {
			c.Terms.ByName = []store.NamedPolicy{{Name: "bounded", Policy: store.Policy{MaxAttempts: r.between(1, 6), First: r.span(10*time.Millisecond, r.lease/2), Factor: r.between(1, 3)}}}
		}
		r.sc.Groups = append(r.sc.Groups, Group{Name: []string{"g", "h"}[g], Pumps: pick(&r.dice, 1, 1, 2), Config: c})
	}
}

func (r *randomizer) nodes() {
	clocks := r.chance(50)
	for i := range r.between(1, 4) {
		n := Node{Name: fmt.Sprintf("n%d", i+1), Start: r.span(0, r.lease/4)}
		if len(r.sc.Groups) == 2 && r.chance(30) {
			n.Groups = []string{r.sc.Groups[r.upTo(2)].Name}
		}
		if clocks {
			n.Mono = Clock{Offset: r.span(0, time.Hour), Drift: r.between(-200, 200)}
			n.Wall = Clock{Offset: r.span(0, 2*time.Hour) - time.Hour, Drift: n.Mono.Drift}
		}
		r.sc.Nodes = append(r.sc.Nodes, n)
	}
	if clocks {
		r.sc.Store = Clock{Offset: r.span(0, 2*time.Hour) - time.Hour, Drift: r.between(-200, 200)}
	}
}

func (r *randomizer) net() {
	r.sc.Net = Net{Latency: r.span(100*time.Microsecond, 5*time.Millisecond), Tail: pick(&r.dice, 0, 0, 20, 100)}
	r.sc.Net.Hints = pick(&r.dice, "all", "none", "some", "late", "doubled")
}

func (r *randomizer) jobs() {
	queues := map[string]bool{}
	var served []string
	for _, g := range r.sc.Groups {
		for _, q := range g.Config.Queues {
			if !queues[q.Name] {
				queues[q.Name] = true
				served = append(served, q.Name)
			}
		}
	}
	unique := pick(&r.dice, 0, 20, 60)
	for i := range r.between(1, 16) {
		j := Job{
			ID: fmt.Sprintf("j%d", i+1), Name: pick(&r.dice, "work", "work", "bounded"), Queue: served[r.upTo(len(served))],
			At: r.span(0, r.sc.For/2),
		}
		if r.chance(15) {
			j.In = r.span(0, r.lease)
		}
		if r.chance(15) {
			j.MaxAttempts = r.between(1, 5)
		}
		if r.chance(unique) {
			j.Unique = pick(&r.dice, "key-1", "key-2")
		}
		for range r.between(1, 3) {
			j.Run = append(j.Run, r.script())
		}
		r.sc.Jobs = append(r.sc.Jobs, j)
	}
}

// dropUnused takes away what groups say of a name that no job has: a file
// must not speak of it.
func (r *randomizer) dropUnused() {
	if slices.ContainsFunc(r.sc.Jobs, func(j Job) bool { return j.Name == "bounded" }) {
		return
	}
	for i := range r.sc.Groups {
		c := &r.sc.Groups[i].Config
		c.Terms.ByName, c.Timeouts = nil, nil
	}
}

func (r *randomizer) script() Script {
	s := Script{For: r.span(time.Millisecond, 2*r.lease), OnCancel: pick(&r.dice, "stop", "stop", "ok", "ignore"), StopIn: r.span(0, r.lease/4)}
	if r.chance(50) {
		s.For = r.span(time.Millisecond, r.lease/4)
	}
	if r.chance(45) {
		s.End = pick(&r.dice, Ends[r.upTo(len(Ends))], Ends[r.upTo(len(Ends))], "error", "discard")
		s.After = r.span(0, r.lease)
	}
	if r.chance(5) {
		s.Output = store.MaxOutput + r.between(-1, 1)
	}
	if r.chance(10) {
		s.Progress = r.lease / 5
	}
	return s
}
