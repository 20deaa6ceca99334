package checker

// audited checks audit: the number of entries grows by want with this commit;
// -1 if only the store can know.
func (w *Watch) audited(c *Commit, want int) {
	grew := c.Audits - w.audits
	if grew == 0 && want == 0 {
		return
	}
	known := w.auditsKnown
	w.audits, w.auditsKnown = c.Audits, true
	switch {
	case !known, want < 0 && (grew == 0 || grew == 1), grew == want:
		return
	}
	w.breach(ruleAudit, nil, "%d entries were audited for a commit that is worth %d", grew, max(want, 0))
}
