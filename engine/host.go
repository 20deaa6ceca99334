package engine

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"backwave/clockx"
	"backwave/engine/pump"
	"backwave/store"
)

const (
	// nap is the longest a host sleeps: timers stand still while a machine is
	// suspended, so that only a look at the clock finds out that it was.
	nap = time.Second
	// callGrace is how long the end of Run waits for calls of the store that
	// were told to end.
	callGrace = time.Second
	// maxOpen is how many calls of one kind may be under way. A store that
	// honours its contexts never has more than three.
	maxOpen = 4
)

// host is the production surroundings of one pump. One goroutine, run, tells
// the shell everything, one thing at a time; others post to its mailbox.
type host struct {
	group    string
	worker   string
	cfg      pump.Config
	store    store.Leaser
	runner   *Runner
	clock    clockx.Clock
	log      *slog.Logger
	handlers context.Context // whose values handlers see; never ends
	box      *mailbox
	crew     crew                 // which runs the handlers
	hinted   atomic.Bool          // a hint waits in the mailbox
	mark     atomic.Pointer[Mark] // for Health

	// What follows belongs to run's goroutine.
	shell    *Shell
	node     *clockx.NodeTime
	now      pump.Time
	wake     pump.Time // when the shell wants to be woken
	timer    clockx.Timer
	limit    pump.Time // until when a drain waits for handlers; Never before one
	attempts map[store.LeaseKey]*attempt
	calls    context.Context // parent of the contexts of calls
	open     [4]int          // calls that have not returned, per pump.Kind
	closing  bool            // the pump is told nothing any more
	degraded bool            // the current episode was logged
	stack    []byte          // of the last panic of the store
}

var _ Surroundings = (*host)(nil)

func newHost(cfg *Config, group, worker string, p pump.Config, r *Runner) *host {
	h := &host{
		group: group, worker: worker, cfg: p, store: cfg.Store, runner: r, clock: cfg.Clock,
		log: cfg.Logger.With("group", group, "worker", worker), box: newMailbox(), attempts: map[store.LeaseKey]*attempt{},
	}
	h.crew.work = h.work
	h.mark.Store(&Mark{})
	return h
}

// run is the life of the pump. It returns once a drain is over.
func (h *host) run() {
	calls, cut := context.WithCancelCause(h.handlers)
	defer cut(errOver)
	h.calls = calls
	h.limit = pump.Never
	h.node = clockx.NewNodeTime(h.clock)
	h.timer = h.clock.AfterFunc(nap, h.box.ring)
	defer h.timer.Stop()
	h.shell = NewShell(h.cfg, h.worker, h)
	h.shell.Begin()
	h.serve(func() bool {
		return h.now >= h.limit || h.limit != pump.Never && h.shell.Ended() && len(h.attempts) == 0
	})
	h.closing = true
	cut(errOver)
	h.limit = h.now.Add(callGrace)
	h.serve(func() bool { return h.now >= h.limit || h.unreturned() == 0 })
	if n := h.unreturned(); n > 0 {
		h.say(slog.LevelWarn, "store calls ignore their context", "calls", n)
	}
	h.box.shut()
}

// serve passes mail on, and wakes the shell, until over.
func (h *host) serve(over func() bool) {
	var mail []letter
	for !over() {
		h.arm()
		mail = h.box.wait(mail)
		for _, m := range mail {
			h.read()
			m.open(h)
		}
		h.read()
		if h.now >= h.wake && !h.closing {
			h.shell.Woken()
		}
	}
}

// read takes the one reading of node time by which the next thing is judged.
func (h *host) read() {
	now, jumped := h.node.Read()
	h.now = pump.Time(now)
	if jumped && !h.closing {
		h.shell.WallJumped()
	}
}

// arm makes the mailbox ring when there is next something to do.
func (h *host) arm() {
	h.read() // the last step may have been a slow one
	next := min(h.wake, h.limit)
	if next == pump.Never {
		h.timer.Stop()
		return
	}
	h.timer.Reset(min(max(0, next.Sub(h.now)), nap))
}

// drain begins to stop.
func (h *host) drain() {
	wait := h.cfg.ShutdownTimeout
	if !h.shell.Ended() {
		wait += h.cfg.FinishTimeout
	}
	h.limit = h.now.Add(wait)
	h.shell.Drain()
}

// tell has fn called in run's goroutine, soon.
func (h *host) tell(fn func(*host)) { h.box.post(note(fn)) }

// hint passes a hint on; many of them at once are one.
func (h *host) hint() {
	if h.hinted.CompareAndSwap(false, true) {
		h.tell(func(h *host) {
			h.hinted.Store(false)
			if !h.closing {
				h.shell.Hinted()
			}
		})
	}
}

func (h *host) serves(queue string) bool {
	return slices.ContainsFunc(h.cfg.Queues, func(q pump.Queue) bool { return q.Name == queue })
}

// abandoned lists the attempts that still run, by job.
func (h *host) abandoned() []AbandonedJob {
	var out []AbandonedJob
	for key, a := range h.attempts {
		if a.over.Load() { // while another pump drained
			continue
		}
		out = append(out, AbandonedJob{Token: key.Token(), Name: a.lease.Name, Queue: a.lease.Queue, Group: h.group, Worker: h.worker})
	}
	slices.SortFunc(out, func(a, b AbandonedJob) int {
		if c := a.Token.Job.Compare(b.Token.Job); c != 0 {
			return c
		}
		return a.Token.Attempt - b.Token.Attempt
	})
	return out
}

// Now implements Surroundings.
func (h *host) Now() pump.Time { return h.now }

// Wake implements Surroundings.
func (h *host) Wake(at pump.Time) { h.wake = at }
