package sim

import (
	"slices"
	"time"

	"backwave/checker"
	"backwave/store"
)

// striker is a fault that hits one call.
type striker interface {
	Fault
	// strike changes the way of f, and returns its delay and whether it is lost.
	strike(w *world, f *flight, delay int64, lost bool) (int64, bool)
}

func (f OnCall) plan(w *world, i int32) { w.waitFor(f.Pump, f.Call, hit{f.Nth, f, i}) }
func (f Aim) plan(w *world, i int32)    { w.waitFor(f.Pump, f.Call, hit{f.Nth, f, i}) }
func (f Forge) plan(w *world, i int32)  { w.waitFor(f.Pump, f.Call, hit{f.Nth, f, i}) }
func (OnEnqueue) plan(*world, int32)    {} // looked up at the send

func (OnCall) happen(*world, int32, bool)    {}
func (OnEnqueue) happen(*world, int32, bool) {}
func (Aim) happen(*world, int32, bool)       {}
func (Forge) happen(*world, int32, bool)     {}

// waitFor makes x strike a call of a kind by a pump.
func (w *world) waitFor(a Address, call string, x hit) {
	n := w.nodeNamed(a.Node)
	k := slices.IndexFunc([]string{"renew", "report", "claim", "sweep"}, func(s string) bool { return s == call })
	for s := range n.slots {
		if (a.Group == "" || w.groups[n.slots[s].group].name == a.Group) && n.slots[s].pump == a.Pump {
			n.slots[s].hits[k] = append(n.slots[s].hits[k], x)
			return
		}
	}
}

func (f OnCall) strike(w *world, c *flight, delay int64, lost bool) (int64, bool) {
	return w.disturb(c, f.Do, f.By, delay, lost)
}

func (f OnEnqueue) strike(w *world, c *flight, delay int64, lost bool) (int64, bool) {
	return w.disturb(c, f.Do, f.By, delay, lost)
}

func (f Aim) strike(w *world, c *flight, delay int64, lost bool) (int64, bool) {
	if f.At == "sweep" {
		c.awaits, c.off = true, int64(f.Off)
		return delay, lost
	}
	return w.aimed(c, f, delay), lost
}

func (f Forge) strike(w *world, c *flight, delay int64, lost bool) (int64, bool) {
	w.forge(c, f)
	return delay, lost
}

// disturb does to one call what its fault says.
func (w *world) disturb(f *flight, do string, by time.Duration, delay int64, lost bool) (int64, bool) {
	switch do {
	case "lose-request":
		lost = true
	case "lose-reply":
		f.lose = true
	case "delay-request":
		delay += int64(by)
		w.trouble(w.now + delay)
		w.seen.reach(sawLateRequest)
	case "delay-reply":
		f.extra += by
		w.trouble(w.now + delay + int64(f.extra))
		w.seen.reach(sawLateReply)
	case "double":
		if w.log != nil {
			w.log.Doubled(w.now, uint64(f.call.Ghost))
		}
		w.seen.reach(sawDoubled)
		w.trouble(w.now + delay + int64(by))
		w.launch(f, delay+int64(by))
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
	w.reachAimed(f, a.At)
	w.trouble(at + int64(a.Off))
	return at + int64(a.Off) - w.now
}

// ambushed is a call that lies in wait for the next sweep.
type ambushed flight

// spring lets the calls that lie in wait for a sweep go. Those that are to come
// before it are put in front of it, which is then carried out after them; it
// reports whether there were any.
func (w *world) spring(e event, f *flight) (before bool) {
	if f.call.Kind != checker.CallSweep || len(w.ambush) == 0 {
		return false
	}
	all := w.ambush
	w.ambush = nil
	for i := range all {
		a := flight(all[i])
		w.seen.reach(sawAimed)
		w.reachAimed(&a, "sweep")
		w.trouble(w.now + max(0, a.off))
		a.awaits = false
		if a.off < 0 {
			before = true
			w.launch(&a, 0)
			continue
		}
		w.launch(&a, a.off)
	}
	if before {
		w.push(event{at: w.now, kind: evApply, ref: e.ref, gen: e.gen})
	}
	return before
}
