package checker

// rule numbers the invariants, in the order of the table.
type rule uint8

const (
	ruleEffectOnce rule = iota
	ruleAccounting
	ruleCeiling
	ruleLegal
	ruleFinal
	ruleFence
	ruleExclusive
	ruleDue
	ruleServed
	rulePaused
	ruleNoClaimAfterCancel
	ruleOneStart
	rulePool
	ruleTold
	ruleSilence
	ruleHealth
	ruleDetection
	ruleMargin
	rulePolling
	ruleNeighbours
	ruleObligations
	ruleNotLost
	ruleAlreadyApplied
	ruleUniqueKey
	ruleAudit
	ruleEndsKept
	rules
)

// Invariants lists what a Watch checks.
func Invariants() []Invariant {
	return []Invariant{
		{"effect-once", "Per (job, attempt) at most one end is recorded, and per life one terminal state."},
		{"accounting", "Claims of a job = its recorded ends of every kind + 1 if it is executing; attempts are 1, 2, 3 … without gap."},
		{"ceiling", "An attempt that ended in failure or lapse at base + max of its own terms or above is dead-lettered, one below is scheduled again after the delay of its own terms; the other outcomes lead where they say."},
		{"legal", "Jobs move along the table of states only, by the calls that the table names; nothing in a row is over its bound."},
		{"final", "A terminal job never changes, except that a dead-lettered or quarantined one is requeued."},
		{"fence", "What a worker writes to a job came from the lease then live in the store; a lease is renewed to now + its length, never revived, and ended early by force only."},
		{"exclusive", "A job has one lease at a time, and no lease key of a worker is granted twice."},
		{"due", "Only due jobs are claimed."},
		{"served", "Only jobs of queues that the pump serves are claimed."},
		{"paused", "A claim sent after the answer to a pause was delivered takes nothing from that queue until a resume."},
		{"no-claim-after-cancel", "A job is not claimed once a cancel was accepted, and its running attempt ends in Cancelled unless it succeeds."},
		{"one-start", "A handler starts at most once per lease, on a lease that was answered to its pump, and not once the own view of it is over."},
		{"pool", "The handlers that run in a pump, the given-up ones included, are never more than its PoolSize; a claim sent again under its number takes nothing more, and is answered the leases that live."},
		{"told", "A handler is told to stop in the first step at or after the end of its own view, and in the step that learns of any other cause, with the right cause."},
		{"silence", "A halted pump sends nothing, a drained one only outcomes of handlers that had returned before, leases to be given back, and renewals of those."},
		{"health", "A pump is halted exactly after a fatal fault, for good; it is degraded in a kind of call exactly while the last ended call of that kind failed transiently. A process is red exactly while every pump of some group has halted."},
		{"detection", "Sweeps go out every MaintenanceInterval, at once after a full one, over any queue once per LeaseDuration; a sweep that was not full leaves no lapsed lease of its queues, and none disposes of a living one."},
		{"margin", "A renewal of all leases that are to be kept is in flight whenever HeartbeatInterval has passed since the oldest send one of them rests on, or min(PollInterval, LeaseDuration/20) since a renewal failed."},
		{"polling", "While a pump serves and has a free slot, a claim is in flight or was sent no longer ago than the longest interval of its idle polls."},
		{"neighbours", "A row that is locked, stale or rejected costs the other rows of its call nothing."},
		{"obligations", "An outcome is reported as it was returned, at once and again at every tick, until the store has decided or its lease is over; after that only a success, once."},
		{"not-lost", "An enqueue that was acknowledged exists; nothing but a store that forgets makes a job vanish."},
		{"already-applied", "AlreadyApplied names the kind that this very lease's worker had recorded, and is answered for at least twice the lease length after it."},
		{"unique", "At most one job that is not terminal holds a unique key."},
		{"audit", "A command is audited exactly once if it changed something, and never otherwise."},
		{"history", "The ends kept and those cut are as many as were recorded; what is kept is what was recorded; no end younger than twice its lease is cut."},
	}
}
