package checker

import (
	"bytes"
	"time"

	"backwave/store"
)

// justified checks fence: a renewal or a report changes a job only if a lease
// behind one of its rows is the job's and alive.
func (w *Watch) justified(c *Commit, j *jobBook, ch *Change) bool {
	if j.mark == w.commits {
		return true
	}
	what := "a renewal"
	if r, ok := c.Call.Req.(*store.Report); ok {
		what = "a report of " + r.Worker
	}
	if c.Call.Kind == CallForged {
		what += " that was forged"
	}
	live := "it had no lease"
	if j.live != 0 {
		live = "the lease was " + w.leaseName(j.live) + " until " + w.clock(w.lease(j.live).until)
	}
	w.breach(ruleFence, j, "changed from %v#%d to %v#%d at %s by %s without a living lease; %s", ch.Before.State, ch.Before.Attempt, ch.After.State, ch.After.Attempt, w.clock(c.StoreNow), what, live)
	return false
}

// lasts checks that a lease was granted or renewed to now + its length.
func (w *Watch) lasts(c *Commit, j *jobBook, ch *Change, length int64) {
	a := ch.After
	if want := c.StoreNow.Add(time.Duration(length)); a.LeaseUntil != want || int64(a.LeaseFor) != length {
		w.breach(ruleFence, j, "attempt %d was leased at %s for %v until %s, want %v until %s", a.Attempt, w.clock(c.StoreNow), a.LeaseFor, w.clock(a.LeaseUntil), time.Duration(length), w.clock(want))
	}
}

// onlyLease checks that a renewal changed the end of the lease and the
// progress it carried, and nothing else.
func (w *Watch) onlyLease(j *jobBook, ch *Change, row *store.RenewRow) {
	b, a := ch.Before, ch.After
	progress := b.Progress
	if row.Progress != nil {
		progress = row.Progress
	}
	same := a.State == b.State && a.Attempt == b.Attempt && a.Base == b.Base && a.Worker == b.Worker && a.Claim == b.Claim &&
		a.Ceiling == b.Ceiling && a.RetryDelay == b.RetryDelay && a.CancelRequested == b.CancelRequested && a.Due == b.Due &&
		bytes.Equal(a.Output, b.Output) && bytes.Equal(a.Progress, progress)
	if !same {
		w.breach(ruleFence, j, "a renewal of attempt %d changed more than the lease", b.Attempt)
	}
}

// believed tells that a row without a living lease was answered as if it had
// one.
func (w *Watch) believed(c *Commit, i int, key store.LeaseKey, answer string) {
	w.breach(ruleFence, w.rows[i], "the row of attempt %d was answered %s at %s without a living lease", key.Attempt, answer, w.clock(c.StoreNow))
}
