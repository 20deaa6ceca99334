package sim

import (
	"slices"
	"time"

	"backwave/checker"
	"backwave/engine/pump"
	"backwave/store"
)

// Seen is one thing that an observer of a world is told: what the invariants
// are told, and what only the world knows. Pointers and slices in it are good
// during the call only, unless it says so. At is true time in nanoseconds since
// the start of the world. Only this package can add to it.
//
//sumtype:decl
type Seen interface{ seen() }

type (
	// SawJob names a job, before anything happens.
	SawJob struct {
		Job         store.JobID
		Name, Queue string
	}
	// SawBoot is the start of one pump of a process.
	SawBoot struct {
		At      int64
		Pump    checker.PumpID
		Node    string
		Process int // number of the start, from 1
		Worker  string
		Group   string
		Number  int // of the pump in its group, from 0
	}
	// SawDeath is the end of a pump with its process.
	SawDeath struct {
		At   int64
		Pump checker.PumpID
	}
	// SawSent is a call that leaves; Call may be kept.
	SawSent struct {
		At   int64
		Call *checker.Call
	}
	// SawApplied is a call that the store carries out, or refuses.
	SawApplied struct{ checker.Commit }
	// SawAnswered is an answer that reaches its sender; Call and Reply may be
	// kept.
	SawAnswered struct {
		At     int64
		Call   *checker.Call
		Reply  store.Reply // nil if Failed
		Fault  store.Fault // meaningful with Failed
		Failed bool
	}
	// SawLost is a request, or the answer to an applied one, that gets lost.
	SawLost struct {
		At    int64
		Call  *checker.Call
		Reply bool
	}
	// SawStarted is a handler that starts.
	SawStarted struct {
		At   int64
		Pump checker.PumpID
		Key  store.LeaseKey
	}
	// SawTold is a handler whose context ends.
	SawTold struct {
		At   int64
		Pump checker.PumpID
		Key  store.LeaseKey
		Why  checker.Why
	}
	// SawReturned is a handler that returns.
	SawReturned struct {
		At      int64
		Pump    checker.PumpID
		Key     store.LeaseKey
		Outcome store.Outcome // that it means
	}
	// SawViews is what a pump has come to believe, told when it changes.
	SawViews struct {
		At    int64
		Pump  checker.PumpID
		Views []SeenView
	}
	// SawNote is what a pump wants to be logged.
	SawNote struct {
		At     int64
		Pump   checker.PumpID
		Action pump.Action
	}
	// SawFault is a fault of the timeline, or an action of people, that begins
	// or ends, and how far the clocks were ahead just before. One that hits a
	// single call is not told.
	SawFault struct {
		At     int64
		Index  int // in the timeline
		Fault  Fault
		Begin  bool
		Before SeenClocks
		After  SeenClocks
	}
	// SawStill is a node that begins, or ceases, to stand still.
	SawStill struct {
		At    int64
		Node  string
		Begin bool
	}
	// SawForgot is a store that has gone back to earlier rows: these, all of
	// them.
	SawForgot struct {
		At   int64
		Rows []*store.Job
	}
	// SawNodeTime is how much node time has gained on true time since its
	// process began, told when that changes by a millisecond or more.
	SawNodeTime struct {
		At    int64
		Node  string
		Ahead time.Duration
	}
	// SawClocks is how far the clocks are ahead at the start and at the end of
	// the world.
	SawClocks struct {
		At    int64
		Epoch store.Instant // what a clock that is not ahead shows at the start of the world
		SeenClocks
	}
)

// SeenView is one own view of a pump.
type SeenView struct {
	Key   store.LeaseKey
	Until int64 // true time at which it will be over if nothing prolongs it and no clock is bent
}

// SeenClocks is how far clocks are ahead of true time.
type SeenClocks struct {
	Store time.Duration
	Walls []time.Duration // of the nodes, in the order of the scenario
}

func (SawJob) seen()      {}
func (SawBoot) seen()     {}
func (SawDeath) seen()    {}
func (SawSent) seen()     {}
func (SawApplied) seen()  {}
func (SawAnswered) seen() {}
func (SawLost) seen()     {}
func (SawStarted) seen()  {}
func (SawTold) seen()     {}
func (SawReturned) seen() {}
func (SawViews) seen()    {}
func (SawNote) seen()     {}
func (SawFault) seen()    {}
func (SawStill) seen()    {}
func (SawForgot) seen()   {}
func (SawNodeTime) seen() {}
func (SawClocks) seen()   {}

// witness passes on what the invariants are told to an observer, if there is
// one. It only reads: a run with an observer is the run without.
type witness struct {
	*checker.Watch
	w     *world
	see   func(Seen)
	views []pump.View       // reused
	pumps []watched         // by PumpID
	waits map[int32]waiting // handlers that wait for an answer from outside, by run
}

// watched is what an observer was last told of a pump.
type watched struct {
	views []SeenView
	base  int64 // node time less true time when it began
	ahead int64 // told
}

func newWitness(w *world, watch *checker.Watch, see func(Seen)) *witness {
	return &witness{Watch: watch, w: w, see: see}
}

// began tells of the jobs and the clocks, before the first event.
func (x *witness) began() {
	if x.see == nil {
		return
	}
	for i := range x.w.jobs {
		x.named(int32(i))
	}
	x.clocks()
}

// named tells of a job; of one that a handler adds before it is enqueued.
func (x *witness) named(i int32) {
	if j := &x.w.jobs[i]; x.see != nil {
		x.see(SawJob{Job: j.id, Name: j.name, Queue: j.req.Jobs[0].Queue})
	}
}

func (x *witness) clocks() {
	if x.see != nil {
		x.see(SawClocks{At: x.w.now, Epoch: toInstant(epoch), SeenClocks: x.readings()})
	}
}

func (x *witness) readings() (c SeenClocks) {
	w := x.w
	c.Store = time.Duration(w.storeClock.read(w.now) - epoch - w.now)
	for _, n := range w.nodes {
		c.Walls = append(c.Walls, time.Duration(n.wall.read(w.now)-epoch-w.now))
	}
	return c
}

// strike lets fault i happen.
func (x *witness) strike(i int32, begin bool) {
	f := x.w.sc.Timeline[i]
	if x.see == nil {
		f.happen(x.w, i, begin)
		return
	}
	before := x.readings()
	f.happen(x.w, i, begin)
	x.see(SawFault{At: x.w.now, Index: int(i), Fault: f, Begin: begin, Before: before, After: x.readings()})
}

// PumpBegan is told by the world as to a Watch; so are those that follow.
func (x *witness) PumpBegan(info checker.PumpInfo, trueNow, node int64) {
	x.Watch.PumpBegan(info, trueNow, node)
	if x.see != nil {
		h := x.w.pumps[info.ID]
		x.pumps = append(x.pumps, watched{base: node - trueNow})
		x.see(SawBoot{At: trueNow, Pump: info.ID, Node: info.Node, Process: int(h.n.process), Worker: h.worker, Group: info.Group, Number: h.n.slots[h.slot].pump})
	}
}

// PumpDied hides that of Watch.
func (x *witness) PumpDied(id checker.PumpID, trueNow int64) {
	x.Watch.PumpDied(id, trueNow)
	if x.see != nil {
		x.see(SawDeath{At: trueNow, Pump: id})
	}
}

// Sent hides that of Watch.
func (x *witness) Sent(c *checker.Call) {
	x.Watch.Sent(c)
	if x.see != nil {
		x.see(SawSent{At: x.w.now, Call: c})
	}
}

// Applied hides that of Watch.
func (x *witness) Applied(c *checker.Commit) {
	x.Watch.Applied(c)
	if x.see != nil {
		x.see(SawApplied{*c}) // a copy, else c would be on the heap in every run
	}
}

// Answered hides that of Watch.
func (x *witness) Answered(c *checker.Call, reply store.Reply, leases []checker.Ghost, fault store.Fault, failed bool, node int64) {
	x.Watch.Answered(c, reply, leases, fault, failed, node)
	if x.see != nil {
		if failed {
			reply = nil
		}
		x.see(SawAnswered{At: x.w.now, Call: c, Reply: reply, Fault: fault, Failed: failed})
	}
}

func (x *witness) lost(c *checker.Call, reply bool) {
	if x.see != nil {
		x.see(SawLost{At: x.w.now, Call: c, Reply: reply})
	}
}

// Started hides that of Watch.
func (x *witness) Started(id checker.PumpID, key store.LeaseKey, name string, lease checker.Ghost, node int64) {
	x.Watch.Started(id, key, name, lease, node)
	if x.see != nil {
		x.see(SawStarted{At: x.w.now, Pump: id, Key: key})
	}
}

// Told hides that of Watch.
func (x *witness) Told(id checker.PumpID, key store.LeaseKey, why checker.Why, node int64) {
	x.Watch.Told(id, key, why, node)
	if x.see != nil {
		x.see(SawTold{At: x.w.now, Pump: id, Key: key, Why: why})
	}
}

// Returned hides that of Watch.
func (x *witness) Returned(id checker.PumpID, key store.LeaseKey, meant store.Outcome, node int64) {
	x.Watch.Returned(id, key, meant, node)
	if x.see != nil {
		x.see(SawReturned{At: x.w.now, Pump: id, Key: key, Outcome: meant})
	}
}

func (x *witness) still(n *node, begin bool) {
	if x.see != nil {
		x.see(SawStill{At: x.w.now, Node: n.spec.Name, Begin: begin})
	}
}

// Forgot hides that of Watch.
func (x *witness) Forgot(rows []*store.Job, trueNow int64) {
	x.Watch.Forgot(rows, trueNow)
	if x.see != nil {
		x.see(SawForgot{At: trueNow, Rows: rows})
	}
}

func (x *witness) noted(h *host, a pump.Action) {
	if x.see != nil {
		x.see(SawNote{At: x.w.now, Pump: h.id, Action: a})
	}
}

// Stepped hides that of Watch.
func (x *witness) Stepped(s checker.Step) {
	x.Watch.Stepped(s)
	if x.see == nil {
		return
	}
	h, p := x.w.pumps[s.Pump], &x.pumps[s.Pump]
	if ahead := s.Node - s.True - p.base; h.slot == 0 && max(ahead-p.ahead, p.ahead-ahead) >= int64(time.Millisecond) {
		p.ahead = ahead
		x.see(SawNodeTime{At: s.True, Node: h.n.spec.Name, Ahead: time.Duration(ahead)})
	}
	x.views = h.shell.Views(x.views[:0])
	now := make([]SeenView, len(x.views))
	for i, v := range x.views {
		now[i] = SeenView{v.Key, h.trueTime(v.Until)}
	}
	if !slices.Equal(now, p.views) {
		p.views = now
		x.see(SawViews{At: s.True, Pump: s.Pump, Views: now})
	}
}
