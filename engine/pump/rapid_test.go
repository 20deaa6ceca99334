package pump_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/engine/pump"
	"backwave/store"
)

// TestAnyOrderOfEvents throws events at a pump that no sane store, network or
// handler would bring in that order. The ghost judges every step; at the end
// the whole run is repeated on a fresh pump and, from some point on, was done
// by a clone as well: both must do the same.
func TestAnyOrderOfEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		actions := m.actions()
		actions["clone"] = m.clone
		t.Repeat(actions)
		m.replay(t)
	})
}

// actions are what can happen to the pump of a run; what is named twice, or
// "more", is where most can go wrong.
func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"answerClaim":  m.answerClaim,
		"answerLate":   m.answerClaim, // claims are where most can go wrong
		"answerRenew":  m.answerRenew,
		"answerReport": m.answerReport,
		"answerSweep":  m.answerSweep,
		"fail":         m.fail,
		"return":       m.handlerReturns,
		"returnMore":   m.handlerReturns,
		"progress":     m.progress,
		"complete":     m.complete,
		"completeMore": m.complete,
		"hint":         func(t *rapid.T) { m.do(t, m.now, pump.Hinted{}) },
		"wait":         m.wait,
		"deadline":     func(t *rapid.T) { m.do(t, min(max(m.now, m.pump.Deadline()), m.now+m.span(100)), pump.Woken{}) },
		"freeze":       m.freeze,
		"wallJump":     m.wallJump,
		"giveUp":       m.giveUp,
		"rarely":       m.rarely,
	}
}

// machine is one run: a pump, what it was told, and what it did.
type machine struct {
	cfg   pump.Config
	pump  *pump.Pump
	twin  *pump.Pump // a clone that is told the same, once there is one
	ghost *ghost
	now   pump.Time
	start pump.Time
	steps []machineStep

	claims   []pump.Call
	renewals []pump.Call
	reports  []pump.Call
	sweeps   []pump.Call
	started  []store.LeaseKey
	attempts [6]int                   // of the few jobs there are
	granted  map[uint64][]store.Lease // what an honest store would answer again
}

type machineStep struct {
	now  pump.Time
	ev   pump.Event
	acts []pump.Action
}

func newMachine(t *rapid.T) *machine {
	m := &machine{cfg: anyConfig(t), granted: map[uint64][]store.Lease{}}
	m.start = pump.Time(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "start"))
	m.now = m.start
	m.pump = pump.New(m.cfg, "w1", m.start)
	m.ghost = newGhost(m.cfg, m.start)
	m.do(t, m.now, pump.Woken{})
	return m
}

// anyConfig draws a valid configuration.
func anyConfig(t *rapid.T) pump.Config {
	c := pump.Config{
		Queues:      []pump.Queue{{Name: "a", Weight: rapid.IntRange(1, 5).Draw(t, "weight")}, {Name: "b", Weight: 1}},
		Weighted:    rapid.Bool().Draw(t, "weighted"),
		PoolSize:    rapid.SampledFrom([]int{1, 2, 3, 20}).Draw(t, "pool"),
		ClaimBatch:  rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "claimBatch"),
		ReportBatch: rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "reportBatch"),
		SweepBatch:  rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "sweepBatch"),

		LeaseDuration:       rapid.SampledFrom([]time.Duration{0, time.Second, 7 * time.Second, time.Hour}).Draw(t, "lease"),
		MaintenanceInterval: rapid.SampledFrom([]time.Duration{0, time.Second, 2 * time.Minute}).Draw(t, "maintenance"),
		PollInterval:        rapid.SampledFrom([]time.Duration{0, 20 * time.Millisecond, 3 * time.Second}).Draw(t, "poll"),
		AbandonAfter:        rapid.SampledFrom([]time.Duration{0, 2 * time.Second, 40 * time.Second}).Draw(t, "abandonAfter"),
		ShutdownTimeout:     rapid.SampledFrom([]time.Duration{0, 3 * time.Second}).Draw(t, "shutdown"),
		FinishTimeout:       rapid.SampledFrom([]time.Duration{0, 5 * time.Second}).Draw(t, "finish"),
		ReleaseOnDrain:      rapid.Bool().Draw(t, "release"),
	}
	if rapid.Bool().Draw(t, "backoff") {
		c.MaxPollInterval = 10 * max(c.PollInterval, time.Second)
	}
	if rapid.Bool().Draw(t, "heartbeat") {
		c.HeartbeatInterval = c.Resolved().LeaseDuration / 10
	}
	if rapid.Bool().Draw(t, "timeouts") {
		c.Timeouts = []pump.Timeout{{Name: "slow", After: 2500 * time.Millisecond}}
	}
	if err := c.Validate(); err != nil {
		t.Fatalf("the configuration is meant to be valid: %v", err)
	}
	return c
}

// span returns percent hundredths of a lease.
func (m *machine) span(percent int) pump.Time {
	return pump.Time(m.cfg.Resolved().LeaseDuration) / 100 * pump.Time(percent)
}

// do takes one step with every pump there is and lets the ghost judge it.
func (m *machine) do(t *rapid.T, now pump.Time, ev pump.Event) {
	m.now = now
	acts := m.pump.Step(now, ev, nil)
	m.steps = append(m.steps, machineStep{now, ev, acts})
	if err := m.ghost.step(now, ev, acts, m.pump.Deadline()); err != nil {
		t.Fatalf("at %v %T %+v:\n%v", now, ev, ev, err)
	}
	if n := m.pump.Running(); n != m.cfg.Resolved().PoolSize-m.ghost.free() {
		t.Fatalf("at %v the pump counts %d handlers", now, n)
	}
	if m.twin != nil {
		same(t, "the clone", m.twin.Step(now, ev, nil), acts)
	}
	for _, a := range acts {
		switch a := a.(type) {
		case pump.Call:
			list := m.list(a.Kind)
			*list = append(*list, a)
		case pump.Start:
			m.started = append(m.started, a.Lease.Key)
		case pump.Cancel, pump.Degraded, pump.Recovered, pump.Halted, pump.Stopped, pump.Dropped, pump.Abandoned:
		}
	}
	m.mustMoveOn(t)
}

// mustMoveOn checks that a pump which is woken whenever it asks to does not
// spin: it soon asks for a later time.
func (m *machine) mustMoveOn(t *rapid.T) {
	p := m.pump.Clone()
	for range 3 {
		if p.Deadline() > m.now {
			return
		}
		p.Step(m.now, pump.Woken{}, nil)
	}
	t.Fatalf("at %v the pump asks again and again to be woken at %v", m.now, p.Deadline())
}

func (m *machine) list(k pump.Kind) *[]pump.Call {
	switch k {
	case pump.Renewing:
		return &m.renewals
	case pump.Reporting:
		return &m.reports
	case pump.Claiming:
		return &m.claims
	case pump.Sweeping:
		return &m.sweeps
	}
	panic(fmt.Sprintf("no calls of kind %v", k))
}

func same(t *rapid.T, who string, got, want []pump.Action) {
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s did %v, the pump %v", who, got, want)
	}
}

// clone puts a clone beside the pump, and steps another one into the void: if
// it shared anything with the pump, the rest of the run would show it.
func (m *machine) clone(t *rapid.T) {
	m.twin = m.pump.Clone()
	void := m.pump.Clone()
	for i, s := range m.steps {
		if i > 30 {
			break
		}
		void.Step(m.now+pump.Time(i)*m.span(3), s.ev, nil)
	}
	for _, k := range m.started {
		void.Step(m.now, pump.Returned{Key: k, Outcome: store.Success{}}, nil)
	}
}

// replay repeats the run on a fresh pump.
func (m *machine) replay(t *rapid.T) {
	p := pump.New(m.cfg, "w1", m.start)
	for _, s := range m.steps {
		same(t, "the replay", p.Step(s.now, s.ev, nil), s.acts)
	}
}
