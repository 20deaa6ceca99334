package store

import (
	"encoding/binary"
	"time"
)

// Policy says when a job is tried again and when it is given up. It is plain
// data, so that every store can compute the same delays. A zero field means
// its documented default.
type Policy struct {
	MaxAttempts int           // attempts that count before the job is dead-lettered; default 10
	First       time.Duration // delay after the first attempt that counts; default 2s
	Factor      int           // multiplies the delay with every further attempt; default 2
	Cap         time.Duration // longest delay before jitter; default 300s
	Jitter      int           // spread in percent, to either side, at most 50; default 10
	NoJitter    bool          // no spread at all
}

// defaultPolicy is what a zero Policy means.
var defaultPolicy = Policy{MaxAttempts: 10, First: 2 * time.Second, Factor: 2, Cap: 300 * time.Second, Jitter: 10}

// WithDefaults returns p with every zero field replaced by its default.
func (p Policy) WithDefaults() Policy {
	if p.MaxAttempts == 0 {
		p.MaxAttempts = defaultPolicy.MaxAttempts
	}
	if p.First == 0 {
		p.First = defaultPolicy.First
	}
	if p.Factor == 0 {
		p.Factor = defaultPolicy.Factor
	}
	if p.Cap == 0 {
		p.Cap = max(defaultPolicy.Cap, p.First)
	}
	if p.Jitter == 0 {
		p.Jitter = defaultPolicy.Jitter
	}
	if p.NoJitter {
		p.Jitter = 0
	}
	return p
}

// Delay returns how long a job rests after attempt t, the n-th one that counts
// (n = attempt - base, at least 1), ended in a failure or a lapse:
// First × Factorⁿ⁻¹, moved by up to Jitter percent by a hash of the token, and
// Cap at most. It is in whole microseconds, at least one, and uses integers
// only, so that every store computes the same.
func (p Policy) Delay(t Token, n int) time.Duration {
	p = p.WithDefaults()
	limit := p.Cap.Microseconds()
	us := p.First.Microseconds()
	for i := 1; i < n && us < 2*limit; i++ { // past twice the cap, jitter cannot bring it back
		if us > 2*limit/int64(p.Factor) {
			us = 2 * limit
			break
		}
		if p.Factor == 1 {
			break
		}
		us *= int64(p.Factor)
	}
	if span := us / 100 * int64(p.Jitter); span > 0 {
		us += int64(tokenHash(t)%uint64(2*span+1)) - span
	}
	return time.Duration(max(1, min(us, limit))) * time.Microsecond
}

// UnknownNameDelay is how long a job whose name no handler of the node knew
// rests after the k-th such attempt of its life: min(2ᵏ, 300) seconds.
func UnknownNameDelay(k int) time.Duration {
	if k > 8 {
		return 300 * time.Second
	}
	return time.Duration(1<<max(k, 0)) * time.Second
}

// UnknownNameGrace is how many attempts of one life may find no handler before
// the next one quarantines the job.
const UnknownNameGrace = 10

// tokenHash spreads tokens over 64 bits; equal tokens give equal hashes in
// every process.
func tokenHash(t Token) uint64 {
	x := mix(binary.BigEndian.Uint64(t.Job[:8]))
	x = mix(x ^ binary.BigEndian.Uint64(t.Job[8:]))
	return mix(x ^ uint64(t.Attempt))
}

// mix is the finalizer of the splitmix64 generator.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Terms is the retry policy of a group as a table by job name. A claim carries
// it, and the store stamps every row it leases with the entry for its name.
// It must not be changed once it was sent.
type Terms struct {
	Default Policy
	ByName  []NamedPolicy // any order, no name twice
}

// NamedPolicy is the policy of one job name.
type NamedPolicy struct {
	Name   string
	Policy Policy
}

// For returns the policy for name, defaults filled in.
func (t *Terms) For(name string) Policy {
	if t == nil {
		return defaultPolicy
	}
	for i := range t.ByName {
		if t.ByName[i].Name == name {
			return t.ByName[i].Policy.WithDefaults()
		}
	}
	return t.Default.WithDefaults()
}
