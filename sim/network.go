package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"backwave/checker"
	"backwave/engine/pump"
	"backwave/store"
)

// flight is one call between its send and its answer.
type flight struct {
	call    *checker.Call
	op      pump.Op
	host    *host // nil for clients and operators
	job     int32 // of an enqueue; -1
	act     int32 // timeline index of an operator's action; -1
	nth     int   // of its kind
	gen     uint32
	extra   time.Duration // added to the answer's way
	lose    bool          // the answer is lost
	awaits  bool          // it is to arrive with a sweep, off after it
	off     int64
	reply   store.Reply
	leases  []checker.Ghost
	err     error
	applied bool

	// Of a call of a handler in Go:
	own     bool
	run     int32
	runGen  uint32
	effect  func()                // of a commit, if it is carried out
	got     func(*store.Enqueued) // of an enqueue: takes the answer
	refused bool                  // it is to fail
	dies    time.Duration         // the node crashes once it is applied, for so long; 0 = it does not
}

// hit is something that happens to the nth call of a kind by a pump.
type hit struct {
	nth   int
	fault striker
	index int32 // into the timeline
}

// netState is what is wrong with network and store at the moment.
type netState struct {
	latency, jitter int64
	tail            uint64
	outage          int
	stall           []int64       // ends of stalls under way
	refuse          int           // restarts under way
	errors          []int32       // StoreErrors under way, by index into the timeline
	slow            time.Duration // for everyone, clients too
}

func newNetState(sc *Scenario) netState {
	n := netState{latency: int64(sc.Net.Latency), jitter: int64(sc.Net.Jitter), tail: uint64(max(0, sc.Net.Tail))}
	if n.latency == 0 {
		n.latency = int64(time.Millisecond)
	}
	if n.jitter == 0 {
		n.jitter = n.latency
	}
	return n
}

// way draws how long one message takes.
func (w *world) way(stream, who, what, nth uint64) int64 {
	x := draw(w.seed, stream, who, what, nth)
	d := w.net.latency + int64(x%uint64(w.net.jitter+1))
	if w.net.tail > 0 && (x>>32)%w.net.tail == 0 {
		d *= 20
	}
	return d
}

// Call implements engine.Surroundings: the request leaves.
func (h *host) Call(op pump.Op, req store.Request) {
	w, n := h.w, h.n
	k := kindOf(req)
	n.made[h.slot][k]++
	nth := n.made[h.slot][k]
	w.serial++
	c := w.newCall()
	*c = checker.Call{Ghost: checker.Ghost(w.serial), Kind: k, Pump: h.id, SentTrue: w.now, SentNode: int64(h.node), Req: req, Leases: h.ghosts(req)}
	w.trace.call(h, op, k, req)
	w.watch.Sent(c)
	if w.log != nil {
		w.log.Sent(w.now, w.serial, h.worker, req)
	}
	f := &w.draft
	*f = flight{call: c, op: op, host: h, job: -1, act: -1, nth: nth}
	delay := w.way(streamRequest, h.who(), uint64(nth), uint64(k)) + int64(n.slowness+w.net.slow)
	f.extra = time.Duration(w.way(streamReply, h.who(), uint64(nth), uint64(k)))
	lost := n.cut[0] > 0
	for _, x := range n.slots[h.slot].hits[k] {
		if x.nth == nth {
			w.landed[x.index] = true
			w.trouble(w.now)
			delay, lost = x.fault.strike(w, f, delay, lost)
		}
	}
	switch {
	case lost:
		w.lose(f)
	case f.awaits:
		w.ambush = append(w.ambush, ambushed(*f))
	default:
		w.launch(f, delay)
	}
}

// who stands for h through all its starts in what is drawn for it: a hash of
// its address, which stays the same when other nodes come and go.
func (h *host) who() uint64 { return h.n.slots[h.slot].who }

// sender stands for whoever sent f in what is drawn for it.
func (w *world) sender(f *flight) uint64 {
	switch {
	case f.host != nil:
		return f.host.who()
	case f.job >= 0:
		return text(w.jobs[f.job].name)
	}
	return command(f.call.Req.(*store.Do).Command)
}

// command stands for what an operator asks for in what is drawn for it.
func command(c store.Command) uint64 { return text(fmt.Sprintf("%T%v", c, c)) }

// newCall returns a call out of a slab: a world makes a hundred thousand.
func (w *world) newCall() *checker.Call {
	if len(w.slab) == 0 {
		w.slab = make([]checker.Call, 64)
	}
	c := &w.slab[0]
	w.slab = w.slab[1:]
	return c
}

// ghosts returns the leases behind the rows of a renewal or a report.
func (h *host) ghosts(req store.Request) []checker.Ghost {
	switch r := req.(type) {
	case *store.Renew:
		g := make([]checker.Ghost, len(r.Rows))
		for i := range r.Rows {
			g[i] = h.known[r.Rows[i].Key]
		}
		return g
	case *store.Report:
		g := make([]checker.Ghost, len(r.Rows))
		for i := range r.Rows {
			g[i] = h.known[r.Rows[i].Key]
		}
		return g
	case *store.Claim, *store.Sweep, *store.Enqueue, *store.Do:
	}
	return nil
}

func kindOf(req store.Request) checker.CallKind {
	switch req.(type) {
	case *store.Renew:
		return checker.CallRenew
	case *store.Report:
		return checker.CallReport
	case *store.Claim:
		return checker.CallClaim
	case *store.Sweep:
		return checker.CallSweep
	case *store.Enqueue:
		return checker.CallEnqueue
	case *store.Do:
		return checker.CallDo
	}
	panic("sim: unknown request")
}

// launch sends f on its way; it reaches the store after delay.
func (w *world) launch(f *flight, delay int64) {
	i := w.slot()
	c := &w.calls[i]
	gen := c.gen
	*c = *f
	c.gen = gen
	w.push(event{at: w.now + delay, kind: evApply, ref: i, gen: gen})
}

// slot returns a free entry of calls.
func (w *world) slot() int32 {
	if n := len(w.free); n > 0 {
		i := w.free[n-1]
		w.free = w.free[:n-1]
		return i
	}
	w.calls = append(w.calls, flight{})
	return int32(len(w.calls) - 1)
}

func (w *world) land(i int32) {
	w.calls[i] = flight{gen: w.calls[i].gen + 1}
	w.free = append(w.free, i)
}

// lose books a request that will never reach the store.
func (w *world) lose(f *flight) {
	w.watch.lost(f.call, false)
	w.seen.reach(sawLostRequest)
	if w.log != nil && f.call.Kind != checker.CallForged {
		w.log.Lost(w.now, uint64(f.call.Ghost))
	}
}

// apply lets a request reach the store.
func (w *world) apply(e event) {
	f := &w.calls[e.ref]
	n := (*node)(nil)
	if f.host != nil {
		n = f.host.n
	}
	switch {
	case w.net.outage > 0, n != nil && n.cut[0] > 0, w.genuine(f.call):
		if f.own {
			w.afoot--
		}
		w.lose(f)
		w.land(e.ref)
		return
	case len(w.net.stall) > 0:
		late := draw(w.seed, streamStall, w.sender(f), uint64(f.call.Kind), uint64(f.nth)) % uint64(time.Millisecond)
		w.push(event{at: slices.Max(w.net.stall) + int64(late), kind: evApply, ref: e.ref, gen: e.gen})
		w.seen.reach(sawStall)
		return
	case w.spring(e, f):
		return
	}
	f = &w.calls[e.ref] // others may have been launched
	w.commit(f)
	f = &w.calls[e.ref]
	if f.own {
		w.afoot--
		w.carriedOut(f)
	} else if len(w.store.Changes()) > 0 {
		w.look()
	}
	if f.lose || f.call.Kind == checker.CallForged || (n != nil && n.cut[1] > 0) {
		w.lostReply(f)
		w.land(e.ref)
		return
	}
	back := int64(f.extra)
	if n != nil {
		back += int64(n.slowness)
	}
	w.push(event{at: w.now + back + int64(w.net.slow), kind: evReply, ref: e.ref, gen: f.gen})
}

// commit lets the store carry out f, or fail.
func (w *world) commit(f *flight) {
	c := checker.Commit{Call: f.call, True: w.now, StoreNow: w.storeNow()}
	if err := w.refuse(f); err != nil {
		f.err = err
		c.Err = err
		c.Audits = w.audits
		w.watch.Applied(&c)
		w.trace.commit(f, nil)
		if w.log != nil {
			w.log.Lost(w.now, uint64(f.call.Ghost))
		}
		return
	}
	f.reply, f.err = w.store.Apply(f.call.Req)
	f.applied = f.err == nil
	changes := w.store.Changes()
	w.changed(changes)
	w.commanded(f)
	w.reachCommit(f.reply, changes)
	if f.call.Kind == checker.CallDo {
		w.audits = len(w.store.Audits())
	}
	c.Reply, c.Err, c.Audits = f.reply, f.err, w.audits
	for i := range changes {
		w.images = append(w.images, checker.Change{Before: &changes[i].Before, After: &changes[i].After})
	}
	c.Changes = w.images
	w.watch.Applied(&c)
	w.images = w.images[:0]
	w.trace.commit(f, changes)
	if w.log != nil && f.applied && f.call.Kind != checker.CallForged {
		w.log.Applied(w.now, uint64(f.call.Ghost), f.reply)
	}
	if r, ok := f.reply.(*store.Claimed); ok && f.err == nil {
		f.leases = make([]checker.Ghost, len(r.Leases))
		for i := range r.Leases {
			f.leases[i] = w.watch.Lease(r.Leases[i].Key.Job)
		}
	}
}

// refuse returns the error that the store's troubles give f, nil for none.
func (w *world) refuse(f *flight) error {
	if w.net.refuse > 0 || f.refused {
		return injected(store.FaultConnection)
	}
	if f.host == nil {
		return nil // clients and operators have their own faults
	}
	for _, i := range w.net.errors {
		if s, ok := w.sc.Timeline[i].(StoreError); ok && s.hits(f) {
			class, err := store.ParseFault(s.Class)
			if err != nil {
				panic(err) // the parser has checked it
			}
			return injected(class)
		}
	}
	return nil
}

// hits reports whether the trouble is f's.
func (s *StoreError) hits(f *flight) bool {
	return (len(s.Nodes) == 0 || contains(s.Nodes, f.host.n.spec.Name)) &&
		(s.Group == "" || s.Group == f.host.group.name) &&
		(len(s.Calls) == 0 || contains(s.Calls, callName(f.call.Kind)))
}

func callName(k checker.CallKind) string {
	return [...]string{"renew", "report", "claim", "sweep", "enqueue", "do", "forged", "commit"}[k]
}

// UnknownError is what a fatal fault of the store looks like: nothing an
// adapter knows.
type UnknownError struct{ Text string }

// Error implements error.
func (e *UnknownError) Error() string { return e.Text }

func injected(f store.Fault) error {
	if f == store.FaultFatal {
		return &UnknownError{"column \"lease_until\" does not exist"}
	}
	return &store.TransientError{Fault: f, Err: errors.New("injected")}
}

func (w *world) lostReply(f *flight) {
	w.watch.lost(f.call, true)
	if f.call.Kind == checker.CallForged || f.err != nil {
		return
	}
	if f.call.Kind == checker.CallComplete {
		w.seen.reach(sawHandlerLost)
	} else {
		w.seen.reach(sawLostReply + situation(f.call.Kind))
	}
	if f.host != nil {
		w.tellPump(f.host, "will not hear the answer to its %s: the reply is lost", callName(f.call.Kind))
	}
}

// deliver lets an answer reach its sender.
func (w *world) deliver(e event) {
	f := w.calls[e.ref]
	h := f.host
	if h == nil {
		w.land(e.ref)
		w.answerPeople(&f)
		return
	}
	if !h.dead && h.n.cut[1] > 0 {
		w.lostReply(&f)
		w.land(e.ref)
		return
	}
	if !w.ready(h, e) {
		if h.dead {
			w.land(e.ref)
		}
		return
	}
	w.land(e.ref)
	w.learn(h, &f)
	failed := f.err != nil
	fault := store.Fault(0)
	if failed {
		fault = store.FaultOf(f.err)
	}
	w.watch.Answered(f.call, f.reply, f.leases, fault, failed, int64(h.node))
	if w.log != nil {
		if failed {
			w.log.Failed(w.now, uint64(f.call.Ghost), f.err)
		} else {
			w.log.Answered(w.now, uint64(f.call.Ghost), f.reply)
		}
	}
	if f.own {
		w.answered(&f)
		return
	}
	h.shell.Answered(f.op, f.reply, f.err)
	h.after()
}

// learn keeps what an answer tells: the ghosts of the leases in a claim's, and
// what people want to read in the others.
func (w *world) learn(h *host, f *flight) {
	if f.err != nil {
		return
	}
	switch r := f.reply.(type) {
	case *store.Claimed:
		for i := range r.Leases {
			h.known[r.Leases[i].Key] = f.leases[i]
		}
	case *store.Renewed:
		w.tellRenewed(h, f.call.Req.(*store.Renew), r)
	case *store.Reported:
		w.tellReported(h, f.call.Req.(*store.Report), r)
	case *store.Swept, *store.Enqueued, *store.Done:
	}
}
