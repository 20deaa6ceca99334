package checker

import (
	"fmt"
	"time"

	"backwave/store"
)

// maxViolations is how many are kept per invariant: the first tell the story.
const maxViolations = 20

// breach books a violation; j may be nil.
func (w *Watch) breach(r rule, j *jobBook, format string, args ...any) {
	w.counts[r]++
	if w.counts[r] > maxViolations {
		return
	}
	v := Violation{Invariant: Invariants()[r].Name, Event: w.event, At: w.at, Message: fmt.Sprintf(format, args...)}
	if j != nil {
		v.Job = j.id
		v.Message = "job " + w.nameOf(j.id) + ": " + v.Message
	}
	w.violations = append(w.violations, v)
}

// pumpBreach books a violation of a pump, at an attempt of a job if key is not
// zero.
func (w *Watch) pumpBreach(r rule, p *pumpBook, key store.LeaseKey, format string, args ...any) {
	if w.counts[r] >= maxViolations {
		w.counts[r]++
		return
	}
	what := "pump " + p.name()
	var j *jobBook
	if !key.Job.IsZero() {
		what += fmt.Sprintf(", job %s#%d", w.nameOf(key.Job), key.Attempt)
		j = w.jobOf[key.Job]
	}
	w.breach(r, nil, "%s: %s", what, fmt.Sprintf(format, args...))
	if j != nil {
		w.violations[len(w.violations)-1].Job = j.id
	}
}

func (w *Watch) nameOf(id store.JobID) string {
	if w.opt.Name != nil {
		return w.opt.Name(id)
	}
	return id.String()
}

// clock prints an instant of the store as a person follows a run: as the time
// since its beginning.
func (w *Watch) clock(i store.Instant) string { return i.Sub(w.opt.Epoch).String() }

// said prints a node's instant.
func said(node int64) string { return time.Duration(node).String() }

// leaseName prints a lease as its worker would.
func (w *Watch) leaseName(g Ghost) string {
	if g == 0 {
		return "no lease"
	}
	l := w.lease(g)
	return fmt.Sprintf("%s's lease #%d@%d", l.worker, l.attempt, l.claim)
}

func (p *pumpBook) name() string {
	return fmt.Sprintf("%s/%s (%d)", p.info.Node, p.info.Group, p.info.ID)
}
