package mutants

import "backwave/internal/mutant"

// inPump are bugs of the pump: what it believes, sends and tells.
func inPump() []mutant.Mutant {
	const dir = "engine/pump/"
	return []mutant.Mutant{
		{Name: "kept-report-forgotten", File: dir + "report.go", Func: "(*Pump).reportFailed", Old: "out = p.again(i, out)", New: "p.done(i)", Breaks: "an outcome whose report failed is never sent again"},
		{Name: "stale-sent-again", File: dir + "report.go", Func: "(*Pump).reported", Old: "out = p.drop(i, out)", New: "out = p.again(i, out)", Breaks: "a fenced outcome is sent for ever"},
		{Name: "busy-taken-for-lost", File: dir + "renew.go", Func: "(*Pump).renewed", Old: "l.hold = p.now.Add(p.cfg.renewRetry())", New: "out, _ = p.lose(i, out)", Breaks: "a held row stops its handler"},
		{Name: "view-from-the-reply", File: dir + "renew.go", Func: "(*Pump).kept", Old: "h.sent = max(h.sent, sent)", New: "h.sent = p.now", Breaks: "the own view outlives the lease by the way of the answer"},
		{Name: "view-from-the-claim-reply", File: dir + "claim.go", Func: "(*Pump).accept", Old: "sent: s.first", New: "sent: p.now", Breaks: "a late claim answer is believed for a whole lease"},
		{Name: "heartbeat-late", File: dir + "renew.go", Func: "(*Pump).oldest", Old: "p.cfg.HeartbeatInterval", New: "p.cfg.HeartbeatInterval*2", Breaks: "renewals come half as often"},
		{Name: "heartbeat-from-the-reply", File: dir + "renew.go", Func: "(*Pump).renewed", Old: "p.beat, _ = p.oldest()", New: "p.beat = p.now.Add(p.cfg.HeartbeatInterval)", Breaks: "each renewal comes later by the way of the answer"},
		{Name: "renewal-behind-claim", File: dir + "pump.go", Func: "(*Pump).calls", Old: "if p.lanes[k].op != 0 ||", New: "if k == Renewing && p.lanes[Claiming].op != 0 || p.lanes[k].op != 0 ||", Breaks: "a renewal waits for a claim in flight"},
		{Name: "renewal-retry-slow", File: dir + "pump.go", Func: "(*Pump).ended", Old: "l.hold = p.now.Add(p.cfg.renewRetry())", New: "l.hold = p.now.Add(p.cfg.HeartbeatInterval)", Breaks: "a failed renewal waits for the next heartbeat"},
		{Name: "claim-number-stays", File: dir + "claim.go", Func: "(*claiming).next", Old: "c.number++", New: "", Breaks: "a claim that was answered is followed by one of the same number"},
		{Name: "late-claim-dropped", File: dir + "claim.go", Func: "(*Pump).claimed", Old: "if i < 0 {", New: "if i < 0 || p.lanes[Claiming].op != ev.Op {", Breaks: "leases of a late answer are neither run nor given back"},
		{Name: "start-on-a-dead-lease", File: dir + "claim.go", Func: "(*Pump).accept", Old: "if s.first.Add(p.cfg.view()) <= p.now {", New: "if false {", Breaks: "a handler starts on a lease that is over"},
		{Name: "answer-accepted-twice", File: dir + "claim.go", Func: "(*Pump).accept", Old: "known || slices.Contains(p.claiming.accepted, l.Key)", New: "known", Breaks: "a repeated answer starts a finished attempt again"},
		{Name: "pool-over-admitted", File: dir + "claim.go", Func: "(*Pump).free", Old: "p.cfg.PoolSize - p.running", New: "p.cfg.PoolSize + 1 - p.running", Breaks: "one handler more than the pool"},
		{Name: "slot-freed-twice", File: dir + "attempt.go", Func: "(*Pump).returned", Old: "p.running--", New: "p.running -= 2", Breaks: "a returning handler frees two slots"},
		{Name: "slot-freed-when-told", File: dir + "attempt.go", Func: "(*Pump).tell", Old: "h.told = why", New: "h.told = why; p.running--", Breaks: "a handler that is told to stop frees its slot before it returns"},
		{Name: "error-sent-after-loss", File: dir + "attempt.go", Func: "(*Pump).returned", Old: "if h.lost && outcome.Kind() != store.EndSuccess {", New: "if false {", Breaks: "a failure is reported although the lease is lost"},
		{Name: "report-after-drain", File: dir + "attempt.go", Func: "(*Pump).returned", Old: "if p.phase == draining {", New: "if false {", Breaks: "a drained pump reports handlers that it interrupted"},
		{Name: "view-end-ignored", File: dir + "attempt.go", Func: "(*Pump).attend", Old: "if !h.lost && p.viewEnd(h) <= p.now {", New: "if false {", Breaks: "an isolated node does not stop itself"},
		{Name: "wrong-cause", File: dir + "attempt.go", Func: "(*Pump).lose", Old: "p.tell(h, LeaseLost, out)", New: "p.tell(h, CancelRequested, out)", Breaks: "a lost lease is told as an operator's cancel"},
		{Name: "timeout-ignored", File: dir + "attempt.go", Func: "(*Pump).attend", Old: "if h.running && h.timeoutAt <= p.now {", New: "if false {", Breaks: "handler timeouts never fire"},
		{Name: "cancel-not-told", File: dir + "renew.go", Func: "(*Pump).kept", Old: "if a.Cancel && h.running {", New: "if false {", Breaks: "an operator's cancel never reaches the handler"},
		{Name: "lost-not-told", File: dir + "renew.go", Func: "(*Pump).renewed", Old: "out, _ = p.lose(i, out)", New: "", Breaks: "a refused renewal is taken for nothing"},
		{Name: "abandoned-still-renewed", File: dir + "renew.go", Func: "(*Pump).renewable", Old: "h.lost || h.abandoned", New: "h.lost", Breaks: "a handler that ignores everything keeps its lease for ever"},
		{Name: "renew-after-drain", File: dir + "renew.go", Func: "(*Pump).renewable", Old: "p.phase < draining || h.outcome != nil", New: "true", Breaks: "a drained pump keeps the leases of its handlers"},
		{Name: "doubt-forgotten", File: dir + "pump.go", Func: "(*Pump).Step", Old: "p.doubt()", New: "", Breaks: "a wall clock set forward kills every handler"},
		{Name: "doubt-for-ever", File: dir + "renew.go", Func: "(*Pump).doubt", Old: "p.now.Add(p.cfg.OperationTimeout)", New: "p.now.Add(20 * p.cfg.LeaseDuration)", Breaks: "a view in doubt never ends"},
		{Name: "halt-without-cancelling", File: dir + "pump.go", Func: "(*Pump).halt", Old: "out = p.tell(p.held.at(i), GroupHalted, out)", New: "_ = i", Breaks: "handlers of a halted pump run on"},
		{Name: "halt-goes-on", File: dir + "pump.go", Func: "(*Pump).halt", Old: "p.phase = halted", New: "", Breaks: "a halted pump sends on"},
		{Name: "unknown-error-as-transient", File: dir + "pump.go", Func: "(*Pump).failed", Old: "if !ev.Fault.Transient() {", New: "if false {", Breaks: "an unknown error is retried instead of stopping the pump"},
		{Name: "transient-as-fatal", File: dir + "pump.go", Func: "(*Pump).failed", Old: "if !ev.Fault.Transient() {", New: "if !ev.Fault.Transient() || ev.Fault == store.FaultConnection {", Breaks: "a connection blip stops the pump"},
		{Name: "degraded-not-marked", File: dir + "pump.go", Func: "(*Pump).ended", Old: "if l.fault == \"\" {", New: "if k != Sweeping && l.fault == \"\" {", Breaks: "failing sweeps go unseen"},
		{Name: "degraded-not-cleared", File: dir + "pump.go", Func: "(*Pump).answered", Old: "if l.fault != \"\" {", New: "if l.fault != \"\" && k != Claiming {", Breaks: "a pump that has recovered stays degraded"},
		{Name: "sweep-only-with-free-slots", File: dir + "pump.go", Func: "(*Pump).due", Old: "if p.phase != serving {", New: "if p.phase != serving || p.free() <= 0 {", Breaks: "a full pool stops the sweeps"},
		{Name: "full-sweep-not-repeated", File: dir + "sweep.go", Func: "(*Pump).swept", Old: "if ev.Disposed >= p.cfg.SweepBatch {", New: "if false {", Breaks: "what a full sweep left behind waits for the next interval"},
		{Name: "start-while-draining", File: dir + "claim.go", Func: "(*Pump).accept", Old: "case p.phase != serving || p.free() <= 0:", New: "case p.free() <= 0:", Breaks: "a draining pump starts handlers"},
		{Name: "unstarted-kept", File: dir + "claim.go", Func: "(*Pump).accept", Old: "p.ready(h, store.Released{})", New: "h.outcome = store.Released{}; p.waiting++", Breaks: "leases that never start are not given back"},
		{Name: "drain-does-not-tell", File: dir + "drain.go", Func: "(*Pump).release", Old: "out = p.tell(p.held.at(i), Draining, out)", New: "_ = i", Breaks: "handlers do not learn of a shutdown"},
	}
}

// inShell are bugs of the shell, and of how it reads results and health.
func inShell() []mutant.Mutant {
	const dir = "engine/"
	return []mutant.Mutant{
		{Name: "failures-not-told", File: dir + "shell.go", Func: "(*Shell).Returned", Old: "s.step(", New: "if r.Err != nil { return }; s.step(", Breaks: "a handler that returns an error strands its slot and its outcome"},
		{Name: "renewal-answers-dropped", File: dir + "shell.go", Func: "(*Shell).Answered", Old: "s.step(pump.Renewed{Op: op, Rows: r.Rows})", New: "", Breaks: "answers to renewals never reach the pump"},
		{Name: "every-error-transient", File: dir + "shell.go", Func: "(*Shell).Answered", Old: "store.FaultOf(err)", New: "store.FaultTimeout", Breaks: "no error ever stops a pump"},
		{Name: "timer-forgotten", File: dir + "shell.go", Func: "(*Shell).step", Old: "s.env.Wake(s.pump.Deadline())", New: "if len(s.acts) > 0 { s.env.Wake(s.pump.Deadline()) }", Breaks: "a step that wants nothing sets no timer"},
		{Name: "snooze-as-failure", File: dir + "result.go", Func: "(Result).Outcome", Old: "errors.AsType[*snoozeError](r.Err); ok", New: "errors.AsType[*snoozeError](r.Err); ok && false", Breaks: "a snooze is reported as a failure"},
		{Name: "discard-as-failure", File: dir + "result.go", Func: "(Result).Outcome", Old: "errors.AsType[*discardError](r.Err); ok", New: "errors.AsType[*discardError](r.Err); ok && false", Breaks: "a discard is tried again"},
		{Name: "panic-as-success", File: dir + "result.go", Func: "(Result).Outcome", Old: "return store.Failure{Error: clean(fmt.Sprintf(\"panic: %s\\n%s\", safeText(r.Panic), r.Stack))}", New: "return store.Success{}", Breaks: "a panicking handler has succeeded"},
		{Name: "recovery-clears-all", File: dir + "health.go", Func: "(*Mark).note", Old: "m.kinds &^= 1 << a.Kind", New: "m.degraded, m.kinds = [4]string{}, 0", Breaks: "one call that works hides another that fails"},
		{Name: "degraded-only-of-the-first", File: dir + "health.go", Func: "(Health).DegradedGroups", Old: "range g.pumps", New: "range g.pumps[:1]", Breaks: "faults of all pumps but the first go unseen"},
		{Name: "red-when-partial", File: dir + "health.go", Func: "(Health).HaltedGroups", Old: "halted == all", New: "halted > 0", Breaks: "one halted pump of many turns the endpoint red"},
	}
}
