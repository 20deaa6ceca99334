package sim

import (
	"fmt"
	"time"

	"backwave/checker"
	"backwave/clockx"
	"backwave/engine"
	"backwave/engine/pump"
	"backwave/store"
)

// node is one machine with one process, as often as it is started.
type node struct {
	index  int32
	spec   *Node
	groups []int // indices into world.groups
	mono   clock
	wall   clock

	up       bool
	process  uint32 // number of the start, from 1
	fold     clockx.Fold
	monoAt   int64 // monotonic reading of the last reading of node time
	hosts    []*host
	still    int     // by how many pauses it stands still
	stood    int64   // how long it has stood still in all
	stillAt  int64   // true time when it began to
	waiting  []event // what came meanwhile
	exiting  bool
	restart  time.Duration // after the exit; 0 = never
	made     [][4]int      // calls made so far, per pump slot and kind, over all starts
	slots    []slot
	cut      [2]int // by how many partitions: requests, replies
	slowness time.Duration
}

// slot is one pump of a node through all its starts.
type slot struct {
	group int
	pump  int
	who   uint64   // hash of its address, for what is drawn for it
	hits  [4][]hit // what happens to calls of a kind, by number of the call
}

// host is one start of one pump, and its surroundings.
type host struct {
	w      *world
	n      *node
	id     checker.PumpID
	slot   int
	group  *group
	shell  *engine.Shell
	worker string
	dead   bool
	node   pump.Time // node time of the current event
	wakeAt pump.Time
	runs   []int32                          // handlers that have not returned
	known  map[store.LeaseKey]checker.Ghost // leases learned from answers

	halted   bool // the marks that it last showed
	degraded uint8
}

func (w *world) addNodes() {
	for i := range w.sc.Nodes {
		spec := &w.sc.Nodes[i]
		n := &node{index: int32(i), spec: spec, mono: newClock(spec.Mono, 0), wall: newClock(spec.Wall, epoch)}
		for g := range w.groups {
			if len(spec.Groups) == 0 || contains(spec.Groups, w.groups[g].name) {
				n.groups = append(n.groups, g)
				for p := range w.groups[g].pumps {
					n.slots = append(n.slots, slot{group: g, pump: p, who: draw(text(spec.Name), 0, text(w.groups[g].name), uint64(p), 0)})
				}
			}
		}
		n.made = make([][4]int, len(n.slots))
		w.nodes = append(w.nodes, n)
		w.push(event{at: int64(spec.Start), kind: evBoot, ref: n.index, gen: n.process})
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// boot starts the process of n, unless it is up.
func (w *world) boot(n *node) {
	if n.up {
		return
	}
	w.trouble(w.now)
	n.up, n.exiting, n.restart = true, false, 0
	n.process++
	n.fold = clockx.Fold{}
	n.waiting = n.waiting[:0]
	n.hosts = n.hosts[:0]
	w.tell(n, "starts, process %d", n.process)
	for s := range n.slots {
		g := &w.groups[n.slots[s].group]
		h := &host{w: w, n: n, id: checker.PumpID(len(w.pumps)), slot: s, group: g, wakeAt: pump.Never, known: map[store.LeaseKey]checker.Ghost{}}
		h.worker = fmt.Sprintf("%s.%d/%s/%d", n.spec.Name, n.process, g.name, n.slots[s].pump)
		w.pumps = append(w.pumps, h)
		w.timer.grow()
		n.hosts = append(n.hosts, h)
	}
	w.read(n)
	for _, h := range n.hosts {
		h.node = pump.Time(n.fold.Now)
		h.shell = engine.NewShell(h.group.cfg, h.worker, h)
		w.watch.PumpBegan(h.info(), w.now, n.fold.Now)
	}
	for _, h := range n.hosts {
		h.shell.Begin()
		w.prompt.freed(h)
		h.after()
	}
}

func (h *host) info() checker.PumpInfo {
	c := &h.group.cfg
	i := checker.PumpInfo{
		ID: h.id, Node: h.n.spec.Name, Group: h.group.name, Process: h.n.number(),
		Queues: h.group.queues, PoolSize: c.PoolSize,
		Lease: c.LeaseDuration, Heartbeat: c.HeartbeatInterval, Maintenance: c.MaintenanceInterval,
		Poll: c.PollInterval, MaxPoll: c.MaxPollInterval, OpTimeout: c.OperationTimeout, AbandonAfter: c.AbandonAfter,
		Finish: c.FinishTimeout, Shutdown: c.ShutdownTimeout, ReleaseOnDrain: c.ReleaseOnDrain, SweepBatch: c.SweepBatch,
		Terms: c.Terms, Timeouts: map[string]time.Duration{},
	}
	for _, t := range c.Timeouts {
		i.Timeouts[t.Name] = t.After
	}
	return i
}

// read takes a reading of node time and tells the pumps of a jump, before
// anything else.
func (w *world) read(n *node) {
	n.monoAt = n.mono.read(w.now)
	now, jumped := n.fold.Read(n.monoAt, n.wall.read(w.now))
	if !jumped {
		return
	}
	w.seen.reach(sawWallJump)
	w.tell(n, "sees its wall clock ahead: node time moves to %v", pump.Time(now))
	for _, h := range n.hosts {
		if h.shell == nil || h.dead {
			continue
		}
		h.node = pump.Time(now)
		w.watch.WallJumped(h.id, now)
		h.shell.WallJumped()
		h.after()
	}
}

// ready gets h into the present before it hears of something. It reports
// whether h can hear: it is not dead, and its node does not stand still, else
// e waits.
func (w *world) ready(h *host, e event) bool {
	if h.dead {
		return false
	}
	if h.n.still > 0 {
		h.n.waiting = append(h.n.waiting, e)
		return false
	}
	w.read(h.n)
	h.node = pump.Time(h.n.fold.Now)
	return !h.dead
}

// wake delivers the wake-up of h.
func (w *world) wake(h *host) {
	if !w.ready(h, event{kind: evWake, ref: int32(h.id)}) {
		return
	}
	if h.wakeAt > h.node { // woken while it stood still, or before a clock was bent
		h.Wake(h.wakeAt)
		return
	}
	h.shell.Woken()
	h.after()
}

func (w *world) hinted(e event) {
	h := w.pumps[e.ref]
	if w.ready(h, e) {
		h.shell.Hinted()
		h.after()
	}
}

// after does what follows every step of h.
func (h *host) after() {
	w := h.w
	halted, degraded := h.shell.Marks()
	w.watch.Stepped(checker.Step{Pump: h.id, True: w.now, Node: int64(h.node), Halted: halted, Degraded: degraded})
	if halted != h.halted || degraded != h.degraded {
		h.halted, h.degraded = halted, degraded
		w.show(h.n)
	}
	if h.n.exiting {
		w.exitIfDone(h.n)
	}
}

// health is what the health endpoint of n would answer.
func (n *node) health() engine.Health {
	marks := map[string][]engine.Mark{}
	for _, h := range n.hosts {
		if !h.dead && h.shell != nil {
			marks[h.group.name] = append(marks[h.group.name], h.shell.Mark())
		}
	}
	return engine.NewHealth(marks)
}

// show lets the invariants see the health of n.
func (w *world) show(n *node) {
	h := n.health()
	w.watch.Shown(checker.Shown{
		Process: n.number(), Healthy: h.Healthy(),
		Halted: keys(h.HaltedGroups()), Partial: keys(h.PartiallyHaltedGroups()), Degraded: keys(h.DegradedGroups()),
	})
}

// number tells the starts of all processes apart.
func (n *node) number() int { return int(n.process)<<16 | int(n.index) }

// Now implements engine.Surroundings.
func (h *host) Now() pump.Time { return h.node }

// Wake implements engine.Surroundings.
func (h *host) Wake(at pump.Time) {
	h.wakeAt = at
	if at == pump.Never || h.dead {
		h.w.timer.set(int32(h.id), never)
		return
	}
	h.w.timer.set(int32(h.id), h.trueTime(at))
}

// trueTime returns the true time at which node time will be at, if nothing bends
// a clock before; never if the clock stands.
func (h *host) trueTime(at pump.Time) int64 {
	if at == pump.Never {
		return never
	}
	n := h.n
	return n.mono.when(n.monoAt+int64(at)-n.fold.Now, h.w.now)
}

// rearm sets the timers of n again after its monotonic clock was bent.
func (w *world) rearm(n *node) {
	for _, h := range n.hosts {
		if !h.dead && h.shell != nil {
			h.Wake(h.wakeAt)
		}
	}
}

// Note implements engine.Surroundings.
func (h *host) Note(a pump.Action) {
	w := h.w
	w.trace.note(h, a)
	w.watch.noted(h, a)
	switch a := a.(type) {
	case pump.Degraded:
		w.seen.reach(sawDegraded)
		w.tellPump(h, "is degraded: %s meets %s", a.Kind, a.Text)
	case pump.Recovered:
		w.seen.reach(sawRecovered)
		w.tellPump(h, "has recovered: %s works again", a.Kind)
	case pump.Halted:
		if len(h.runs) > 0 {
			w.seen.reach(sawHaltInFlight)
		}
		w.tellPump(h, "FAIL-STOPS: %s", a.Cause)
	case pump.Stopped:
		w.seen.reach(sawDrained)
		w.tellPump(h, "has drained")
	case pump.Dropped:
		w.seen.reach(sawDropped)
		w.tellPump(h, "drops the %s of %s: its lease is over", a.Kind, w.key(a.Key))
	case pump.Abandoned:
		w.seen.reach(sawAbandoned)
		w.tellPump(h, "gives up on %s, which ignores that it was told to stop", w.key(a.Key))
	case pump.Call, pump.Start, pump.Cancel:
	}
}

// crash ends the process of n at once. It is up again after restart; 0 = never.
func (w *world) crash(n *node, restart time.Duration) {
	if !n.up {
		return
	}
	w.trouble(w.now)
	for _, h := range n.hosts {
		h.dead = true
		w.timer.set(int32(h.id), never)
		for _, r := range h.runs {
			w.dropRun(r)
		}
		h.runs = nil
		w.watch.PumpDied(h.id, w.now)
	}
	n.up, n.exiting = false, false
	n.waiting = n.waiting[:0]
	if restart > 0 {
		w.push(event{at: w.now + int64(restart), kind: evBoot, ref: n.index})
	}
}

// shutDown asks the process of n to drain and exit.
func (w *world) shutDown(n *node, restart time.Duration) {
	if !n.up || n.exiting {
		return
	}
	n.exiting, n.restart = true, restart
	w.read(n)
	var finish, wait time.Duration
	for _, h := range n.hosts {
		finish = max(finish, h.group.cfg.FinishTimeout)
		wait = max(wait, h.group.cfg.ShutdownTimeout)
	}
	w.push(event{at: w.now + int64(finish+wait), kind: evExit, ref: n.index, gen: n.process})
	for _, h := range n.hosts {
		if h.dead {
			continue
		}
		h.node = pump.Time(n.fold.Now)
		w.watch.DrainAsked(h.id, n.fold.Now)
		h.shell.Drain()
		h.after()
	}
}

// exitIfDone lets the process of n exit once all its pumps have ended and all
// its handlers have returned.
func (w *world) exitIfDone(n *node) {
	for _, h := range n.hosts {
		if h.dead || !h.shell.Ended() || len(h.runs) > 0 {
			return
		}
	}
	w.tell(n, "exits: drained")
	w.crash(n, n.restart)
}

// exit ends a process that has waited long enough for its handlers.
func (w *world) exit(e event) {
	n := w.nodes[e.ref]
	if !n.up || !n.exiting || n.process != e.gen {
		return
	}
	if n.still > 0 {
		n.waiting = append(n.waiting, e)
		return
	}
	w.seen.reach(sawAbandonedExit)
	w.tell(n, "exits although handlers still run")
	w.crash(n, n.restart)
}

// stop makes n stand still.
func (w *world) stop(n *node) {
	if n.still == 0 {
		n.stillAt = w.now
		w.watch.still(n, true)
	}
	n.still++
}

// resume lets n go on: what came meanwhile arrives late, all at once, in the
// order in which it came.
func (w *world) resume(n *node) {
	n.still--
	if n.still > 0 {
		return
	}
	n.stood += w.now - n.stillAt
	w.watch.still(n, false)
	for _, e := range n.waiting {
		e.at = w.now
		w.push(e)
	}
	n.waiting = n.waiting[:0]
}
