package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// RetryPolicy says when a job is tried again and when it is given up. A zero
// field means its documented default: 10 attempts, after the n-th of which the
// job rests for min(2ⁿ s ± 10 %, 300 s).
type RetryPolicy = store.Policy

// Dispatch says which queues a group serves, and in what order. Strict and
// Weighted make one.
type Dispatch struct {
	queues   []pump.Queue
	weighted bool
}

// Strict serves the queues in the order in which they are listed: a job of a
// later queue is taken only when the earlier ones have none that is due.
func Strict(queues ...string) Dispatch {
	d := Dispatch{}
	for _, q := range queues {
		d.queues = append(d.queues, pump.Queue{Name: q})
	}
	return d
}

// Weighted shares claims among the queues in proportion to their weights, 1 to
// 1000 each. A queue without due jobs leaves its share to the others.
func Weighted(weights map[string]int) Dispatch {
	d := Dispatch{weighted: true}
	for _, q := range slices.Sorted(maps.Keys(weights)) {
		d.queues = append(d.queues, pump.Queue{Name: q, Weight: weights[q]})
	}
	return d
}

// Queues returns the names of the queues in the order in which they are
// listed, or sorted if they are weighted.
func (d Dispatch) Queues() []string {
	out := make([]string, len(d.queues))
	for i, q := range d.queues {
		out[i] = q.Name
	}
	return out
}

// Group describes a worker group: which queues it serves and how. A zero field
// means the default at the end of its comment. No duration may exceed
// store.MaxDuration.
type Group struct {
	Name   string   // required; 1 to store.MaxName bytes, no two groups of an engine alike
	Queues Dispatch // required; Strict(…) or Weighted(…)

	Pumps    int // independent claim → run → report loops, 1 to 1000; default 1
	PoolSize int // handlers at once, per pump, 1 to 10,000; default 20

	LeaseDuration       time.Duration // how soon after a crash another worker takes over, at least 1s; not a limit for handlers; default 60s
	HeartbeatInterval   time.Duration // from one renewal of leases to the next; default LeaseDuration/3
	MaintenanceInterval time.Duration // from one sweep of lapsed leases to the next; default 5s
	PollInterval        time.Duration // from one claim to the next when idle, and before a failed call is tried again; default 1s
	MaxPollInterval     time.Duration // up to which idle polls grow rarer, by doubling; default PollInterval: they do not
	OperationTimeout    time.Duration // after which an answer of the store is no longer waited for; default LeaseDuration/6, at most 10s
	AbandonAfter        time.Duration // how long a handler may ignore its timeout or a cancel before its lease is left to lapse; default 5m

	ClaimBatch  int // most leases of one claim, 1 to 10,000; default 500
	ReportBatch int // most outcomes of one report, 1 to 10,000; default 500
	SweepBatch  int // most lapsed leases of one sweep, 1 to 10,000; default 500

	RetryPolicy   RetryPolicy              // of every job; default as RetryPolicy says
	RetryPolicies map[string]RetryPolicy   // of jobs by name, instead of RetryPolicy; default none
	Timeouts      map[string]time.Duration // how long handlers may run, by job name; default without limit

	ReleaseOnDrain bool          // give the lease of an interrupted handler back as soon as it has returned, without using up an attempt; default false: the lease lapses
	FinishTimeout  time.Duration // how long a drain lets handlers go on and report before it interrupts them; default 0: not at all
}

// PumpConfig returns what each pump of g is configured with, or an error that
// joins every mistake in g. shutdown is how long a drain may try to deliver
// outcomes; 0 means 30s.
func (g Group) PumpConfig(shutdown time.Duration) (pump.Config, error) {
	cfg := pump.Config{
		Queues: slices.Clone(g.Queues.queues), Weighted: g.Queues.weighted,
		PoolSize: g.PoolSize, ClaimBatch: g.ClaimBatch, ReportBatch: g.ReportBatch, SweepBatch: g.SweepBatch,
		LeaseDuration: g.LeaseDuration, HeartbeatInterval: g.HeartbeatInterval,
		MaintenanceInterval: g.MaintenanceInterval, PollInterval: g.PollInterval, MaxPollInterval: g.MaxPollInterval,
		OperationTimeout: g.OperationTimeout, AbandonAfter: g.AbandonAfter,
		Terms:          &store.Terms{Default: g.RetryPolicy},
		ReleaseOnDrain: g.ReleaseOnDrain, FinishTimeout: g.FinishTimeout, ShutdownTimeout: shutdown,
	}
	for _, name := range slices.Sorted(maps.Keys(g.RetryPolicies)) {
		cfg.Terms.ByName = append(cfg.Terms.ByName, store.NamedPolicy{Name: name, Policy: g.RetryPolicies[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(g.Timeouts)) {
		cfg.Timeouts = append(cfg.Timeouts, pump.Timeout{Name: name, After: g.Timeouts[name]})
	}
	var err error
	if g.Name == "" || len(g.Name) > store.MaxName {
		err = fmt.Errorf("field Name has %d bytes, want 1 to %d", len(g.Name), store.MaxName)
	}
	if g.Pumps < 0 || g.Pumps > maxPumps {
		err = errors.Join(err, fmt.Errorf("field Pumps is %d, want 1 to %d", g.Pumps, maxPumps))
	}
	if err = errors.Join(err, cfg.Validate()); err != nil {
		return pump.Config{}, err
	}
	cfg = cfg.Resolved()
	return cfg, store.Validate(&store.Claim{ // what a store would refuse is a mistake here already
		Worker: "w", Number: 1, Queues: quotas(cfg.Queues), Max: cfg.PoolSize, Lease: cfg.LeaseDuration, Terms: cfg.Terms,
	})
}

func quotas(queues []pump.Queue) []store.Quota {
	out := make([]store.Quota, len(queues))
	for i, q := range queues {
		out[i].Queue = q.Name
	}
	return out
}

// maxPumps bounds the pumps of a group; each costs goroutines and connections.
const maxPumps = 1000

// pumps returns how many pumps g has.
func (g Group) pumps() int { return max(1, g.Pumps) }

// mistakes takes a tree of joined errors apart.
func mistakes(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, mistakes(e)...)
	}
	return out
}
