package sim

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
