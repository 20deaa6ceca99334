package checker

import "backwave/store"

// counted checks accounting: claims = ends + 1 if executing, and attempts
// without gap, all counted by the Watch itself.
func (w *Watch) counted(j *jobBook, ch *Change) { w.tally(j, ch.After) }

// tally checks one image of a row.
func (w *Watch) tally(j *jobBook, row *store.Job) {
	if row.Attempt != j.claims {
		w.breach(ruleAccounting, j, "the row counts %d attempts after %d claims", row.Attempt, j.claims)
	}
	executing := 0
	if row.State == store.Executing {
		executing = 1
	}
	if j.ends+executing != j.claims {
		w.breach(ruleAccounting, j, "%d claims, but %d ends and %d executing (%v)", j.claims, j.ends, executing, row.State)
	}
}
