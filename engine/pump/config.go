package pump

import (
	"errors"
	"fmt"
	"time"

	"backwave/store"
)

// Config describes a pump. A zero field means the default in its comment.
type Config struct {
	Queues   []Queue // required, no queue twice; strict order unless Weighted
	Weighted bool    // share claims by weight instead of by order

	PoolSize    int // handlers at once, the given-up ones included; default 20
	ClaimBatch  int // most leases of one claim; default 500
	ReportBatch int // most outcomes of one report; default 500

	LeaseDuration       time.Duration // crash-detection window, min 1s; default 60s
	HeartbeatInterval   time.Duration // from the oldest send a held lease rests on; default LeaseDuration/3
	MaintenanceInterval time.Duration // between sweeps; default 5s
	PollInterval        time.Duration // between claims when idle, and before a failed call is tried again; default 1s
	MaxPollInterval     time.Duration // ceiling of the idle backoff; default off: PollInterval
	OperationTimeout    time.Duration // of every call; default LeaseDuration/6, at most 10s
	AbandonAfter        time.Duration // how long a handler may ignore its timeout or a cancel; default 5m
	SweepBatch          int           // most leases one sweep disposes of; default 500

	Terms    *store.Terms // retry policies; default 10 attempts, min(2ⁿ s ± 10 %, 300 s)
	Timeouts []Timeout    // handler timeouts by job name; none for a name that is not listed

	ReleaseOnDrain  bool          // give a lease back once its handler has returned; default off: let it lapse
	FinishTimeout   time.Duration // how long a drain lets handlers finish first; default off
	ShutdownTimeout time.Duration // how long a drain tries to deliver outcomes; default 30s
}

// Queue is one queue a pump serves.
type Queue struct {
	Name   string
	Weight int // share under Weighted, 1 to 1000
}

// Timeout bounds how long handlers of one name may run.
type Timeout struct {
	Name  string
	After time.Duration
}

// Resolved returns c with every zero field set to its default.
func (c Config) Resolved() Config {
	setInt(&c.PoolSize, 20)
	setInt(&c.ClaimBatch, 500)
	setInt(&c.ReportBatch, 500)
	setInt(&c.SweepBatch, 500)
	setDuration(&c.LeaseDuration, 60*time.Second)
	setDuration(&c.HeartbeatInterval, c.LeaseDuration/3)
	setDuration(&c.MaintenanceInterval, 5*time.Second)
	setDuration(&c.PollInterval, time.Second)
	setDuration(&c.MaxPollInterval, c.PollInterval)
	setDuration(&c.OperationTimeout, min(c.LeaseDuration/6, 10*time.Second))
	setDuration(&c.AbandonAfter, 5*time.Minute)
	setDuration(&c.ShutdownTimeout, 30*time.Second)
	if c.Terms == nil {
		c.Terms = &store.Terms{}
	}
	return c
}

func setInt(p *int, v int) {
	if *p == 0 {
		*p = v
	}
}

func setDuration(p *time.Duration, v time.Duration) {
	if *p == 0 {
		*p = v
	}
}

// view is how long after a send a pump may believe in a lease.
func (c *Config) view() time.Duration { return c.LeaseDuration - c.LeaseDuration/50 }

// renewRetry is how long after a failed renewal the next one goes out.
func (c *Config) renewRetry() time.Duration { return min(c.PollInterval, c.LeaseDuration/20) }

// Validate reports every mistake in c at once, defaults filled in first.
func (c Config) Validate() error {
	c = c.Resolved()
	v := &validator{}
	v.queues(&c)
	for _, f := range []struct {
		name     string
		got, top int
	}{{"PoolSize", c.PoolSize, store.MaxBatch}, {"ClaimBatch", c.ClaimBatch, store.MaxBatch}, {"ReportBatch", c.ReportBatch, store.MaxBatch}, {"SweepBatch", c.SweepBatch, store.MaxBatch}} {
		v.check(f.got >= 1 && f.got <= f.top, "field %s is %d, want 1 to %d", f.name, f.got, f.top)
	}
	for _, f := range []struct {
		name     string
		got, low time.Duration
	}{
		{"LeaseDuration", c.LeaseDuration, store.MinLease},
		{"HeartbeatInterval", c.HeartbeatInterval, time.Millisecond},
		{"MaintenanceInterval", c.MaintenanceInterval, time.Millisecond},
		{"PollInterval", c.PollInterval, time.Millisecond},
		{"MaxPollInterval", c.MaxPollInterval, c.PollInterval},
		{"OperationTimeout", c.OperationTimeout, time.Millisecond},
		{"AbandonAfter", c.AbandonAfter, time.Millisecond},
		{"FinishTimeout", c.FinishTimeout, 0},
		{"ShutdownTimeout", c.ShutdownTimeout, time.Millisecond},
	} {
		v.check(f.got >= f.low && f.got <= store.MaxDuration, "field %s is %v, want %v to %v", f.name, f.got, f.low, store.MaxDuration)
	}
	// Two renewals in a row may be lost, and the third must still have a whole
	// operation timeout before the own view ends.
	need := c.HeartbeatInterval + 3*c.OperationTimeout + 2*c.renewRetry()
	v.check(need <= c.view(), "field HeartbeatInterval is %v: with three operation timeouts of %v and two retries after %v it takes %v, more than 49/50 of the LeaseDuration %v",
		c.HeartbeatInterval, c.OperationTimeout, c.renewRetry(), need, c.LeaseDuration)
	v.terms(c.Terms)
	for i, t := range c.Timeouts {
		v.check(t.Name != "", "field Timeouts[%d] has no name", i)
		v.check(t.After > 0, "field Timeouts[%d] of %q is %v, want more than 0", i, t.Name, t.After)
	}
	return v.err
}

type validator struct{ err error }

func (v *validator) check(ok bool, format string, args ...any) {
	if !ok {
		v.err = errors.Join(v.err, fmt.Errorf(format, args...))
	}
}

func (v *validator) queues(c *Config) {
	v.check(len(c.Queues) > 0, "field Queues is empty, want at least one queue")
	for i, q := range c.Queues {
		v.check(q.Name != "" && len(q.Name) <= store.MaxName, "field Queues[%d] is %q, want a name of 1 to %d bytes", i, q.Name, store.MaxName)
		if c.Weighted {
			v.check(q.Weight >= 1 && q.Weight <= 1000, "field Queues[%d] of %q has weight %d, want 1 to 1000", i, q.Name, q.Weight)
		}
		for _, o := range c.Queues[:i] {
			v.check(o.Name != q.Name, "field Queues names %q twice", q.Name)
		}
	}
}

func (v *validator) terms(t *store.Terms) {
	v.policy("RetryPolicy", t.Default)
	for i, n := range t.ByName {
		v.policy(fmt.Sprintf("RetryPolicy of %q", n.Name), n.Policy)
		for _, o := range t.ByName[:i] {
			v.check(o.Name != n.Name, "field RetryPolicy names %q twice", n.Name)
		}
	}
}

func (v *validator) policy(field string, p store.Policy) {
	p = p.WithDefaults()
	v.check(p.MaxAttempts >= 1, "field %s has %d attempts, want at least 1", field, p.MaxAttempts)
	v.check(p.First >= time.Microsecond && p.First <= store.MaxDuration, "field %s has a first delay of %v, want 1µs to %v", field, p.First, store.MaxDuration)
	v.check(p.Cap >= p.First && p.Cap <= store.MaxDuration, "field %s has a cap of %v, want %v to %v", field, p.Cap, p.First, store.MaxDuration)
	v.check(p.Factor >= 1 && p.Factor <= 1000, "field %s has the factor %d, want 1 to 1000", field, p.Factor)
	v.check(p.Jitter >= 0 && p.Jitter <= 50, "field %s has a jitter of %d %%, want 0 to 50", field, p.Jitter)
}
