package checker

import "backwave/store"

// once checks effect-once: per (job, attempt) at most one recorded end, and one
// terminal state per life.
func (w *Watch) once(j *jobBook, ch *Change) {
	b, a := ch.Before, ch.After
	grew := total(a) - total(b)
	switch {
	case grew > 1:
		w.breach(ruleEffectOnce, j, "%d ends were recorded at once, of attempt %d", grew, a.Attempt)
	case grew == 1 && j.done != w.commits:
		w.breach(ruleEffectOnce, j, "an end of attempt %d was recorded that had no lease any more; %s", a.Attempt, w.lastEnd(j))
	}
	if b.State.Terminal() && a.State.Terminal() && a.State != b.State {
		w.breach(ruleEffectOnce, j, "a life that had ended as %v ended again, as %v", b.State, a.State)
	}
}

// total is how many ends a row says were recorded.
func total(j *store.Job) int { return j.EndsCut + len(j.Ends) }

// lastEnd says how the latest lease of j ended.
func (w *Watch) lastEnd(j *jobBook) string {
	if j.last == 0 {
		return "it never had one"
	}
	l := w.lease(j.last)
	if l.ended == 0 {
		return "no end of it is known"
	}
	return w.leaseName(j.last) + " had ended as " + l.ended.String() + " at " + w.clock(l.endAt)
}
