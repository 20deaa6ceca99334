package bubble

import (
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"backwave/checker"
	"backwave/engine"
	"backwave/engine/pump"
	"backwave/sim"
	"backwave/store"
)

// run plays a plan to its end and judges it.
func run(sc *sim.Scenario, seed uint64, live bool) *world {
	plan, whole := adapted(sc)
	w := newWorld(plan, seed)
	w.live = live
	if whole {
		w.expectHealth()
	}
	w.setOut()
	w.await()
	rows := w.rows()
	w.finished(rows)
	if whole {
		w.expected(rows)
	}
	w.shutDown()
	w.judge()
	return w
}

// await waits until the plan is over: nothing is to come and all jobs have
// ended, or its time is up, and with it that of the jobs that have to finish.
func (w *world) await() {
	step := time.Minute
	for i := range w.sc.Groups {
		step = min(step, w.sc.Groups[i].Config.Resolved().LeaseDuration)
	}
	limit := func() time.Duration { return w.sc.For }
	if d, ok := sim.Bound(w.sc); w.live && ok {
		limit = func() time.Duration { return max(w.sc.For, w.healed+d+patience) }
	} else {
		w.live = false
	}
	rest := 2 // steps in which there is nothing left to do
	for done := false; !done; {
		time.Sleep(step)
		w.mu.Lock()
		if w.pending == 0 && w.settled() {
			rest--
		}
		done = w.closing || time.Duration(w.time()) >= limit() || rest == 0
		w.mu.Unlock()
	}
}

// patience is what a job may take longer than in a simulated world: the
// client waits for an answer up to 10 s, and then up to 1 s more.
const patience = 20 * time.Second

// settled reports whether every job has ended, but for those that people keep
// from being claimed.
func (w *world) settled() (yes bool) {
	yes = true
	w.store.Each(func(j *store.Job) bool {
		yes = yes && (j.State.Terminal() || j.State == store.Scheduled && w.store.Paused(j.Queue))
		return yes
	})
	return yes
}

// rows returns all jobs as they are now.
func (w *world) rows() (out []store.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.store.Each(func(j *store.Job) bool {
		c := *j
		c.Ends = slices.Clone(j.Ends)
		out = append(out, c)
		return true
	})
	return out
}

// finished judges that everything that can finish has.
func (w *world) finished(rows []store.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.live || w.closing {
		return
	}
	if w.pending > 0 {
		w.breachLocked("%d enqueues or faults are not over, long after the last trouble at %v", w.pending, w.healed)
	}
	for i := range rows {
		if j := &rows[i]; !j.State.Terminal() && !w.store.Paused(j.Queue) {
			w.breachLocked("%s is still %v, long after the last trouble at %v", w.jobName(j.ID), j.State, w.healed)
		}
	}
	if w.sc.Level == sim.Pristine {
		for _, n := range w.nodes {
			if h := n.proc.engine.Health(); !h.Healthy() {
				w.breachLocked("node %s is not healthy: %+v", n.spec.Name, h)
			}
		}
	}
}

// shutDown drains every process, and waits until nothing is under way.
func (w *world) shutDown() {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	w.end()
	w.tasks.Wait()
	for _, n := range w.nodes {
		go w.drain(n)
	}
	for _, p := range w.all {
		p.wait()
	}
	close(w.freed)
	w.flights.Wait()
	synctest.Wait() // handlers that have hung
}

// judge asks the checkers, and looks at what is left.
func (w *world) judge() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.watch.Violations() {
		w.breachLocked("%s: %s", v.Invariant, v.Message)
	}
	l := checker.CheckLinear(w.log, checker.LinearOptions{})
	if l.BlackBox == checker.Violated || l.Bounded == checker.Violated {
		w.breachLocked("linearizable: black-box %v, bounded %v", l.BlackBox, l.Bounded)
		for _, f := range l.Findings {
			w.breachLocked("%s: %s: %s", f.Invariant, w.jobName(f.Job), f.Message)
		}
	}
	w.hits["jobs"] += l.Jobs
	w.hits["jobs/undecided"] += l.Undecided + l.NotAttempted
	w.store.Each(func(j *store.Job) bool {
		w.account(j)
		return true
	})
	for _, j := range w.jobs {
		for _, a := range j.attempts {
			w.left(a)
		}
	}
}

// left judges what is left of an attempt: its handler has returned, and then
// its context has ended, for the sake of whatever the handler has left behind.
func (w *world) left(a *attempt) {
	switch {
	case a.gone || a.p.dead():
	case !a.done && a.script.End != "hang" && a.script.OnCancel != "ignore":
		w.breachLocked("the handler of %s never returned", w.token(a.token))
	case a.done && a.returned.Before(a.p.ended) && a.ctx.Err() == nil:
		w.breachLocked("the handler of %s has returned, and its context never ended", w.token(a.token))
	}
}

// kept is how many ends a store keeps.
const kept = 32

// account compares the recorded ends of a job with what its handlers did.
func (w *world) account(j *store.Job) {
	b := w.byID[j.ID]
	if b == nil {
		w.breachLocked("nobody has added %v, which is in the store", j.ID)
		return
	}
	if len(j.Progress) > 0 && !strings.HasPrefix(string(j.Progress), b.name+" ") {
		w.breachLocked("%s has progress %q, which its handler did not report", b.name, j.Progress)
	}
	claims := len(j.Ends)
	if j.State == store.Executing {
		claims++
	}
	if j.Attempt != claims && len(j.Ends) < kept {
		w.breachLocked("%s: its last attempt is %d, with %d recorded ends as %v", b.name, j.Attempt, len(j.Ends), j.State)
	}
	successes := 0
	for i, e := range j.Ends {
		if want := j.Attempt - claims + i + 1; e.Attempt != want {
			w.breachLocked("%s: recorded end %d of %d is of attempt %d, want %d", b.name, i+1, len(j.Ends), e.Attempt, want)
		}
		w.hit("end/" + e.Kind.String())
		if e.Kind == store.EndSuccess {
			successes++
		}
		w.meant(b, &e)
	}
	if successes > 1 {
		w.breachLocked("%s: %d recorded successes", b.name, successes)
	}
	if a := w.attempts[store.Token{Job: j.ID, Attempt: j.Attempt}]; a != nil && j.State == store.Succeeded && len(j.Output) != a.script.Output {
		w.breachLocked("%s has %d bytes of output, want %d", b.name, len(j.Output), a.script.Output)
	}
	for _, a := range b.attempts {
		if a.token.Attempt > j.Attempt {
			w.breachLocked("the handler of %s ran, and the store knows of no such attempt", w.token(a.token))
		}
	}
}

// meant judges that what was recorded is what the handler did.
func (w *world) meant(b *job, e *store.End) {
	a := w.attempts[store.Token{Job: b.id, Attempt: e.Attempt}]
	ok := true
	switch e.Kind {
	case store.EndSuccess, store.EndFailure, store.EndDiscard, store.EndSnooze:
		ok = a != nil && a.done && a.meant == e.Kind && a.worker == e.Worker
	case store.EndUnknownName:
		ok = a == nil && b.routed == nobody
	case store.EndUndecodable:
		ok = a == nil && (b.damaged || b.script(e.Attempt).End == "undecodable")
	case store.EndRelease, store.EndLapse, store.EndCancel, store.EndForce:
	}
	if !ok && a == nil {
		w.breachLocked("%s#%d is recorded as %v by %s, and its handler never ran", b.name, e.Attempt, e.Kind, e.Worker)
	} else if !ok {
		w.breachLocked("%s#%d is recorded as %v by %s; its handler ran for %s, returned %v and meant %v", b.name, e.Attempt, e.Kind, e.Worker, a.worker, a.done, a.meant)
	}
}

// expected compares what became of jobs with what the plan's author expects.
func (w *world) expected(rows []store.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.sc.Expect.Jobs {
		i := slices.IndexFunc(rows, func(j store.Job) bool { return w.jobName(j.ID) == x.Job })
		if i < 0 {
			continue
		}
		j, b := &rows[i], w.byID[rows[i].ID]
		if x.State != 0 && j.State != x.State {
			w.breachLocked("%s is %v, expected %v", x.Job, j.State, x.State)
		}
		var kinds []store.EndKind
		for _, e := range j.Ends {
			kinds = append(kinds, e.Kind)
		}
		if x.Ends != nil && !slices.Equal(kinds, x.Ends) {
			w.breachLocked("%s: ends %v, expected %v", x.Job, kinds, x.Ends)
		}
		if !within(j.Attempt, x.Attempts) {
			w.breachLocked("%s: %d attempts, expected %v", x.Job, j.Attempt, *x.Attempts)
		}
		if !within(len(b.attempts), x.Starts) && !slices.ContainsFunc(b.run, func(s sim.Script) bool { return s.End == "undecodable" || s.End == "unknown" }) {
			w.breachLocked("%s: %d starts, expected %v", x.Job, len(b.attempts), *x.Starts)
		}
		if d := time.Duration(int64(j.Finished)*1000 - epoch); !w.bent && j.State.Terminal() && (d < x.After || x.By > 0 && d > x.By) {
			w.breachLocked("%s ended at %v, expected it from %v to %v", x.Job, d, x.After, x.By)
		}
		w.expectedTold(b, x.Told)
	}
}

func within(n int, r *sim.Range) bool { return r == nil || n >= r.Min && (r.Max < 0 || n <= r.Max) }

// expectedTold compares the reasons that the handlers of b were given.
func (w *world) expectedTold(b *job, want []string) {
	if want == nil {
		return
	}
	var got []string
	for _, a := range b.attempts {
		for why := pump.CancelRequested; why <= pump.TimedOut; why++ {
			if told := a.told; told != nil && told == engine.Cause(why) { //nolint:errorlint // it is one of them, as finish has checked
				got = append(got, why.String())
			}
		}
	}
	if !slices.Equal(got, want) {
		w.breachLocked("%s: handlers were told %v, expected %v", b.name, got, want)
	}
}
