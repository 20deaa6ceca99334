package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"backwave/checker"
	"backwave/engine"
	"backwave/store"
)

func (w *world) startOwn(h *host, i int32, l store.Lease) {
	r := &w.runs[i]
	l.Payload = slices.Clone(l.Payload)
	n := h.n
	w.afoot++
	r.co = w.own.Start(Attempt{
		Job: w.jobs[r.job].name, Node: n.spec.Name, Process: n.number(), Worker: h.worker, Lease: l, Length: h.group.cfg.LeaseDuration,
		Now: func() time.Time { return time.Unix(0, n.wall.read(w.now)).UTC() },
	})
	w.wakeRun(i, w.now, nil)
}

// wakeRun lets the handler of run i go on at at. It takes back any other such
// wish.
func (w *world) wakeRun(i int32, at int64, err error) {
	r := &w.runs[i]
	r.gen++
	r.ends, r.err = 0, err
	w.push(event{at: at, kind: evHandler, ref: i, gen: r.gen})
}

// handle lets a handler go on.
func (w *world) handle(e event) {
	r := &w.runs[e.ref]
	if r.gen != e.gen || r.host == nil || !w.ready(r.host, e) {
		return
	}
	r = &w.runs[e.ref]
	if r.gen != e.gen || r.host == nil { // told by a jump of the clock, just now
		return
	}
	if n := r.host.n; r.ends > n.mono.read(w.now) { // its clock stood still, or was bent
		w.push(event{at: n.mono.when(r.ends, w.now), kind: evHandler, ref: e.ref, gen: e.gen})
		return
	}
	switch {
	case r.dies > 0:
		w.die(r, r.dies)
	case e.step == 1: // it was frozen
		w.issue(e.ref, r.call, r.blow)
	default:
		w.runOn(e.ref)
	}
	w.look()
	w.settle()
}

// tells is how often a handler may tell of progress at one instant.
const tells = 10_000

// runOn lets the handler of run i run until it has to wait.
func (w *world) runOn(i int32) {
	err := w.runs[i].err
	w.watch.goesOn(i, w.runs[i].key, err)
	for n := 0; ; n++ {
		if n == tells {
			w.alarmed([]Alarm{{progress, w.key(w.runs[i].key) + ": its handler tells of progress for ever, at one instant"}})
			w.foul = true
			return
		}
		need := w.runs[i].co.Resume(err)
		err = nil
		r := &w.runs[i]
		h, key := r.host, r.key
		w.trace.need(h, key, need)
		switch need := need.(type) {
		case NeedSleep, NeedCall, NeedCommit, NeedEnqueue:
			w.meet(i, need)
			return
		case NeedProgress:
			h.shell.Progressed(key, need.Fetch())
			h.after()
		case NeedCompleting:
			w.watch.Completing(h.id, key, int64(h.node))
			h.shell.Completing(key)
			h.after()
		case NeedCompleted:
			w.watch.Completed(h.id, key, need.How, int64(h.node))
			h.shell.Completed(key, need.How)
			h.after()
		case NeedEnd:
			w.endRun(i, need.Result)
			return
		case NeedStop:
			w.foul = true
			return
		}
	}
}

// meet lets a call of run i meet what is to happen to it.
func (w *world) meet(i int32, need Need) {
	hit := w.hitBy(i)
	r := &w.runs[i]
	switch {
	case hit.crash:
		w.die(r, hit.by)
	case hit.pause: // frozen in the midst of it, before anything has left
		r.call, r.blow = need, hit
		n := r.host.n
		w.stand(n, hit, ", just before a call of "+w.key(r.key)+" leaves")
		n.waiting = slices.Insert(n.waiting, 0, event{kind: evHandler, ref: i, gen: r.gen, step: 1})
	default:
		w.issue(i, need, hit)
	}
}

// issue makes a call of run i.
func (w *world) issue(i int32, need Need, hit blow) {
	switch need := need.(type) {
	case NeedSleep:
		w.sleepRun(i, need, hit)
	case NeedCall:
		w.callOut(i, need, hit)
	case NeedCommit:
		w.commitRun(i, need, hit)
	case NeedEnqueue:
		w.enqueueRun(i, need, hit)
	case NeedProgress, NeedCompleting, NeedCompleted, NeedEnd, NeedStop:
	}
	if hit.pauseAfter {
		w.stand(w.runs[i].host.n, hit, "")
	}
}

func (w *world) sleepRun(i int32, s NeedSleep, hit blow) {
	r := &w.runs[i]
	w.tellPump(r.host, "%s, attempt %d, sleeps for %v", w.jobs[r.job].name, r.key.Attempt, s.For)
	n := r.host.n
	ends := n.mono.read(w.now) + int64(max(0, s.For))
	w.wakeRun(i, n.mono.when(ends, w.now), nil)
	r.ends = ends
	if hit.crashAfter {
		r.dies = hit.by
	}
}

// endRun is the return of the handler of run i.
func (w *world) endRun(i int32, res engine.Result) {
	r := &w.runs[i]
	h, key, job := r.host, r.key, r.job
	h.runs = slices.DeleteFunc(h.runs, func(k int32) bool { return k == i })
	w.dropRun(i)
	w.tellPump(h, "%s, attempt %d, returns: %s", w.jobs[job].name, key.Attempt, ending(res))
	w.watch.Returned(h.id, key, res.Outcome(), int64(h.node))
	h.shell.Returned(key, res)
	h.after()
}

// ending says in a line how a handler ended.
func ending(r engine.Result) string {
	s := "ok"
	switch {
	case r.Unknown:
		s = "no handler of its name"
	case r.Undecodable != nil:
		s = "its payload cannot be read"
	case r.Panicked:
		s = fmt.Sprintf("panic: %v", r.Panic)
	case r.Exited:
		s = "left its goroutine"
	case r.Err != nil:
		s = r.Err.Error()
	}
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// die takes down the process of a handler.
func (w *world) die(r *run, restart time.Duration) {
	w.tell(r.host.n, "CRASHES in a call of %s", w.key(r.key))
	w.seen.reach(sawCrash)
	w.crash(r.host.n, restart)
}

// look lets the handlers' author see the world.
func (w *world) look() {
	if w.own == nil || w.foul {
		return
	}
	w.alarmed(w.own.Look())
}

func (w *world) alarmed(as []Alarm) {
	for _, a := range as {
		w.alarms = append(w.alarms, checker.Violation{Invariant: a.Invariant, Event: w.events, At: w.now, Message: a.Message})
	}
}

// overOwn ends what still runs when the world is over.
func (w *world) overOwn() {
	for i := range w.runs {
		if c := w.runs[i].co; c != nil {
			c.Drop()
		}
	}
}
