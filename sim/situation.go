package sim

import (
	"backwave/checker"
	"backwave/store"
	"backwave/store/memory"
)

// situation is a named thing that a run may come to. What was never reached
// was never tested.
type situation uint8

const (
	sawCrash situation = iota
	sawHandlerCrash
	sawPause
	sawSuspend
	sawWallStep
	sawWallJump
	sawStoreStep
	sawPartition
	sawOutage
	sawStall
	sawLostRequest
	sawLostReply // plus the kind of the call: renew, report, claim, sweep, enqueue, do
	_
	_
	_
	_
	_
	sawLateRequest
	sawLateReply
	sawDoubled
	sawForged
	sawAimed
	sawForget
	sawDegraded
	sawRecovered
	sawHaltInFlight
	sawDrained
	sawAbandonedExit
	sawDropped
	sawAbandoned
	sawRetry
	sawTold // plus the reason: cancel-requested, draining, lease-lost, halted, timed-out
	_
	_
	_
	_
	_
	sawLost
	sawBusyRenewal
	sawStale
	sawAlready
	sawBusyReport
	sawRejected
	sawEnqueueAgain
	sawRequestAgain
	sawHandlerLost
	sawRenewAtEnd
	sawReportAtEnd
	sawClaimAtEnd
	sawSweepAtEnd
	sawClaimAtDue
	sawWithSweep
	sawLapse
	sawDeadLetter
	sawQuarantine
	sawCancelWaiting
	sawCancelRunning
	sawSuccessOverCancel
	sawRequeue
	sawUniqueHeld
	sawClaimAgain
	sawCut
	sawTwoPumps
	sawTwoAttempts
	situationCount
)

var situationNames = [situationCount]string{
	sawCrash: "a node crashed", sawHandlerCrash: "a handler took its node down", sawPause: "a node stood still", sawSuspend: "a node was suspended",
	sawWallStep: "a wall clock stepped", sawWallJump: "node time followed a jump of the wall clock", sawStoreStep: "the store's clock stepped",
	sawPartition: "a node was cut off", sawOutage: "the store answered nobody", sawStall: "a request met a stalled store", sawLostRequest: "a request was lost",
	sawLostReply: "a reply was lost after an applied renew", sawLostReply + 1: "a reply was lost after an applied report", sawLostReply + 2: "a reply was lost after an applied claim",
	sawLostReply + 3: "a reply was lost after an applied sweep", sawLostReply + 4: "a reply was lost after an applied enqueue", sawLostReply + 5: "a reply was lost after an applied command",
	sawLateRequest: "a request arrived late", sawLateReply: "a reply arrived late", sawDoubled: "a request arrived twice", sawForged: "a forged copy arrived", sawAimed: "a call was carried out at an instant of truth",
	sawForget: "the store forgot its last commits", sawDegraded: "a pump was degraded", sawRecovered: "a pump recovered", sawHaltInFlight: "a pump halted with handlers in flight",
	sawDrained: "a pump drained", sawAbandonedExit: "a process exited although handlers ran", sawDropped: "an outcome was dropped with its lease", sawAbandoned: "a handler was given up",
	sawRetry: "a later attempt started", sawTold + 1: "a handler was told: cancel-requested", sawTold + 2: "a handler was told: draining", sawTold + 3: "a handler was told: lease-lost",
	sawTold + 4: "a handler was told: halted", sawTold + 5: "a handler was told: timed-out", sawLost: "a renewal was refused", sawBusyRenewal: "a renewal met a held row",
	sawStale: "a stale outcome was fenced", sawAlready: "a repeated outcome was already applied", sawBusyReport: "a report met a held row", sawRejected: "an outcome was rejected for its size",
	sawEnqueueAgain: "an enqueue was sent again", sawRequestAgain: "an action was repeated with its request id",
	sawHandlerLost: "a handler got no answer to its call",
	sawRenewAtEnd:  "a renewal came at the very end of its lease", sawReportAtEnd: "a report came at the very end of its lease", sawClaimAtEnd: "a claim came at the very end of a lease",
	sawSweepAtEnd: "a sweep came at the very end of a lease", sawClaimAtDue: "a claim came at the very instant a job became due", sawWithSweep: "a call came together with a sweep",
	sawLapse: "a lapsed lease was swept", sawDeadLetter: "a job was dead-lettered", sawQuarantine: "a job was quarantined", sawCancelWaiting: "a job was cancelled while it waited",
	sawCancelRunning: "a job was cancelled while it was leased", sawSuccessOverCancel: "a success won over a cancel", sawRequeue: "a job was requeued", sawUniqueHeld: "an enqueue met a unique key that is held",
	sawClaimAgain: "a repeated claim was answered the leases it had taken", sawCut: "a lease of a clock that was ahead was cut", sawTwoPumps: "two pumps ran one job at once", sawTwoAttempts: "one pump ran two attempts of a job at once",
}

// situations is the set of those reached.
type situations [situationCount]bool

func (s *situations) reach(i situation) { s[i] = true }

// names lists those reached, in the order of the table.
func (s *situations) names() (out []string) {
	for i, ok := range s {
		if ok && situationNames[i] != "" {
			out = append(out, situationNames[i])
		}
	}
	return out
}

// Situations lists every situation that a run may come to.
func Situations() (out []string) {
	for _, n := range situationNames {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}

// reachAimed books what a call that hits an instant of truth is an example of.
func (w *world) reachAimed(f *flight, at string) {
	switch {
	case at == "sweep":
		w.seen.reach(sawWithSweep)
	case at == "due":
		w.seen.reach(sawClaimAtDue)
	case f.call.Kind == checker.CallRenew:
		w.seen.reach(sawRenewAtEnd)
	case f.call.Kind == checker.CallReport:
		w.seen.reach(sawReportAtEnd)
	case f.call.Kind == checker.CallClaim:
		w.seen.reach(sawClaimAtEnd)
	default:
		w.seen.reach(sawSweepAtEnd)
	}
}

// reachEnd books what a change of state is an example of.
func (w *world) reachEnd(before, after *store.Job) {
	switch after.State {
	case store.DeadLettered:
		w.seen.reach(sawDeadLetter)
	case store.Quarantined:
		w.seen.reach(sawQuarantine)
	case store.Cancelled:
		if before.State == store.Executing {
			w.seen.reach(sawCancelRunning)
		} else {
			w.seen.reach(sawCancelWaiting)
		}
	case store.Succeeded:
		if before.CancelRequested {
			w.seen.reach(sawSuccessOverCancel)
		}
	case store.Scheduled:
		if before.State.Terminal() {
			w.seen.reach(sawRequeue)
		}
	case store.Awaiting, store.Executing:
	}
}

// reachCommit books what a commit is an example of.
func (w *world) reachCommit(reply store.Reply, changes []memory.Change) {
	switch r := reply.(type) {
	case *store.Claimed:
		if len(r.Leases) > 0 && len(changes) == 0 {
			w.seen.reach(sawClaimAgain)
		}
	case *store.Swept:
		for i := range changes {
			if changes[i].After.State == store.Executing {
				w.seen.reach(sawCut)
			} else {
				w.seen.reach(sawLapse)
			}
		}
	case *store.Renewed, *store.Reported, *store.Enqueued, *store.Done:
	}
}

// meets books whether job j already runs somewhere when h starts it.
func (w *world) meets(h *host, j int32) {
	if w.jobs[j].running > 0 {
		own := false
		for _, r := range h.runs {
			own = own || w.runs[r].job == j
		}
		if own {
			w.seen.reach(sawTwoAttempts)
		} else {
			w.seen.reach(sawTwoPumps)
		}
	}
	w.jobs[j].running++
}
