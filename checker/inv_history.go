package checker

import (
	"time"

	"backwave/store"
)

// kept checks history at a change: as many ends as were recorded, the last one
// as it was, and none cut that is too young.
func (w *Watch) kept(c *Commit, j *jobBook, ch *Change) {
	b, a := ch.Before, ch.After
	if total(a) != j.ends {
		w.breach(ruleEndsKept, j, "the row tells of %d ends (%d cut, %d kept) after %d were recorded", total(a), a.EndsCut, len(a.Ends), j.ends)
	}
	if n := len(a.Ends); j.done == w.commits && n > 0 && j.live == 0 && j.last != 0 {
		e := &a.Ends[n-1]
		w.sameEnd(j, e, j.last)
		if e.At != c.StoreNow || e.To == store.Scheduled && e.Due != a.Due {
			w.breach(ruleEndsKept, j, "the end of attempt %d at %s is kept as of %s, due %s instead of %s", e.Attempt, w.clock(c.StoreNow), w.clock(e.At), w.clock(e.Due), w.clock(a.Due))
		}
	}
	for i := range min(a.EndsCut-b.EndsCut, len(b.Ends)) {
		if e := &b.Ends[i]; w.high.Sub(e.At) < 2*e.Lease {
			w.breach(ruleEndsKept, j, "the end of attempt %d was cut %v after it, with a lease of %v", e.Attempt, w.high.Sub(e.At), e.Lease)
		}
	}
}

// sameEnd compares one kept end with the lease it belongs to.
func (w *Watch) sameEnd(j *jobBook, e *store.End, g Ghost) {
	l := w.lease(g)
	if e.Attempt != l.attempt || e.Claim != l.claim || e.Worker != l.worker || e.Kind != l.ended || e.To != l.to || e.Lease != time.Duration(l.length) {
		w.breach(ruleEndsKept, j, "kept is the end #%d@%d of %s: %v to %v; recorded was that of %s: %v to %v", e.Attempt, e.Claim, e.Worker, e.Kind, e.To, w.leaseName(g), l.ended, l.to)
	}
}

// tail compares all ends that a row keeps with what was recorded.
func (w *Watch) tail(j *jobBook, row *store.Job) {
	g := j.last
	if g != 0 && g == j.live {
		g = w.lease(g).before
	}
	for i := len(row.Ends) - 1; i >= 0; i-- {
		if g == 0 {
			w.breach(ruleEndsKept, j, "keeps an end of attempt %d that was never recorded", row.Ends[i].Attempt)
			return
		}
		w.sameEnd(j, &row.Ends[i], g)
		g = w.lease(g).before
	}
	if row.EndsCut+len(row.Ends) != j.ends {
		w.breach(ruleEndsKept, j, "tells of %d ends in the end after %d were recorded", row.EndsCut+len(row.Ends), j.ends)
	}
}
