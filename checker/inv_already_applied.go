package checker

import (
	"time"

	"backwave/store"
)

// already checks already-applied for a row without a living lease: the answer
// agrees with what the very lease behind the row had recorded.
func (w *Watch) already(c *Commit, i int, key store.LeaseKey, a store.ReportAnswer) {
	g := Ghost(0)
	if c.Call.Kind != CallForged && i < len(c.Call.Leases) {
		g = c.Call.Leases[i]
	}
	kind := store.EndKind(0) // of the end that the worker recorded
	if g != 0 && !w.lease(g).gone && w.lease(g).ended <= store.EndUndecodable {
		kind = w.lease(g).ended
	}
	j := w.rows[i]
	switch {
	case a.Status == store.ReportAlready && kind != a.Already:
		if g != 0 || c.Call.Kind != CallForged || !w.recorded(c, key, a) {
			w.breach(ruleAlreadyApplied, j, "attempt %d was answered already-applied as %v; its worker had recorded %s", key.Attempt, a.Already, kindOrNothing(kind))
		}
	case a.Status == store.ReportStale && kind != 0:
		l := w.lease(g)
		if age := w.high.Sub(l.endAt); age < 2*time.Duration(l.length) {
			w.breach(ruleAlreadyApplied, j, "attempt %d was answered stale %v after its worker had recorded %v, with a lease of %v", key.Attempt, age, kind, time.Duration(l.length))
		}
	}
}

// recorded reports whether a forged row names by chance an end as it was
// recorded.
func (w *Watch) recorded(c *Commit, key store.LeaseKey, a store.ReportAnswer) bool {
	j, req := w.jobOf[key.Job], c.Call.Req.(*store.Report)
	for g := j.newest; g != 0; g = w.lease(g).ever {
		if l := w.lease(g); l.worker == req.Worker && l.claim == key.Claim && l.attempt == key.Attempt {
			return l.ended == a.Already
		}
	}
	return false
}

func kindOrNothing(k store.EndKind) string {
	if k == 0 {
		return "nothing"
	}
	return k.String()
}
