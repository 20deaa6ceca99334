package pump_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"backwave/engine/pump"
	"backwave/store"
)

// ghost follows one pump from outside. It sees nothing but the events that go
// in and the actions that come out, keeps its own books, written from the rules
// of docs/semantics.md, and says of every step what had to happen, what was
// allowed to, and when the pump must be woken next at the latest.
type ghost struct {
	cfg   pump.Config
	start pump.Time
	now   pump.Time
	phase ghostPhase
	limit pump.Time

	calls    map[pump.Op]*ghostCall
	lastOp   pump.Op
	lanes    [4]ghostLane
	attempts []*ghostAttempt // in the order they became known
	byKey    map[store.LeaseKey]*ghostAttempt

	number   uint64 // claim number of the next send
	first    pump.Time
	open     bool
	nextPoll pump.Time
	interval pump.Time
	more     bool
	hinted   bool

	swept    bool // a sweep was sent, so that the phase of its cadence is known
	sweepDue pump.Time
	sweptAny bool
	anyDue   pump.Time

	mayRenewEarly bool

	want []string // actions this step has to bring, calls left out
	bad  []string
}

type ghostPhase uint8

const (
	ghostServing ghostPhase = iota
	ghostFinishing
	ghostDraining
	ghostOver
)

// ghostLane is what is known of one kind of call.
type ghostLane struct {
	flight *ghostCall
	hold   pump.Time // not before, after a fault
	marked bool      // degraded
}

type ghostCall struct {
	op     pump.Op
	kind   pump.Kind
	sent   pump.Time
	done   bool // answered, or failed
	number uint64
	first  pump.Time
	any    bool
	rows   []*ghostAttempt
	news   []int // of the rows of a renewal: which progress it carries, 0 = none
}

type ghostAttempt struct {
	key       store.LeaseKey
	base      pump.Time // the own view counts from here
	doubt     pump.Time
	running   bool
	gone      bool
	lost      bool
	told      bool
	abandoned bool
	completes bool // its handler has begun a completion
	open      bool // and nobody knows how it ended
	committed bool
	urgent    bool
	timeoutAt pump.Time
	abandonAt pump.Time

	outcome   store.Outcome
	inReport  bool
	lateSends int // reports sent after the lease was lost
	again     pump.Time
	progress  []byte
	news      int // number of the newest progress
	pending   int // number of the progress that is to be carried, 0 = none
}

func newGhost(cfg pump.Config, now pump.Time) *ghost {
	cfg = cfg.Resolved()
	return &ghost{
		cfg: cfg, start: now, now: now, limit: pump.Never,
		calls: map[pump.Op]*ghostCall{}, byKey: map[store.LeaseKey]*ghostAttempt{},
		number: 1, nextPoll: now, interval: pump.Time(cfg.PollInterval),
	}
}

// step judges one step of the pump: what came out of it, and its Deadline
// afterwards.
func (g *ghost) step(now pump.Time, ev pump.Event, acts []pump.Action, deadline pump.Time) error {
	g.now = max(g.now, now)
	g.want, g.bad = g.want[:0], g.bad[:0]
	if g.phase == ghostOver {
		g.check(len(acts) == 0, "an ended pump acts")
		g.check(deadline == pump.Never, "an ended pump wants to be woken")
		g.event(ev) // handlers still return
		return g.verdict(nil)
	}
	if _, ok := ev.(pump.WallJumped); ok {
		g.jump()
	}
	g.passTime()
	if g.phase != ghostOver {
		g.event(ev)
	}
	if g.phase != ghostOver {
		g.judgeCalls(acts)
		g.settle()
	} else {
		for _, a := range acts {
			_, call := a.(pump.Call)
			g.check(!call, "a call is sent by a pump that has just ended")
		}
	}
	for _, h := range g.attempts { // what is not to be renewed now is in no hurry later
		h.urgent = h.urgent && g.renewable(h)
	}
	g.judgeDeadline(deadline)
	return g.verdict(acts)
}

func (g *ghost) check(ok bool, format string, args ...any) {
	if !ok {
		g.bad = append(g.bad, fmt.Sprintf(format, args...))
	}
}

// expect notes an action that this step has to bring.
func (g *ghost) expect(a pump.Action) { g.want = append(g.want, summary(a)) }

func (g *ghost) verdict(acts []pump.Action) error {
	got := []string{}
	running := 0
	for _, a := range acts {
		if _, ok := a.(pump.Call); !ok {
			got = append(got, summary(a))
		}
	}
	for _, h := range g.attempts {
		if h.running {
			running++
		}
	}
	g.check(running <= g.cfg.PoolSize, "%d handlers run, more than the pool of %d", running, g.cfg.PoolSize)
	slices.Sort(got)
	slices.Sort(g.want)
	g.check(slices.Equal(got, g.want), "the step did %q, want %q", got, g.want)
	if len(g.bad) == 0 {
		return nil
	}
	errs := []error{}
	for _, b := range g.bad {
		errs = append(errs, errors.New(b))
	}
	return errors.Join(errs...)
}

// summary prints what of an action the rules speak of.
func summary(a pump.Action) string {
	switch a := a.(type) {
	case pump.Call:
		return fmt.Sprintf("call %v", a.Kind)
	case pump.Start:
		return fmt.Sprintf("start %v %s", a.Lease.Key, a.Lease.Name)
	case pump.Cancel:
		return fmt.Sprintf("cancel %v %v", a.Key, a.Why)
	case pump.Degraded:
		return fmt.Sprintf("degraded %v (says why: %v)", a.Kind, a.Text != "")
	case pump.Recovered:
		return fmt.Sprintf("recovered %v", a.Kind)
	case pump.Halted:
		return fmt.Sprintf("halted %v", a.Cause)
	case pump.Stopped:
		return "stopped"
	case pump.Dropped:
		return fmt.Sprintf("dropped %v %v", a.Key, a.Kind)
	case pump.Abandoned:
		return fmt.Sprintf("abandoned %v", a.Key)
	}
	return fmt.Sprintf("%T", a)
}

func (g *ghost) view() pump.Time {
	return pump.Time(g.cfg.LeaseDuration - g.cfg.LeaseDuration/50)
}

func (g *ghost) renewRetry() pump.Time {
	return pump.Time(min(g.cfg.PollInterval, g.cfg.LeaseDuration/20))
}

// viewEnd is when the own view of h is over. While the handler's own
// transaction holds the row, and once it has moved the job on, there is none.
func (g *ghost) viewEnd(h *ghostAttempt) pump.Time {
	if h.open || h.committed {
		return pump.Never
	}
	return max(h.base+g.view(), h.doubt)
}

// live lists the attempts that are not done with.
func (g *ghost) live() []*ghostAttempt {
	return slices.DeleteFunc(slices.Clone(g.attempts), func(h *ghostAttempt) bool { return h.gone })
}

func (g *ghost) free() int {
	n := g.cfg.PoolSize
	for _, h := range g.attempts {
		if h.running {
			n--
		}
	}
	return n
}

func (g *ghost) waiting() (n int) {
	for _, h := range g.live() {
		if h.outcome != nil {
			n++
		}
	}
	return n
}

func (g *ghost) renewable(h *ghostAttempt) bool {
	return !h.gone && !h.lost && !h.abandoned && !h.open && !h.committed && (g.phase <= ghostFinishing || h.outcome != nil)
}

func sameProgress(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
