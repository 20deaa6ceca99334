package checker

import (
	"time"

	"backwave/store"
)

// answersOfRenew checks what a renewal answered, row by row: a lease that
// lives on a free row is renewed, whatever the other rows are.
func (w *Watch) answersOfRenew(c *Commit, r *store.Renewed, length int64) {
	key := func(i int) store.LeaseKey { return c.Call.Req.(*store.Renew).Rows[i].Key }
	for i, a := range r.Rows {
		j := w.rows[i]
		switch alive := w.expected(i); {
		case j != nil && j.held:
			if a.Status != store.RenewBusy || j.done == w.commits {
				w.breach(ruleNeighbours, j, "attempt %d was answered %v by a renewal while the row was locked", key(i).Attempt, a.Status)
			}
		case alive && a.Status == store.RenewOK:
			// No change is told if the lease ended then already.
			if l := w.lease(j.live); j.done != w.commits && l.until != c.StoreNow.Add(time.Duration(length)) {
				w.breach(ruleFence, j, "attempt %d was answered renewed at %s, and its lease still ends at %s", l.attempt, w.clock(c.StoreNow), w.clock(l.until))
			}
			w.carried(j, a)
		case alive:
			w.breach(ruleNeighbours, j, "the living lease of attempt %d was answered %v by a renewal at %s", key(i).Attempt, a.Status, w.clock(c.StoreNow))
		case a.Status == store.RenewOK:
			w.believed(c, i, key(i), a.Status.String())
		}
	}
}

// answersOfReport checks what a report answered, row by row: an outcome with a
// living lease on a free row is recorded, or over a bound.
func (w *Watch) answersOfReport(c *Commit, req *store.Report, r *store.Reported) {
	for i, a := range r.Rows {
		j, key := w.rows[i], req.Rows[i].Key
		recorded := j != nil && w.expected(i) && j.done == w.commits
		switch {
		case j != nil && j.held:
			if a.Status != store.ReportBusy || recorded {
				w.breach(ruleNeighbours, j, "the outcome of attempt %d was answered %v while the row was locked", key.Attempt, a.Status)
			}
		case recorded && (a.Status != store.ReportApplied || a.To != j.state):
			w.breach(ruleNeighbours, j, "the outcome of attempt %d was recorded, and answered %v to %v", key.Attempt, a.Status, a.To)
		case recorded:
		case w.expected(i):
			if o, ok := req.Rows[i].Outcome.(store.Success); !ok || len(o.Output) <= store.MaxOutput || a.Status != store.ReportRejected {
				w.breach(ruleNeighbours, j, "the outcome of attempt %d, whose lease lives, was answered %v at %s", key.Attempt, a.Status, w.clock(c.StoreNow))
			}
		case a.Status == store.ReportApplied || a.Status == store.ReportRejected:
			w.believed(c, i, key, a.Status.String())
		default:
			w.already(c, i, key, a)
		}
	}
}

// claimedFree checks that a claim passes a locked row over.
func (w *Watch) claimedFree(c *Commit, j *jobBook) {
	if j.held {
		w.breach(ruleNeighbours, j, "claimed at %s while the row was locked", w.clock(c.StoreNow))
	}
}
