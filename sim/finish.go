package sim

import (
	"fmt"
	"time"

	"backwave/checker"
	"backwave/store"
)

// finishes is the name of the invariant that everything which can finish does.
const finishes = "finishes"

// Live is what a run has shown of jobs getting done. An adversarial world
// promises nothing of the kind, nor does one whose trouble does not end.
type Live struct {
	Judged int           // jobs that ended, or whose time was up
	Jobs   int           // that can finish
	Healed time.Duration // true time of the last trouble
	Bound  time.Duration // how long after that, or after it was due, a job may take; of the job that may take longest
	Took   time.Duration // the longest that one took
	Why    string        // why nothing was judged; "" if something was
}

// trouble books that something was wrong until at.
func (w *world) trouble(at int64) { w.healed = max(w.healed, at) }

// settle ends an early world a lease after there was nothing left to do: no
// fault is to come, every job has ended or been refused, no handler in Go runs,
// and none of their requests is under way.
func (w *world) settle() {
	if !w.sc.Early || w.open > 0 || w.coming > 0 || w.afoot > 0 || w.settled {
		return
	}
	w.settled = true
	rest := time.Duration(0)
	for i := range w.groups {
		rest = max(rest, w.groups[i].cfg.LeaseDuration)
	}
	w.end = min(w.end, max(w.now, w.healed)+int64(rest))
}

// moved books that the state of a job has changed.
func (w *world) moved(j *job, before, after *store.Job) {
	if after.State.Terminal() {
		j.ended = w.now
	}
	if after.State == store.Executing {
		j.claims = append(j.claims, w.now)
	}
	w.close(j, after.State.Terminal())
	w.prompt.moved(j, before, after)
	w.reachEnd(before, after)
	w.settle()
}

// close books whether a job has ended.
func (w *world) close(j *job, closed bool) {
	switch {
	case closed && !j.closed:
		w.open--
	case !closed && j.closed:
		w.open++
	}
	j.closed = closed
}

// refused books that a client was told, for good, what became of an enqueue.
func (w *world) refused(j *job, status store.EnqueueStatus) {
	if status == store.EnqueueHeld {
		w.seen.reach(sawUniqueHeld)
	}
	if _, ok := w.store.Lookup(j.id); !ok {
		w.close(j, true)
		w.settle()
	}
}

// recount books anew which jobs have ended, after a store has forgotten.
func (w *world) recount() {
	for i := range w.jobs {
		j := &w.jobs[i]
		row, ok := w.store.Lookup(j.id)
		w.close(j, ok && row.State.Terminal() || !ok && j.acked)
	}
}

// commanded books which queues people have paused.
func (w *world) commanded(f *flight) {
	done, ok := f.reply.(*store.Done)
	if !ok || done.Repeat {
		return
	}
	switch c := f.call.Req.(*store.Do).Command.(type) {
	case store.Pause:
		w.paused[c.Queue] = true
	case store.Resume:
		w.paused[c.Queue] = false
	case store.Cancel, store.Requeue:
	}
}

// unstruck lists the entries of the timeline that have hit nothing.
func (w *world) unstruck() (out []int) {
	for i, ok := range w.landed {
		if !ok {
			out = append(out, i)
		}
	}
	return out
}

// finished judges whether everything that can finish has, within its bound.
func (w *world) finished() (l Live, out []checker.Violation) {
	l.Healed = time.Duration(w.healed)
	if l.Why = w.ailing(); l.Why != "" {
		return l, nil
	}
	b := newBounds(w.sc)
	w.muster(b)
	for i := range w.jobs {
		b.asks = max(b.asks, patience(w.jobs[i].sends))
	}
	work := w.workLeft(b)
	for i := range w.jobs {
		j := &w.jobs[i]
		row, ok := w.store.Lookup(j.id)
		if !ok || j.held || !row.State.Terminal() && w.paused[row.Queue] {
			continue
		}
		bound := b.job(j.spec, w.left(b, j), work)
		if bound >= forGood {
			continue
		}
		l.Jobs++
		l.Bound = max(l.Bound, bound)
		end := w.now
		if row.State.Terminal() {
			end = j.ended
		}
		took := time.Duration(end - max(w.healed, j.due))
		if !row.State.Terminal() && took <= bound {
			continue // its time is not up
		}
		l.Judged++
		l.Took = max(l.Took, took)
		if took > bound {
			out = append(out, w.late(j, row, took, bound))
		}
	}
	if l.Judged == 0 {
		l.Why = "the world ended before any job that can finish had to"
	}
	return l, out
}

// left returns what was left of j when the last trouble was over. A claim that
// was under way then may be lost as well.
func (w *world) left(b *bounds, j *job) left {
	claimed := 0
	for _, at := range j.claims {
		if at <= w.healed+int64(b.way) {
			claimed++
		}
	}
	return b.after(j.spec, claimed)
}

// workLeft returns the work that was left then, for the pumps of each queue.
func (w *world) workLeft(b *bounds) map[string]time.Duration {
	return b.shares(func(visit func(*Job, left, int)) {
		for i := range w.jobs {
			if j := &w.jobs[i]; !j.closed || j.ended >= w.healed {
				visit(j.spec, w.left(b, j), 1)
			}
		}
	})
}

func (w *world) late(j *job, row *store.Job, took, bound time.Duration) checker.Violation {
	since := "it was due"
	if w.healed > j.due {
		since = "the last trouble"
	}
	what := fmt.Sprintf("is still %s %v after %s", row.State, took, since)
	if row.State.Terminal() {
		what = fmt.Sprintf("was %s %v after %s", row.State, took, since)
	}
	return checker.Violation{Invariant: finishes, Event: w.events, At: w.now, Job: j.id, Message: fmt.Sprintf("job %s: %s; by its plan %v is the most", j.name, what, bound)}
}

// ailing says why nothing can be said of jobs getting done; "" if it can.
func (w *world) ailing() string {
	switch n := &w.net; {
	case w.sc.Level == Adversarial || w.sc.Level == "":
		return "an adversarial world promises safety only"
	case w.own != nil:
		return "how long a handler in Go takes is not known"
	case len(w.found) > 0 || w.ended:
		return "the world did not come to its end"
	case n.outage > 0, len(n.stall) > 0, n.refuse > 0, len(n.errors) > 0:
		return "the store's troubles were not over"
	case w.storeClock.frozen > 0:
		return "the store's clock stood still"
	case w.coming > 0:
		return "more was to go wrong"
	}
	return ""
}

// muster puts those pumps to work in b that are well at the end: they run, are
// connected, and have slots that a handler will leave.
func (w *world) muster(b *bounds) {
	for _, n := range w.nodes {
		if !n.up || n.exiting || n.still > 0 || n.cut != [2]int{} || n.slowness > 0 {
			continue
		}
		for _, h := range n.hosts {
			if halted, _ := h.shell.Marks(); h.dead || halted || h.shell.Ended() {
				continue
			}
			slots := h.group.cfg.PoolSize
			for _, r := range h.runs {
				if w.runs[r].ends == never {
					slots--
				}
			}
			b.crews[n.slots[h.slot].group].slots += slots
		}
	}
}
