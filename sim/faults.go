package sim

import (
	"slices"
	"time"

	"backwave/checker"
	"backwave/store"
	"backwave/store/memory"
)

// snapshot is what a store that forgets goes back to.
type snapshot struct {
	fault int32
	taken int64 // true time
	store *memory.Store
	seq   uint64 // position of the history
}

// plan puts fault i of the timeline into the queue, or where the call is that
// it hits.
func (w *world) plan(i int32, f Fault) {
	begin, length := span(f)
	switch f := f.(type) {
	case OnCall:
		w.aimAt(f.Pump, f.Call, hit{f.Nth, f})
		return
	case Aim:
		w.aimAt(f.Pump, f.Call, hit{f.Nth, f})
		return
	case Forge:
		w.aimAt(f.Pump, f.Call, hit{f.Nth, f})
		return
	case OnEnqueue: // looked up at the send
		return
	case Forget:
		w.push(event{at: max(0, int64(f.At-f.Back)), kind: evFault, ref: i, step: 0})
		w.push(event{at: int64(f.At), kind: evFault, ref: i, step: 1})
		return
	default:
	}
	w.push(event{at: int64(begin), kind: evFault, ref: i, step: 0})
	if length > 0 {
		w.push(event{at: int64(begin + length), kind: evFault, ref: i, step: 1})
	}
}

// span returns when a fault begins, and after how long its second step comes;
// 0 = it has none.
func span(f Fault) (at, length time.Duration) {
	switch f := f.(type) {
	case Crash:
		return f.At, 0
	case Start:
		return f.At, 0
	case Drain:
		return f.At, 0
	case Pause:
		return f.At, f.For
	case Suspend:
		return f.At, f.For
	case Step:
		return f.At, 0
	case Drift:
		return f.At, 0
	case Freeze:
		return f.At, f.For
	case Partition:
		return f.At, f.For
	case Slow:
		return f.At, f.For
	case StoreError:
		return f.At, f.For
	case Outage:
		return f.At, f.For
	case Stall:
		return f.At, f.For
	case Restart:
		return f.At, f.For
	case Damage:
		return f.At, 0
	case Hold:
		return f.At, f.For
	case Forget:
		return f.At - f.Back, f.Back
	case Cancel:
		return f.At, f.Twice
	case Requeue:
		return f.At, f.Twice
	case PauseQueue:
		return f.At, f.Twice
	case ResumeQueue:
		return f.At, f.Twice
	case EnqueueAgain:
		return f.At, 0
	case OnCall, OnEnqueue, Aim, Forge:
		return 0, 0
	}
	return 0, 0
}

func (w *world) aimAt(a Address, call string, h hit) {
	n := w.nodeNamed(a.Node)
	if n == nil {
		return
	}
	k := slices.IndexFunc([]string{"renew", "report", "claim", "sweep"}, func(s string) bool { return s == call })
	for s := range n.slots {
		if (a.Group == "" || w.groups[n.slots[s].group].name == a.Group) && n.slots[s].pump == a.Pump && k >= 0 {
			n.slots[s].hits[k] = append(n.slots[s].hits[k], h)
			return
		}
	}
}

func (w *world) nodeNamed(name string) *node {
	for _, n := range w.nodes {
		if n.spec.Name == name {
			return n
		}
	}
	return nil
}

// among calls do for each node named; none = all.
func (w *world) among(names []string, do func(*node)) {
	for _, n := range w.nodes {
		if len(names) == 0 || contains(names, n.spec.Name) {
			do(n)
		}
	}
}

// happen lets a step of a fault of the timeline happen.
func (w *world) happen(e event) {
	begin, by := e.step == 0, 1
	if !begin {
		by = -1
	}
	switch f := w.sc.Timeline[e.ref].(type) {
	case Crash, Start, Drain, Pause, Suspend:
		w.happenToNode(f, begin)
	case Step, Drift, Freeze:
		w.happenToClock(f, by)
	case Partition, Slow, StoreError, Outage, Stall, Restart:
		w.happenToNet(f, by)
	case Damage, Hold, Forget:
		w.happenToRows(e.ref, f, begin)
	case Cancel, Requeue, PauseQueue, ResumeQueue, EnqueueAgain:
		w.happenByPeople(e.ref, f)
	case OnCall, OnEnqueue, Aim, Forge: // happen with their call
	}
}

func (w *world) happenToNode(f Fault, begin bool) {
	switch f := f.(type) {
	case Crash:
		n := w.nodeNamed(f.Node)
		if n.up {
			w.tell(n, "CRASHES")
			w.seen.reach(sawCrash)
			w.crash(n, f.Restart)
		}
	case Start:
		w.boot(w.nodeNamed(f.Node))
	case Drain:
		w.tell(w.nodeNamed(f.Node), "is asked to shut down")
		w.shutDown(w.nodeNamed(f.Node), f.Restart)
	case Pause:
		n := w.nodeNamed(f.Node)
		if begin {
			w.tell(n, "STANDS STILL for %v", f.For)
			w.stop(n)
			return
		}
		w.tell(n, "goes on")
		w.seen.reach(sawPause)
		w.resume(n)
	case Suspend:
		n := w.nodeNamed(f.Node)
		if begin {
			w.tell(n, "is SUSPENDED for %v", f.For)
			n.mono.freeze(w.now, 1)
			w.stop(n)
			return
		}
		w.tell(n, "wakes from its suspend")
		w.seen.reach(sawSuspend)
		n.mono.freeze(w.now, -1)
		w.rearm(n)
		w.resume(n)
	}
}

func (w *world) happenToClock(f Fault, by int) {
	switch f := f.(type) {
	case Step:
		if f.Node == storeName {
			w.storeClock.step(w.now, f.By)
			w.watch.StoreClockStepped(f.By, w.now)
			w.seen.reach(sawStoreStep)
			w.say("store", "its clock steps by %v", f.By)
			return
		}
		n := w.nodeNamed(f.Node)
		n.wall.step(w.now, f.By)
		w.seen.reach(sawWallStep)
		w.tell(n, "its wall clock steps by %v", f.By)
	case Drift:
		if f.Node == storeName {
			w.storeClock.drift(w.now, f.PPM)
			return
		}
		n := w.nodeNamed(f.Node)
		n.wall.drift(w.now, f.PPM)
		n.mono.drift(w.now, f.PPM)
		w.rearm(n)
	case Freeze:
		if f.Node == storeName {
			w.storeClock.freeze(w.now, by)
			return
		}
		w.nodeNamed(f.Node).wall.freeze(w.now, by)
	}
}

// storeName stands for the store where a fault names a clock.
const storeName = "store"

func (w *world) happenToNet(f Fault, by int) {
	switch f := f.(type) {
	case Partition:
		w.among(f.Nodes, func(n *node) {
			if f.Lost != "replies" {
				n.cut[0] += by
			}
			if f.Lost != "requests" {
				n.cut[1] += by
			}
			w.tell(n, "%s", map[int]string{1: "is CUT OFF from the store", -1: "reaches the store again"}[by])
			w.seen.reach(sawPartition)
		})
	case Slow:
		w.among(f.Nodes, func(n *node) { n.slowness += time.Duration(by) * f.By })
	case StoreError:
		w.say("store", "%s", map[int]string{1: "answers with errors of class " + f.Class, -1: "answers again"}[by])
		if by > 0 {
			w.net.errors = append(w.net.errors, &f)
			return
		}
		w.net.errors = slices.DeleteFunc(w.net.errors, func(s *StoreError) bool {
			return s.At == f.At && s.For == f.For && s.Class == f.Class && s.Group == f.Group && slices.Equal(s.Calls, f.Calls) && slices.Equal(s.Nodes, f.Nodes)
		})
	case Outage:
		w.net.outage += by
		w.seen.reach(sawOutage)
		w.say("store", "%s", map[int]string{1: "answers NOBODY", -1: "answers again"}[by])
	case Stall:
		if by > 0 {
			w.net.stall = append(w.net.stall, int64(f.At+f.For))
			w.say("store", "STALLS")
			return
		}
		w.net.stall = slices.DeleteFunc(w.net.stall, func(end int64) bool { return end <= w.now })
		w.say("store", "goes on")
	case Restart:
		w.net.refuse += by
		w.say("store", "%s", map[int]string{1: "goes down for a restart", -1: "is up again"}[by])
	}
}

func (w *world) happenToRows(i int32, f Fault, begin bool) {
	switch f := f.(type) {
	case Damage:
		j := &w.jobs[w.byName[f.Job]]
		if _, ok := w.store.Lookup(j.id); ok {
			w.store.Damage(j.id, "invalid page in block 7")
			w.watch.Damaged(j.id)
			w.say("store", "the row of %s can no longer be read", j.name)
		}
	case Hold:
		j := &w.jobs[w.byName[f.Job]]
		if _, ok := w.store.Lookup(j.id); begin && !ok {
			return
		}
		if begin {
			j.held = true
			w.store.Hold(j.id)
			w.watch.Held(j.id)
			w.say("store", "somebody's transaction holds the row of %s", j.name)
			return
		}
		j.held = false
		w.store.Unhold(j.id)
		w.watch.Released(j.id)
		w.say("store", "the row of %s is free again", j.name)
	case Forget:
		if begin {
			s := snapshot{fault: i, taken: w.now, store: w.store.Clone((*storeTime)(w))}
			if w.log != nil {
				s.seq = w.log.Seq()
			}
			w.snapshots = append(w.snapshots, s)
			return
		}
		w.forget(i, f)
	}
}

// forget takes the store back to what it was. Snapshots of what is thereby
// undone become snapshots of what it goes back to: a store has one history.
func (w *world) forget(i int32, f Forget) {
	k := slices.IndexFunc(w.snapshots, func(s snapshot) bool { return s.fault == i })
	was := w.snapshots[k]
	w.snapshots = slices.Delete(w.snapshots, k, k+1)
	for k := range w.snapshots {
		if s := &w.snapshots[k]; s.taken > was.taken {
			s.store, s.seq = was.store.Clone((*storeTime)(w)), was.seq
		}
	}
	w.store = was.store
	for k := range w.jobs { // who holds a row now is no matter of the past
		j := &w.jobs[k]
		w.store.Unhold(j.id)
		if _, ok := w.store.Lookup(j.id); ok && j.held {
			w.store.Hold(j.id)
		} else if j.held { // there is no row any more that could be held
			j.held = false
			w.watch.Released(j.id)
		}
	}
	var rows []*store.Job
	w.store.Each(func(j *store.Job) bool { rows = append(rows, j); return true })
	w.watch.Forgot(rows, w.now)
	w.audits = len(w.store.Audits())
	if w.log != nil {
		w.log.Forgot(w.now, was.seq)
	}
	w.seen.reach(sawForget)
	w.say("store", "FORGETS the last %v", f.Back)
}

func (w *world) happenByPeople(i int32, f Fault) {
	switch f := f.(type) {
	case Cancel:
		w.say("operator", "cancels %s", f.Job)
		w.act(i, store.Cancel{Job: w.jobs[w.byName[f.Job]].id, Force: f.Force})
	case Requeue:
		w.say("operator", "requeues %s", f.Job)
		w.act(i, store.Requeue{Job: w.jobs[w.byName[f.Job]].id})
	case PauseQueue:
		w.say("operator", "pauses queue %s", f.Queue)
		w.act(i, store.Pause{Queue: f.Queue})
	case ResumeQueue:
		w.say("operator", "resumes queue %s", f.Queue)
		w.act(i, store.Resume{Queue: f.Queue})
	case EnqueueAgain:
		w.sendEnqueue(w.byName[f.Job])
	}
}

// strike lets what hits one call change its way, and returns its delay and
// whether it is lost.
func (w *world) strike(f *flight, fault Fault, delay int64, lost bool) (int64, bool) {
	do, by := "", time.Duration(0)
	switch x := fault.(type) {
	case OnCall:
		do, by = x.Do, x.By
	case OnEnqueue:
		do, by = x.Do, x.By
	case Aim:
		return w.aimed(f, x, delay), lost
	case Forge:
		w.forge(f, x)
		return delay, lost
	default:
	}
	switch do {
	case "lose-request":
		lost = true
	case "lose-reply":
		f.lose = true
	case "delay-request":
		delay += int64(by)
		w.seen.reach(sawLateRequest)
	case "delay-reply":
		f.extra += by
		w.seen.reach(sawLateReply)
	case "double":
		if w.log != nil {
			w.log.Doubled(w.now, uint64(f.call.Ghost))
		}
		w.seen.reach(sawDoubled)
		w.launch(*f, delay+int64(by))
	}
	return delay, lost
}

// aimed returns the delay with which f arrives at an instant of truth, or the
// delay it has if that instant is past or there is none.
func (w *world) aimed(f *flight, a Aim, delay int64) int64 {
	target := store.Instant(never)
	consider := func(j *store.Job) bool {
		switch {
		case a.At == "due" && j.State == store.Scheduled:
			target = min(target, j.Due)
		case a.At == "expiry" && j.State == store.Executing:
			target = min(target, j.LeaseUntil)
		}
		return true
	}
	switch r := f.call.Req.(type) {
	case *store.Renew:
		if j, ok := w.store.Lookup(r.Rows[0].Key.Job); ok {
			consider(j)
		}
	case *store.Report:
		if j, ok := w.store.Lookup(r.Rows[0].Key.Job); ok {
			consider(j)
		}
	case *store.Claim, *store.Sweep:
		w.store.Each(func(j *store.Job) bool {
			if j.Due > w.storeNow() || j.State == store.Executing {
				consider(j)
			}
			return true
		})
	case *store.Enqueue, *store.Do:
	}
	if target == store.Instant(never) {
		return delay
	}
	at := w.storeClock.when(fromInstant(target), w.now)
	if at == never || at+int64(a.Off) < w.now+delay {
		return delay
	}
	w.seen.reach(sawAimed)
	return at + int64(a.Off) - w.now
}

// forge sends an altered copy of f.
func (w *world) forge(f *flight, x Forge) {
	c := *f.call
	c.Kind = checker.CallForged
	by := x.By
	if by == 0 {
		by = 1
	}
	worker := f.host.worker
	if x.Field == "worker" {
		worker = w.pumps[(int(f.host.id)+by%len(w.pumps)+len(w.pumps))%len(w.pumps)].worker
	}
	rows := 0
	switch r := f.call.Req.(type) {
	case *store.Renew:
		n := &store.Renew{Worker: worker, Lease: r.Lease}
		for _, row := range r.Rows {
			if alter(&row.Key, x.Field, by) || worker != r.Worker {
				n.Rows = append(n.Rows, row)
			}
		}
		c.Req, rows = n, len(n.Rows)
	case *store.Report:
		n := &store.Report{Worker: worker}
		for _, row := range r.Rows {
			if alter(&row.Key, x.Field, by) || worker != r.Worker {
				n.Rows = append(n.Rows, row)
			}
		}
		c.Req, rows = n, len(n.Rows)
	case *store.Claim, *store.Sweep, *store.Enqueue, *store.Do:
	}
	if rows == 0 {
		return // nothing in it could be altered
	}
	w.serial++
	c.Ghost, c.Leases = checker.Ghost(w.serial), make([]checker.Ghost, rows)
	w.seen.reach(sawForged)
	w.watch.Sent(&c)
	w.launch(flight{call: &c, host: f.host, job: -1, act: -1}, int64(x.After))
}

// genuine reports whether a forged copy names the lease that is really in
// force: after a store has forgotten, what was altered can come true.
func (w *world) genuine(c *checker.Call) bool {
	if c.Kind != checker.CallForged {
		return false
	}
	match := func(worker string, k store.LeaseKey) bool {
		j, ok := w.store.Lookup(k.Job)
		return ok && j.State == store.Executing && j.Worker == worker && j.Claim == k.Claim && j.Attempt == k.Attempt
	}
	switch r := c.Req.(type) {
	case *store.Renew:
		return slices.ContainsFunc(r.Rows, func(row store.RenewRow) bool { return match(r.Worker, row.Key) })
	case *store.Report:
		return slices.ContainsFunc(r.Rows, func(row store.ReportRow) bool { return match(r.Worker, row.Key) })
	case *store.Claim, *store.Sweep, *store.Enqueue, *store.Do:
	}
	return false
}

// alter changes one part of k, and reports whether it did.
func alter(k *store.LeaseKey, field string, by int) bool {
	was := *k
	switch field {
	case "claim":
		k.Claim = uint64(max(1, int64(k.Claim)+int64(by)))
	case "attempt":
		k.Attempt = max(1, k.Attempt+by)
	}
	return *k != was
}
