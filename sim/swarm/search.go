package swarm

import (
	"fmt"
	"slices"

	"backwave/sim"
)

// Plan is one run to be made: a world and the seed of its run.
type Plan struct {
	Number   int // in the order of the search, from 0
	Scenario *sim.Scenario
	Seed     uint64
	Drawn    bool // the world is that which sim.Random makes of Seed: the seed says it all
}

// Config says what to search.
type Config struct {
	First  uint64    // first seed
	Level  sim.Level // "" = each seed draws its own
	Shard  int       // which part of the seeds is searched, from 1; 0 = all
	Shards int       // of so many
	Guided bool      // make plans out of those that reached something new
}

// generation is how many plans are made of the same knowledge.
const generation = 64

// keep bounds the plans that others are made of, and samples those that are kept
// for each situation; the oldest are forgotten first.
const (
	keep    = 512
	samples = 16
)

// Search makes plans. Its zero value is not ready; see New.
type Search struct {
	cfg     Config
	seen    *Coverage
	goals   []Goal
	next    int // number of the next plan
	learned int

	// Of a guided search:
	corpus []Plan            // plans that reached something new, in their order
	sample map[string][]Plan // the last that reached each situation
	known  []knowledge       // when each generation had been learned
}

// knowledge is what plans can be made of.
type knowledge struct {
	corpus int      // length
	aims   [][]Plan // for each goal that is missing: plans that are half-way there
}

// New returns a search that has made no plan yet.
func New(c Config) *Search {
	c.Shards = max(1, c.Shards)
	c.Shard = min(max(1, c.Shard), c.Shards)
	return &Search{cfg: c, seen: NewCoverage(), goals: Must(sim.Situations()), sample: map[string][]Plan{}}
}

// Seen returns what the plans that were learned have reached.
func (s *Search) Seen() *Coverage { return s.seen }

// Ready reports whether Next can be called: a guided search makes the plans of a
// generation from what it has learned up to the one before the last, and must
// have learned it. A blind one is always ready.
func (s *Search) Ready() bool {
	return !s.cfg.Guided || s.learned >= (s.next/generation-1)*generation
}

// Next makes the next plan.
func (s *Search) Next() Plan {
	n := s.next
	s.next++
	seed := s.cfg.First + uint64(n)*uint64(s.cfg.Shards) + uint64(s.cfg.Shard-1)
	if g := n/generation - 1; s.cfg.Guided && g >= 1 && choose(seed, 1, 4) > 0 {
		if parent, ok := s.parent(seed, &s.known[g-1]); ok {
			sc := sim.Mutate(parent.Scenario, seed)
			sc.Name = fmt.Sprintf("guided-%d", seed)
			return Plan{Number: n, Seed: seed, Scenario: sc}
		}
	}
	p := Plan{Number: n, Seed: seed, Drawn: s.cfg.Level == "", Scenario: sim.Random(seed)}
	if s.cfg.Level != "" {
		p.Scenario = sim.RandomOf(seed, s.cfg.Level)
	}
	return p
}

// parent chooses what a plan is made of: one that has reached half of a goal
// that is missing; else one that reached something new, rather a young one, whose
// neighbourhood nobody has looked at.
func (s *Search) parent(seed uint64, k *knowledge) (p Plan, ok bool) {
	if n := len(k.aims); n > 0 && choose(seed, 5, 2) == 0 {
		aim := k.aims[choose(seed, 6, n)]
		return aim[choose(seed, 7, len(aim))], true
	}
	corpus := s.corpus[max(0, k.corpus-keep):k.corpus]
	if len(corpus) == 0 {
		return p, false
	}
	if choose(seed, 3, 2) == 0 {
		young := min(32, len(corpus))
		return corpus[len(corpus)-1-choose(seed, 4, young)], true
	}
	return corpus[choose(seed, 2, len(corpus))], true
}

// Learn books which situations the run of p has reached. Plans must be learned
// in their order.
func (s *Search) Learn(p Plan, situations []string) {
	fresh := s.seen.Add(situations)
	s.learned++
	if !s.cfg.Guided {
		return
	}
	if fits(p.Scenario) {
		if fresh {
			s.corpus = append(s.corpus, p)
		}
		for _, name := range situations {
			l := append(s.sample[name], p)
			s.sample[name] = l[max(0, len(l)-samples):]
		}
	}
	if s.learned%generation == 0 {
		s.known = append(s.known, knowledge{len(s.corpus), s.aims()})
	}
}

// fits reports whether plans are to be made of a world. A big one reaches more,
// and so do ten small ones for the same price.
func fits(sc *sim.Scenario) bool {
	jobs := 0
	for i := range sc.Jobs {
		jobs += max(1, sc.Jobs[i].Count)
	}
	return jobs <= 30 && len(sc.Nodes) <= 5
}

// aims returns for each missing pair plans that reached the rarer half of it.
func (s *Search) aims() (out [][]Plan) {
	for _, g := range s.seen.Missing(s.goals) {
		rare := g.A
		if g.B != "" && s.seen.Hits(g.B) > 0 && (s.seen.Hits(g.B) < s.seen.Hits(g.A) || s.seen.Hits(g.A) == 0) {
			rare = g.B
		}
		if l := s.sample[rare]; len(l) > 0 {
			out = append(out, slices.Clone(l))
		}
	}
	return out
}

// choose returns a number in [0, n) that depends on its arguments alone.
func choose(seed, what uint64, n int) int {
	x := seed + what*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) % uint64(n))
}
