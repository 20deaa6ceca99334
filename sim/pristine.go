package sim

import (
	"fmt"
	"time"

	"backwave/checker"
	"backwave/store"
)

// What a pristine world promises beyond safety, by the names of invariants.
const (
	once     = "once"
	promptly = "promptly"
)

// pickups watches in a pristine world how long jobs wait that need not. Nil in
// other worlds, where nothing of the kind is promised.
type pickups struct {
	w       *world
	since   []int64                  // by pump: true time since when a slot has been free; never if none is
	bound   map[string]time.Duration // by queue
	report  time.Duration            // from the return of a handler until its success is recorded, at most
	meddled map[string]bool          // queues and jobs that people act on, by name
	wait    int64                    // the longest so far
	late    []checker.Violation
}

// newPickups returns nil if w promises nothing: it is not pristine, a handler
// takes its node down, or the network is slower than the operation timeout.
func newPickups(w *world) *pickups {
	if w.sc.Level != Pristine {
		return nil
	}
	b := newBounds(w.sc)
	p := &pickups{w: w, bound: map[string]time.Duration{}, meddled: map[string]bool{}}
	for i := range b.crews {
		c := &b.crews[i].cfg
		if b.way >= c.OperationTimeout {
			return nil
		}
		p.report = max(p.report, b.stretched(b.beside(c)-c.MaxPollInterval))
		for _, q := range c.Queues {
			p.bound[q.Name] = max(p.bound[q.Name], b.stretched(b.beside(c)))
		}
	}
	for i := range w.sc.Jobs {
		for k := range w.sc.Jobs[i].Run {
			if w.sc.Jobs[i].Run[k].End == "crash" {
				return nil
			}
		}
	}
	for _, f := range w.sc.Timeline {
		switch f := f.(type) {
		case Cancel:
			p.meddled["job "+f.Job] = true
		case Requeue:
			p.meddled["job "+f.Job] = true
		case PauseQueue:
			p.meddled["queue "+f.Queue] = true
		}
	}
	return p
}

// freed books that h may have got a free slot.
func (p *pickups) freed(h *host) {
	if p == nil {
		return
	}
	for len(p.since) <= int(h.id) {
		p.since = append(p.since, never)
	}
	if len(h.runs) < h.group.cfg.PoolSize {
		p.since[h.id] = min(p.since[h.id], p.w.now)
	}
}

// taken books that a slot of h was taken.
func (p *pickups) taken(h *host) {
	if p != nil && len(h.runs) >= h.group.cfg.PoolSize {
		p.since[h.id] = never
	}
}

// returned books that a handler of job j has returned.
func (p *pickups) returned(j int32) {
	if p != nil {
		p.w.jobs[j].back = p.w.now
	}
}

// moved judges a change of a job's state.
func (p *pickups) moved(j *job, before, after *store.Job) {
	if p == nil || p.meddled["queue "+after.Queue] || p.meddled["job "+j.name] {
		return
	}
	switch {
	case before.ID.IsZero():
		j.ready = p.w.now + int64(j.spec.In)
	case after.State == store.Executing && after.Attempt == 1:
		p.waited(j, after.Queue)
	case after.State == store.Succeeded && j.back > 0 && p.w.now-j.back > int64(p.report):
		p.breach(j, "its handler returned at %v and its success was recorded %v later; a report takes %v at most", time.Duration(j.back), time.Duration(p.w.now-j.back), p.report)
	}
}

// waited judges how long a job was due beside a free slot.
func (p *pickups) waited(j *job, queue string) {
	if p == nil || j.ready == 0 {
		return
	}
	free := int64(never)
	for _, h := range p.w.pumps {
		if !h.dead && contains(h.group.queues, queue) {
			free = min(free, p.since[h.id])
		}
	}
	if free == never {
		return
	}
	wait := p.w.now - max(free, j.ready)
	p.wait = max(p.wait, wait)
	if wait > int64(p.bound[queue]) {
		p.breach(j, "waited %v although a pump that serves its queue had a free slot; %v is the most", time.Duration(wait), p.bound[queue])
	}
}

func (p *pickups) breach(j *job, format string, args ...any) {
	p.late = append(p.late, checker.Violation{Invariant: promptly, Event: p.w.events, At: p.w.now, Job: j.id, Message: "job " + j.name + ": " + fmt.Sprintf(format, args...)})
}

// pristine judges at the end what a pristine world promises.
func (w *world) pristine(r *Result) (out []checker.Violation) {
	p := w.prompt
	if p == nil {
		return nil
	}
	for i := range w.jobs {
		j := &w.jobs[i]
		row, ok := w.store.Lookup(j.id)
		if !ok || p.meddled["job "+j.name] {
			continue
		}
		if row.State == store.Scheduled && row.Attempt == 0 && !p.meddled["queue "+row.Queue] {
			p.waited(j, row.Queue)
		}
		if why := w.notOnce(j, row); why != "" {
			out = append(out, checker.Violation{Invariant: once, Event: w.events, At: w.now, Job: j.id, Message: "job " + j.name + ": " + why})
		}
	}
	r.Wait = time.Duration(max(0, p.wait))
	for i := range w.groups {
		for _, q := range w.groups[i].queues {
			r.WaitBound = max(r.WaitBound, p.bound[q])
		}
	}
	return append(out, p.late...)
}

// notOnce says in what way a job was not run exactly once; "" if it was, or if
// its handler does not let it.
func (w *world) notOnce(j *job, row *store.Job) string {
	s := &j.run[0]
	if s.End != "" && s.End != "ok" || s.Output > store.MaxOutput || w.bounded(row.Name) {
		return ""
	}
	switch {
	case row.Attempt > 1 || j.starts > 1 || j.plain > 1:
		return fmt.Sprintf("took %d attempts, %d starts and %d effects, and nothing had gone wrong", row.Attempt, j.starts, j.plain)
	case row.State.Terminal() && row.State != store.Succeeded:
		return fmt.Sprintf("ended as %s, and nothing had gone wrong", row.State)
	}
	return ""
}

// bounded reports whether some group has a timeout for handlers of name.
func (w *world) bounded(name string) bool {
	for i := range w.groups {
		for _, t := range w.groups[i].cfg.Timeouts {
			if t.Name == name {
				return true
			}
		}
	}
	return false
}
