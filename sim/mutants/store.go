package mutants

import "backwave/internal/mutant"

// inStore are bugs of the memory store and of the rules it shares with the
// others: the fence, the expiry, the counting.
func inStore() []mutant.Mutant {
	const dir, rules = "store/memory/", "store/rules/"
	return []mutant.Mutant{
		{Name: "fence-without-worker", File: rules + "fence.go", Func: "Holds", Old: "j.Worker == worker && ", New: "", Breaks: "the fence forgets whose lease it is"},
		{Name: "fence-without-claim", File: rules + "fence.go", Func: "Holds", Old: "j.Claim == key.Claim &&", New: "", Breaks: "the fence forgets by which claim the lease was taken"},
		{Name: "fence-without-attempt", File: rules + "fence.go", Func: "Holds", Old: "j.Attempt == key.Attempt && ", New: "", Breaks: "the fence forgets which attempt it is"},
		{Name: "fence-without-state", File: rules + "fence.go", Func: "Holds", Old: "j.State == store.Executing && ", New: "", Breaks: "an attempt that has ended can end again"},
		{Name: "end-recorded-twice", File: rules + "end.go", Func: "end", Old: "append(j.Ends, rec)", New: "append(j.Ends, rec, rec)", Breaks: "one end is written into the history twice"},
		{Name: "claim-from-any-queue", File: dir + "claim.go", Func: "(*Store).takeAll", Old: "for _, q := range s.listed {", New: "for _, q := range s.byName {", Breaks: "a claim takes jobs of queues it does not list"},
		{Name: "repeat-answers-the-dead", File: dir + "claim.go", Func: "(*Store).repeat", Old: "j.LeaseUntil <= now || j.Claim < c.Number", New: "j.Claim < c.Number", Breaks: "a repeated claim is answered leases that have lapsed"},
		{Name: "alive-at-expiry", File: rules + "fence.go", Func: "Holds", Old: "j.LeaseUntil > now", New: "j.LeaseUntil >= now", Breaks: "a lease lives at its very expiry"},
		{Name: "fence-without-expiry", File: rules + "fence.go", Func: "Holds", Old: "&& j.LeaseUntil > now", New: "", Breaks: "a lapsed lease can be renewed and reported until it is swept"},
		{Name: "renew-by-job-alone", File: rules + "claim.go", Func: "Renew", Old: "!Holds(j, r.Worker, row.Key, now)", New: "j.State != store.Executing", Breaks: "whoever asks renews a running job's lease"},
		{Name: "renew-from-old-expiry", File: rules + "claim.go", Func: "Renew", Old: "now.Add(r.Lease)", New: "j.LeaseUntil.Add(r.Lease)", Breaks: "renewals pile up instead of counting from now"},
		{Name: "busy-costs-the-next-row", File: dir + "renew.go", Func: "(*Store).renew", Old: "out.Rows[i] = s.renewRow(now, r, &r.Rows[i])", New: "if i > 0 && out.Rows[i-1].Status == store.RenewBusy { out.Rows[i].Status = store.RenewLost; continue }; out.Rows[i] = s.renewRow(now, r, &r.Rows[i])", Breaks: "one held row costs its neighbour the lease"},
		{Name: "stale-leaves-a-trace", File: dir + "report.go", Func: "(*Store).reportRow", Old: "s.drop()", New: "s.rows[slot].LastErr = \"stale\"; s.settle(slot)", Breaks: "a stale outcome writes its text"},
		{Name: "rejected-row-applied", File: rules + "report.go", Func: "Report", Old: "return store.ReportAnswer{Status: store.ReportRejected, Reason: err.Error()}", New: "_ = err", Breaks: "an output over its bound is stored"},
		{Name: "already-with-wrong-kind", File: rules + "fence.go", Func: "Reported", Old: "return e.Kind, true", New: "return store.EndSuccess, true", Breaks: "every repeated outcome is told to have been a success"},
		{Name: "already-only-for-the-last", File: rules + "fence.go", Func: "Reported", Old: "e.Attempt == key.Attempt &&", New: "i == len(j.Ends)-1 && j.State != store.Executing && e.Attempt == key.Attempt &&", Breaks: "a repeated outcome is stale once the job has moved on"},
		{Name: "cancel-beats-success", File: rules + "report.go", Func: "judge", Old: "e.to = store.Succeeded", New: "e.to = store.Succeeded; if j.CancelRequested { e.to = store.Cancelled }", Breaks: "a success after a cancel request is lost"},
		{Name: "cancel-forgotten-at-lapse", File: rules + "report.go", Func: "retry", Old: "case j.CancelRequested:", New: "case j.CancelRequested && kind != store.EndLapse:", Breaks: "a cancelled job is tried again when its lease lapses"},
		{Name: "cancel-forgotten-at-snooze", File: rules + "report.go", Func: "judge", Old: "if j.CancelRequested {\n\t\te.to = store.Cancelled\n\t}\n\treturn e", New: "if j.CancelRequested && !e.free { e.to = store.Cancelled }; return e", Breaks: "a snooze or release revives a cancelled job"},
		{Name: "retry-after-ignored", File: rules + "report.go", Func: "judge", Old: "if o.HasRetryAfter {", New: "if false {", Breaks: "RetryAfter does nothing"},
		{Name: "snooze-counts", File: rules + "end.go", Func: "end", Old: "if e.free {", New: "if e.free && e.kind != store.EndSnooze {", Breaks: "a snooze uses up an attempt"},
		{Name: "discard-is-retried", File: rules + "report.go", Func: "judge", Old: "e.to, e.text = store.DeadLettered,", New: "e.to, e.text = store.Scheduled,", Breaks: "a discarded job comes back"},
		{Name: "unknown-name-without-grace", File: rules + "report.go", Func: "judge", Old: "j.UnknownNames > store.UnknownNameGrace", New: "j.UnknownNames > 1", Breaks: "old nodes quarantine the names of new ones"},
		{Name: "ceiling-as-absolute", File: rules + "report.go", Func: "retry", Old: "j.Attempt-j.Base < j.Ceiling", New: "j.Attempt < j.Ceiling", Breaks: "attempts that do not count are counted"},
		{Name: "ceiling-off-by-one", File: rules + "report.go", Func: "retry", Old: "j.Attempt-j.Base < j.Ceiling", New: "j.Attempt-j.Base <= j.Ceiling", Breaks: "one attempt too many"},
		{Name: "retry-at-once", File: rules + "report.go", Func: "retry", Old: "to: store.Scheduled, delay: delay", New: "to: store.Scheduled", Breaks: "failed jobs come back without a rest"},
		{Name: "lapse-costs-no-attempt", File: rules + "claim.go", Func: "Grant", Old: "j.Attempt++", New: "if n := len(j.Ends); n == 0 || j.Ends[n-1].Kind != store.EndLapse { j.Attempt++ }", Breaks: "after a lapse the attempt number is used again"},
		{Name: "claim-early", File: dir + "claim.go", Func: "(*Store).take", Old: ".key > now {", New: ".key > now.Add(1000000000) {", Breaks: "jobs are claimed up to a second before they are due"},
		{Name: "claim-in-paused-queue", File: dir + "claim.go", Func: "(*Store).take", Old: "q < 0 || s.queues[q].paused", New: "q < 0", Breaks: "pause does nothing"},
		{Name: "repeated-claim-takes-more", File: dir + "claim.go", Func: "(*Store).repeat", Old: "return stop", New: "return false", Breaks: "a repeated claim takes new jobs beside the old ones"},
		{Name: "repeated-claim-answers-nothing", File: dir + "claim.go", Func: "(*Store).repeat", Old: "if j.Claim == c.Number {", New: "if false {", Breaks: "the leases of a claim whose reply was lost are never learned"},
		{Name: "sweep-misses-the-instant", File: dir + "sweep.go", Func: "(*Store).dispose", Old: ".key <= now {", New: ".key < now {", Breaks: "a lease at its very expiry is not swept"},
		{Name: "sweep-early", File: dir + "sweep.go", Func: "(*Store).dispose", Old: ".key <= now {", New: ".key <= now.Add(1000000000) {", Breaks: "leases are swept a second before they end"},
		{Name: "sweep-over-its-bound", File: dir + "sweep.go", Func: "(*Store).dispose", Old: "len(out.Disposed) < most && ", New: "", Breaks: "a sweep disposes of more than it was asked to"},
		{Name: "requeue-resets-attempt", File: rules + "operator.go", Func: "Requeue", Old: "j.Base, j.UnknownNames = j.Attempt, 0", New: "j.Attempt, j.Base, j.UnknownNames = 0, 0, 0", Breaks: "attempt numbers start again and an old zombie passes the fence"},
		{Name: "requeue-keeps-base", File: rules + "operator.go", Func: "Requeue", Old: "j.Base, j.UnknownNames = j.Attempt, 0", New: "j.UnknownNames = 0", Breaks: "a requeued job has no attempts left"},
		{Name: "requeue-against-holder", File: dir + "operator.go", Func: "(*Store).requeue", Old: "ok && j.UniqueKey != \"\"", New: "ok && false", Breaks: "two live jobs hold one key"},
		{Name: "requeue-of-the-finished", File: rules + "operator.go", Func: "MayRequeue", Old: "j.State == store.DeadLettered || j.State == store.Quarantined", New: "j.State.Terminal()", Breaks: "a finished job can be started again"},
		{Name: "unique-only-while-waiting", File: dir + "enqueue.go", Func: "(*Store).enqueueRow", Old: "ok && n.UniqueKey != \"\"", New: "ok && n.UniqueKey != \"\" && s.rows[slot].State == store.Scheduled", Breaks: "a running job does not hold its key"},
		{Name: "enqueue-not-kept", File: dir + "enqueue.go", Func: "(*Store).enqueueRow", Old: "s.settle(s.add(rules.New(n, now)))", New: "if len(s.rows)%4 == 3 { return store.EnqueueAnswer{Status: store.EnqueueAdded} }; s.settle(s.add(rules.New(n, now)))", Breaks: "an acknowledged job was never written"},
		{Name: "enqueue-twice", File: dir + "enqueue.go", Func: "(*Store).enqueueRow", Old: "if slot, ok := s.ids[n.ID]; ok {", New: "if slot, ok := s.ids[n.ID]; ok && !s.rows[slot].State.Terminal() {", Breaks: "a repeated enqueue starts a finished job again"},
		{Name: "request-id-ignored", File: dir + "operator.go", Func: "(*Store).do", Old: "; out.Repeat {", New: "; false {", Breaks: "a repeated action is carried out again"},
		{Name: "audit-of-nothing", File: dir + "operator.go", Func: "(*Store).do", Old: "out.Result == store.DoChanged", New: "out.Result != store.DoNotFound", Breaks: "actions that changed nothing are audited"},
		{Name: "audit-forgotten-for-cancel", File: dir + "operator.go", Func: "(*Store).do", Old: "if out.Result == store.DoChanged {", New: "if _, ok := r.Command.(store.Cancel); !ok && out.Result == store.DoChanged {", Breaks: "cancels leave no audit entry"},
		{Name: "history-cut-young", File: rules + "end.go", Func: "trim", Old: "len(j.Ends)-n > keepEnds && now.Sub(j.Ends[n].At) >= 2*j.Ends[n].Lease", New: "len(j.Ends)-n > 1", Breaks: "the history keeps one end only"},
		{Name: "history-cut-uncounted", File: rules + "end.go", Func: "trim", Old: "j.Ends = j.Ends[n:]\n\tj.EndsCut += n", New: "if len(j.Ends) > 2 { j.Ends = j.Ends[1:] }", Breaks: "ordinals do not count what was dropped"},
		{Name: "cancel-of-the-claimed-waits", File: rules + "operator.go", Func: "Cancel", Old: "j.CancelRequested = true", New: "", Breaks: "a cancel of a running job is answered and forgotten"},
		{Name: "force-keeps-the-lease", File: rules + "operator.go", Func: "Cancel", Old: "end(j, ending{kind: store.EndForce, to: store.Cancelled}, now)", New: "j.State = store.Cancelled", Breaks: "a forced cancel records no end of the attempt"},
	}
}
