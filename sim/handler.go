package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"backwave/checker"
	"backwave/engine"
	"backwave/engine/pump"
	"backwave/store"
)

// run is a handler at work: one start of a scripted handler.
type run struct {
	host   *host
	key    store.LeaseKey
	lease  checker.Ghost
	job    int32
	script *Script
	gen    uint32
	told   pump.Reason
	obeys  bool  // it will end because it was told
	ends   int64 // when it will; never for a hang
	stood  int64 // how long its node had stood still when ends was set
	begun  int64

	co    Coroutine     // a handler in Go; nil for a script
	err   error         // with which it goes on
	calls int           // that it has made
	call  Need          // that it was frozen in
	blow  blow          // what else happens to that
	dies  time.Duration // its node crashes when it would go on, for so long; 0 = it does not
}

// due returns when r ends, counting how long its node has stood still since
// that was set: the work stood still as well.
func (r *run) due() int64 {
	if r.ends == never {
		return never
	}
	return r.ends + r.host.n.stood - r.stood
}

// Start implements engine.Surroundings.
func (h *host) Start(l store.Lease) {
	w := h.w
	j := w.byID[l.Key.Job]
	i := w.newRun()
	r := &w.runs[i]
	*r = run{host: h, key: l.Key, lease: h.known[l.Key], job: j, gen: r.gen, begun: w.now, script: w.script(j, l.Key.Attempt), stood: h.n.stood}
	w.meets(h, j)
	h.runs = append(h.runs, i)
	w.prompt.taken(h)
	w.trace.start(h, l.Key)
	w.watch.Started(h.id, l.Key, l.Name, r.lease, int64(h.node))
	w.jobs[j].starts++
	if l.Key.Attempt > 1 {
		w.seen.reach(sawRetry)
	}
	w.tellPump(h, "starts %s, attempt %d", w.jobs[j].name, l.Key.Attempt)
	if w.own != nil {
		w.startOwn(h, i, l)
		return
	}
	switch r.script.End {
	case "unknown", "undecodable": // found out before the handler runs
		r.ends = w.now
	case "hang":
		r.ends = never
	default:
		r.ends = w.now + int64(r.script.For)
	}
	w.scheduleEnd(i)
	if r.script.Progress > 0 {
		w.push(event{at: w.now + int64(r.script.Progress), kind: evProgress, ref: i, gen: r.gen})
	}
}

func (w *world) script(j int32, attempt int) *Script {
	s := w.jobs[j].run
	return &s[min(attempt, len(s))-1]
}

func (w *world) newRun() int32 {
	if n := len(w.idle); n > 0 {
		i := w.idle[n-1]
		w.idle = w.idle[:n-1]
		return i
	}
	w.runs = append(w.runs, run{})
	return int32(len(w.runs) - 1)
}

func (w *world) dropRun(i int32) {
	if c := w.runs[i].co; c != nil {
		c.Drop()
		w.afoot--
	}
	w.jobs[w.runs[i].job].running--
	w.runs[i] = run{gen: w.runs[i].gen + 1}
	w.idle = append(w.idle, i)
}

func (w *world) scheduleEnd(i int32) {
	if r := &w.runs[i]; r.ends != never {
		w.push(event{at: r.ends, kind: evReturn, ref: i, gen: r.gen})
	}
}

// Cancel implements engine.Surroundings: the context of a handler ends.
func (h *host) Cancel(key store.LeaseKey, why pump.Reason) {
	w := h.w
	w.trace.cancel(h, key, why)
	w.watch.Told(h.id, key, checkerWhy(why), int64(h.node))
	for _, i := range h.runs {
		r := &w.runs[i]
		if r.key != key {
			continue
		}
		r.told = why
		w.jobs[r.job].told = append(w.jobs[r.job].told, why.String())
		w.seen.reach(sawTold + situation(why))
		w.tellPump(h, "tells %s, attempt %d, to stop: %s", w.jobs[r.job].name, key.Attempt, why)
		if r.co != nil {
			if r.co.Cancel(why) {
				w.wakeRun(i, w.now, ErrTold)
			}
			return
		}
		if r.script.OnCancel == "ignore" {
			return
		}
		in := r.script.StopIn
		if in == 0 {
			in = 10 * time.Millisecond
		}
		if at := w.now + int64(in); at < r.due() {
			r.ends, r.obeys, r.stood = at, true, h.n.stood
			r.gen++
			w.scheduleEnd(i)
		}
		return
	}
}

// returned ends a handler, unless it was told to stop meanwhile or its node
// stood still while it should have worked.
func (w *world) returned(e event) {
	r := &w.runs[e.ref]
	if r.gen != e.gen || r.host == nil {
		return
	}
	h := r.host
	if h.n.still == 0 && h.n.stood > r.stood { // the work stood still as well
		r.ends = r.due()
		r.stood = h.n.stood
		w.push(event{at: r.ends, kind: evReturn, ref: e.ref, gen: e.gen})
		return
	}
	if !w.ready(h, e) {
		return
	}
	if w.runs[e.ref].gen != e.gen { // told by a jump of the clock, just now
		return
	}
	script, key, job, obeys, told := r.script, r.key, r.job, r.obeys, r.told
	if script.End == "crash" && !obeys {
		w.tell(h.n, "dies: the handler of %s, attempt %d, takes it down", w.jobs[job].name, key.Attempt)
		w.seen.reach(sawHandlerCrash)
		after := script.After
		if after == 0 {
			after = 5 * time.Second
		}
		w.crash(h.n, after)
		return
	}
	h.runs = slices.DeleteFunc(h.runs, func(i int32) bool { return i == e.ref })
	w.dropRun(e.ref)
	w.prompt.freed(h)
	w.prompt.returned(job)
	w.effects(job, key)
	res := resultOf(script, obeys, told)
	w.tellPump(h, "%s, attempt %d, returns: %s", w.jobs[job].name, key.Attempt, describe(script, obeys))
	w.watch.Returned(h.id, key, meant(script, obeys), int64(h.node))
	h.shell.Returned(key, res)
	h.after()
}

// effects writes what a finished handler did into the outside world: a plain
// write happens as often as handlers finish, one guarded by the token only if
// no later attempt has written.
func (w *world) effects(j int32, key store.LeaseKey) {
	job := &w.jobs[j]
	job.plain++
	if key.Attempt > job.guard {
		job.guard = key.Attempt
		job.guarded++
	}
}

func (w *world) progressed(e event) {
	r := &w.runs[e.ref]
	if r.host == nil || r.gen != e.gen {
		return
	}
	h := r.host
	if !w.ready(h, e) || w.runs[e.ref].gen != e.gen {
		return
	}
	w.push(event{at: w.now + int64(r.script.Progress), kind: evProgress, ref: e.ref, gen: e.gen})
	h.shell.Progressed(r.key, []byte(fmt.Sprintf("%d%%", min(99, 100*(w.now-r.begun)/max(1, int64(r.script.For))))))
	h.after()
}

// resultOf is how a script ends. One that was told to stop and obeys returns
// the cause, or nil if that is its way.
func resultOf(s *Script, obeys bool, told pump.Reason) engine.Result {
	out := make([]byte, s.Output)
	if obeys {
		if s.OnCancel == "ok" {
			return engine.Result{Output: out}
		}
		return engine.Result{Err: fmt.Errorf("stopped: %v", told)}
	}
	boom := errors.New("boom")
	switch s.End {
	case "", "ok":
		return engine.Result{Output: out}
	case "panic":
		return engine.Result{Panicked: true, Panic: "boom"}
	case "goexit":
		return engine.Result{Exited: true}
	case "discard":
		return engine.Result{Err: engine.Discard(boom)}
	case "retry-after":
		return engine.Result{Err: engine.RetryAfter(s.After, boom)}
	case "snooze":
		return engine.Result{Err: engine.Snooze(s.After)}
	case "unknown":
		return engine.Result{Unknown: true}
	case "undecodable":
		return engine.Result{Undecodable: errors.New("payload is no JSON")}
	}
	return engine.Result{Err: boom}
}

// meant is what must be reported of a script's end: the semantics' table, not
// what the engine makes of the result.
func meant(s *Script, obeys bool) store.Outcome {
	if obeys {
		if s.OnCancel == "ok" {
			return store.Success{}
		}
		return store.Failure{}
	}
	switch s.End {
	case "", "ok":
		return store.Success{}
	case "discard":
		return store.Discard{}
	case "retry-after":
		return store.Failure{HasRetryAfter: true, RetryAfter: s.After}
	case "snooze":
		return store.Snooze{Delay: max(time.Second, s.After)}
	case "unknown":
		return store.UnknownName{}
	case "undecodable":
		return store.Undecodable{}
	}
	return store.Failure{}
}

func describe(s *Script, obeys bool) string {
	switch {
	case obeys && s.OnCancel == "ok":
		return "ok, as it was told to stop"
	case obeys:
		return "the cause it was told"
	case s.End == "":
		return "ok"
	}
	return s.End
}

func checkerWhy(r pump.Reason) checker.Why {
	switch r {
	case pump.CancelRequested:
		return checker.WhyCancel
	case pump.Draining:
		return checker.WhyDrain
	case pump.LeaseLost:
		return checker.WhyLost
	case pump.GroupHalted:
		return checker.WhyHalt
	case pump.TimedOut:
		return checker.WhyTimeout
	}
	return 0
}
