package sim

import (
	"slices"
	"time"
)

// most faults of a mutated world: what is added for ever is never looked at.
const mostFaults = 60

// Mutate returns a world that differs from sc, made by Random or by Mutate, in a
// few things: faults more, fewer or others, another network, another rhythm of
// its pumps, other handlers. sc is left as it is. A pristine world becomes a
// recoverable one.
func Mutate(sc *Scenario, seed uint64) *Scenario {
	c := *sc
	if c.Level == Pristine {
		c.Level = Recoverable
	}
	r := &randomizer{dice: dice{seed: mix(seed ^ 0x6d7574)}, sc: &c, size: small, lease: sc.Groups[0].Config.LeaseDuration, heals: c.Level != Adversarial}
	c.Timeline, c.Groups, c.Jobs = slices.Clone(sc.Timeline), slices.Clone(sc.Groups), slices.Clone(sc.Jobs)
	c.For = r.horizon()
	for range r.between(1, 3) {
		r.change()
	}
	for len(c.Timeline) > mostFaults {
		r.drop()
	}
	r.last()
	return &c
}

// horizon is until when something may go wrong. A recoverable world lasts longer
// than that, for its jobs to get done.
func (r *randomizer) horizon() time.Duration {
	if !r.heals {
		return r.sc.For
	}
	last := 6 * max(r.lease, 4*time.Second)
	for i := range r.sc.Jobs {
		j := &r.sc.Jobs[i]
		last = max(last, j.At+time.Duration(j.Count)*j.Every)
	}
	return last + 2*r.lease
}

// change makes one change.
func (r *randomizer) change() {
	switch r.upTo(10) {
	default: // most of what there is to find lies in how faults meet
		kinds := r.kinds()
		for range r.between(1, 3) {
			kinds[r.upTo(len(kinds))]()
		}
	case 0, 1:
		for range r.between(1, 4) {
			r.drop()
		}
	case 2:
		r.net()
	case 3:
		r.rhythm(&r.sc.Groups[r.upTo(len(r.sc.Groups))].Config)
	case 4:
		j := &r.sc.Jobs[r.upTo(len(r.sc.Jobs))]
		j.Run = slices.Clone(j.Run)
		j.Run[r.upTo(len(j.Run))] = r.script()
		r.settle(j)
	}
}

// drop takes away a fault, if there is one.
func (r *randomizer) drop() {
	if n := len(r.sc.Timeline); n > 0 {
		i := r.upTo(n)
		r.sc.Timeline = slices.Delete(r.sc.Timeline, i, i+1)
	}
}
