package bubble

import (
	"slices"
	"time"

	"backwave/checker"
	"backwave/sim"
	"backwave/store"
)

// strike lets the faults that are about one call hit f, the nth of its kind.
func (w *world) strike(f *flight, nth int) {
	for _, t := range w.sc.Timeline {
		switch t := t.(type) {
		case sim.OnCall:
			if f.sentBy(t.Pump, t.Call) && t.Nth == nth {
				w.disturb(f, "on-call/"+t.Do, t.Do, t.By)
			}
		case sim.OnEnqueue:
			if r, ok := f.call.Req.(*store.Enqueue); ok && max(1, t.Nth) == nth && r.Jobs[0].ID == w.named(t.Job).id {
				w.disturb(f, "on-enqueue/"+t.Do, t.Do, t.By)
			}
		case sim.Aim:
			if f.sentBy(t.Pump, t.Call) && t.Nth == nth {
				w.aim(f, t)
			}
		case sim.Forge:
			if f.sentBy(t.Pump, t.Call) && t.Nth == nth {
				w.forge(f, t)
			}
		}
	}
	if r, ok := f.call.Req.(*store.Do); ok && nth == 1 && w.lost[r.RequestID] {
		f.loses = "people/lost"
	}
}

func (f *flight) sentBy(a sim.Address, call string) bool {
	if f.n == nil || f.n.spec.Name != a.Node || f.at.pump != a.Pump {
		return false
	}
	if f.call.Kind > checker.CallSweep || call != [...]string{"renew", "report", "claim", "sweep"}[f.call.Kind] {
		return false
	}
	group := a.Group
	if group == "" {
		group = f.w.served(f.n)[0].Name
	}
	return group == f.at.group
}

func (w *world) disturb(f *flight, kind, do string, by time.Duration) {
	w.trouble(by)
	switch do {
	case "lose-request":
		f.lost = true
		w.hit(kind)
	case "lose-reply":
		f.loses = kind // counted if there was something to lose
	case "delay-request":
		f.there += by
		w.hit(kind)
	case "delay-reply":
		f.back += by
		w.hit(kind)
	case "double":
		f.double = by
		w.hit(kind)
	}
}

// aim makes f arrive at an instant of truth.
func (w *world) aim(f *flight, a sim.Aim) {
	target := store.Instant(1<<63 - 1)
	consider := func(j *store.Job) {
		switch {
		case a.At == "due" && j.State == store.Scheduled:
			target = min(target, j.Due)
		case a.At == "expiry" && j.State == store.Executing:
			target = min(target, j.LeaseUntil)
		}
	}
	lookup := func(id store.JobID) {
		if j, ok := w.store.Lookup(id); ok {
			consider(j)
		}
	}
	switch r := f.call.Req.(type) {
	case *store.Renew:
		lookup(r.Rows[0].Key.Job)
	case *store.Report:
		lookup(r.Rows[0].Key.Job)
	case *store.Claim, *store.Sweep:
		w.store.Each(func(j *store.Job) bool {
			if j.Due > (storeTime{w}).Now() || j.State == store.Executing {
				consider(j)
			}
			return true
		})
	case *store.Enqueue, *store.Do:
	}
	if target == 1<<63-1 {
		return
	}
	d, ok := w.clock.until(int64(target)*1000, w.time())
	if there := time.Duration(d) + a.Off; ok && there >= f.there {
		f.there = there
		w.trouble(there)
		w.hit("aim/" + a.At)
	}
}

// forge sends an altered copy of f.
func (w *world) forge(f *flight, x sim.Forge) {
	by := x.By
	if by == 0 {
		by = 1
	}
	worker := f.worker
	if x.Field == "worker" {
		worker += "-forged"
	}
	alter := func(k store.LeaseKey) store.LeaseKey {
		switch x.Field {
		case "claim":
			k.Claim = uint64(max(1, int64(k.Claim)+int64(by)))
		case "attempt":
			k.Attempt = max(1, k.Attempt+by)
		}
		return k
	}
	c, rows := *f.call, 0
	switch r := f.call.Req.(type) {
	case *store.Renew:
		n := &store.Renew{Worker: worker, Lease: r.Lease}
		for _, row := range r.Rows {
			if k := alter(row.Key); k != row.Key || worker != f.worker {
				row.Key = k
				n.Rows = append(n.Rows, row)
			}
		}
		c.Req, rows = n, len(n.Rows)
	case *store.Report:
		n := &store.Report{Worker: worker}
		for _, row := range r.Rows {
			if k := alter(row.Key); k != row.Key || worker != f.worker {
				row.Key = k
				n.Rows = append(n.Rows, row)
			}
		}
		c.Req, rows = n, len(n.Rows)
	case *store.Claim, *store.Sweep, *store.Enqueue, *store.Do:
	}
	if rows == 0 {
		return
	}
	w.serial++
	c.Kind, c.Ghost, c.Leases = checker.CallForged, checker.Ghost(w.serial), make([]checker.Ghost, rows)
	w.watch.Sent(&c)
	w.trouble(x.After)
	w.hit("forge")
	g := &flight{w: w, n: f.n, p: f.p, call: &c, worker: worker, at: f.at, there: x.After, loses: "forge/arrived", double: -1}
	w.flights.Add(1)
	go g.travel()
}

// genuine reports whether a forged copy names the lease that is in force.
func (w *world) genuine(f *flight) bool {
	match := func(worker string, k store.LeaseKey) bool {
		j, ok := w.store.Lookup(k.Job)
		return ok && j.State == store.Executing && j.Worker == worker && j.Claim == k.Claim && j.Attempt == k.Attempt
	}
	switch r := f.call.Req.(type) {
	case *store.Renew:
		return slices.ContainsFunc(r.Rows, func(row store.RenewRow) bool { return match(r.Worker, row.Key) })
	case *store.Report:
		return slices.ContainsFunc(r.Rows, func(row store.ReportRow) bool { return match(r.Worker, row.Key) })
	case *store.Claim, *store.Sweep, *store.Enqueue, *store.Do:
	}
	return false
}
