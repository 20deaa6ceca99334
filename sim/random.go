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

// extent is how big a random world is. Most are small: a bug shows in few jobs
// and nodes if it shows at all, and a small world costs a hundredth of a big one.
type extent struct {
	nodes, jobs [2]int // least and most
	pool        int    // most handlers at once, per pump
	leases      [2]int // how long the world lasts, in leases
	work        int    // handlers last up to twice a lease, divided by this
}

var (
	small  = extent{nodes: [2]int{1, 4}, jobs: [2]int{1, 16}, pool: 4, leases: [2]int{6, 14}, work: 1}
	medium = extent{nodes: [2]int{1, 8}, jobs: [2]int{5, 60}, pool: 8, leases: [2]int{6, 10}, work: 1}
	large  = extent{nodes: [2]int{2, 20}, jobs: [2]int{20, 400}, pool: 16, leases: [2]int{4, 8}, work: 4}
	huge   = extent{nodes: [2]int{2, 20}, jobs: [2]int{400, 10_000}, pool: 50, leases: [2]int{4, 6}, work: 100}
)

// randomizer builds one random scenario.
type randomizer struct {
	dice
	sc    *Scenario
	size  extent
	lease time.Duration // of the first group: what the others are measured by
	heals bool          // every fault must heal
	calm  bool          // nothing goes wrong
}

// Random returns a world of random size, timings and faults: which kinds of
// faults occur at all, and how hard they hit, is part of the draw, so that rare
// combinations are not drowned by common ones. The level is drawn as well: one
// world in ten is pristine, three are recoverable, and the others adversarial.
func Random(seed uint64) *Scenario {
	d := dice{seed: mix(seed ^ 0x6c6576656c)}
	return RandomOf(seed, pick(&d, Pristine, Recoverable, Recoverable, Recoverable, Adversarial, Adversarial, Adversarial, Adversarial, Adversarial, Adversarial))
}

// RandomOf is Random for one level.
func RandomOf(seed uint64, level Level) *Scenario {
	r := &randomizer{dice: dice{seed: mix(seed)}, heals: level != Adversarial, calm: level == Pristine}
	r.sc = &Scenario{Name: fmt.Sprintf("random-%d", seed), Story: "A random world.", Level: level, Early: level != Adversarial}
	r.extent()
	r.groups()
	r.nodes()
	r.sc.For = time.Duration(r.between(r.size.leases[0], r.size.leases[1])) * max(r.lease, 4*time.Second)
	r.net()
	r.jobs()
	r.dropUnused()
	if !r.calm && !r.chance(10) {
		r.faults()
	}
	r.last()
	return r.sc
}

func (r *randomizer) extent() {
	switch n := r.upTo(200); {
	case n < 1:
		r.size = huge
	case n < 10:
		r.size = large
	case n < 50:
		r.size = medium
	default:
		r.size = small
	}
	r.lease = pick(&r.dice, time.Second, time.Second, 3*time.Second, 10*time.Second, 10*time.Second, 30*time.Second, time.Minute, time.Minute, 10*time.Minute, time.Hour, 6*time.Hour)
}

// last makes a world that promises that jobs get done last until that has to be
// so.
func (r *randomizer) last() {
	if r.sc.Level == Adversarial {
		return
	}
	bound, _ := Bound(r.sc)
	r.sc.For = min(r.sc.For+bound, 365*24*time.Hour)
}

func (r *randomizer) groups() {
	names := []string{"a", "b", "c"}[:r.between(1, 3)]
	for g := range r.between(1, 2) {
		c := pump.Config{LeaseDuration: r.lease, PoolSize: r.between(1, r.size.pool)}
		if g == 1 {
			c.LeaseDuration = pick(&r.dice, r.lease, 2*r.lease)
		}
		for i, q := range names {
			if len(c.Queues) == 0 && i == len(names)-1 || r.chance(70) {
				c.Queues = append(c.Queues, pump.Queue{Name: q, Weight: r.between(1, 4)})
			}
		}
		c.Weighted = r.chance(30)
		r.rhythm(&c)
		if r.chance(40) {
			c.ClaimBatch, c.ReportBatch, c.SweepBatch = r.between(1, 3), r.between(1, 3), r.between(1, 3)
		}
		if r.chance(40) && !r.calm {
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

// rhythm draws how often a pump does what: by the lease, since a world of hours
// that polls by the second is idle at great cost.
func (r *randomizer) rhythm(c *pump.Config) {
	c.MaintenanceInterval, c.PollInterval = r.lease/time.Duration(r.between(1, 6)), r.lease/time.Duration(r.between(4, 20))
	if r.lease <= time.Minute {
		c.MaintenanceInterval, c.PollInterval = min(5*time.Second, c.MaintenanceInterval), min(time.Second, c.PollInterval)
	}
	if r.chance(25) {
		c.MaxPollInterval = c.PollInterval * 8
	}
	if r.chance(20) {
		c.HeartbeatInterval = r.lease / time.Duration(r.between(4, 10))
	}
	if r.chance(20) {
		c.OperationTimeout = min(c.LeaseDuration/time.Duration(r.between(7, 20)), 10*time.Second)
	}
}

func (r *randomizer) nodes() {
	clocks := r.chance(50)
	for i := range r.between(r.size.nodes[0], r.size.nodes[1]) {
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

// net draws the network. Where jobs must get done it is never slower than a
// pump's patience: one message in so many is twenty times as slow.
func (r *randomizer) net() {
	r.sc.Net = Net{Latency: r.span(100*time.Microsecond, 5*time.Millisecond), Tail: pick(&r.dice, 0, 0, 20, 100)}
	if r.heals {
		for i := range r.sc.Groups {
			r.sc.Net.Latency = min(r.sc.Net.Latency, r.sc.Groups[i].Config.Resolved().OperationTimeout/100)
		}
	}
	r.sc.Net.Hints = pick(&r.dice, "all", "none", "some", "late", "doubled")
}

func (r *randomizer) jobs() {
	var served []string
	for _, g := range r.sc.Groups {
		for _, q := range g.Config.Queues {
			if !slices.Contains(served, q.Name) {
				served = append(served, q.Name)
			}
		}
	}
	unique := pick(&r.dice, 0, 20, 60)
	rush := r.chance(25) // all at once: slots are short
	began := r.span(0, r.sc.For/2)
	n := r.between(r.size.jobs[0], r.size.jobs[1])
	for i := 0; n > 0; i++ {
		j := Job{
			ID: fmt.Sprintf("j%d", i+1), Name: pick(&r.dice, "work", "work", "bounded"), Queue: served[r.upTo(len(served))],
			At: r.span(0, r.sc.For/2),
		}
		if rush {
			j.At = began + r.span(0, r.lease/100)
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
		if i >= 12 && n > 4 { // the rest come in crowds
			j.Unique, j.Count = "", r.between(1, n)
			j.Every = r.span(0, r.sc.For/2) / time.Duration(j.Count)
			j.At /= 2
		}
		n -= max(1, j.Count)
		r.settle(&j)
		r.sc.Jobs = append(r.sc.Jobs, j)
	}
}

// settle makes a job end by itself, where that is promised.
func (r *randomizer) settle(j *Job) {
	if !r.heals {
		return
	}
	for i := range j.Run {
		s := &j.Run[i]
		if s.End == "hang" || r.calm {
			s.End = "ok"
		}
		if r.calm {
			s.Output = 0
		}
	}
	if last := &j.Run[len(j.Run)-1]; last.End == "snooze" {
		last.End = "ok"
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
	lease := r.lease / time.Duration(r.size.work)
	s := Script{For: r.span(time.Millisecond, 2*lease), OnCancel: pick(&r.dice, "stop", "stop", "ok", "ignore"), StopIn: r.span(0, r.lease/4)}
	if r.chance(50) {
		s.For = r.span(time.Millisecond, lease/4)
	}
	if r.chance(45) {
		s.End = pick(&r.dice, Ends[r.upTo(len(Ends))], Ends[r.upTo(len(Ends))], "error", "discard", "snooze")
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
