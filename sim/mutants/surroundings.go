package mutants

import (
	"slices"

	"backwave/internal/mutant"
)

// Surroundings returns bugs of what surrounds the shell in production, and of
// the client. A simulated world replaces all of it, so none of them is in All:
// the tests of package sim/bubble run it, and have to catch them.
func Surroundings() []mutant.Mutant {
	return slices.Concat(inHost(), inAttempts(), inCalls(), inProcess(), inClient())
}

// inHost are bugs of the one goroutine that talks to the shell: its mailbox, its
// timer, its end.
func inHost() []mutant.Mutant {
	const dir = "engine/"
	return []mutant.Mutant{
		{Name: "letter-lost", File: dir + "mailbox.go", Func: "(*mailbox).post", Old: "append(b.mail, m)", New: "append(b.mail[:0], m)", Breaks: "of two letters that wait the first is lost"},
		{Name: "bell-not-rung", File: dir + "mailbox.go", Func: "(*mailbox).post", Old: "b.ring()", New: "", Breaks: "a letter waits for the next timer"},
		{Name: "timer-always-naps", File: dir + "host.go", Func: "(*host).arm", Old: "h.timer.Reset(min(max(0, next.Sub(h.now)), nap))", New: "h.timer.Reset(nap)", Breaks: "the shell is woken up to a second late"},
		{Name: "timer-not-armed-again", File: dir + "host.go", Func: "(*host).arm", Old: "if next == pump.Never {", New: "if next == pump.Never || h.shell.Ended() {", Breaks: "the end of a drain wakes nobody"},
		{Name: "limit-wakes-nobody", File: dir + "host.go", Func: "(*host).arm", Old: "min(h.wake, h.limit)", New: "h.wake", Breaks: "a handler that hangs keeps Run from returning"},
		{Name: "clock-read-once", File: dir + "host.go", Func: "(*host).serve", Old: "for _, m := range mail {\n\t\t\th.read()", New: "for _, m := range mail {", Breaks: "mail is judged by the time at which the wait for it began"},
		{Name: "drain-leaves-handlers", File: dir + "host.go", Func: "(*host).run", Old: "h.shell.Ended() && len(h.attempts) == 0", New: "h.shell.Ended()", Breaks: "a drain returns before the handlers have"},
		{Name: "finish-not-waited-for", File: dir + "host.go", Func: "(*host).drain", Old: "wait += h.cfg.FinishTimeout", New: "", Breaks: "handlers that may finish lose the time to stop"},
		{Name: "drain-waits-twice", File: dir + "host.go", Func: "(*host).drain", Old: "h.limit = h.now.Add(wait)", New: "h.limit = h.now.Add(2 * wait)", Breaks: "a drain takes twice as long as it may"},
		{Name: "drain-not-passed-on", File: dir + "host.go", Func: "(*host).drain", Old: "h.shell.Drain()", New: "", Breaks: "a process that shuts down goes on claiming"},
		{Name: "abandoned-not-named", File: dir + "host.go", Func: "(*host).abandoned", Old: "for key, a := range h.attempts {", New: "for key, a := range h.attempts {\n\t\tif a.ctx.Err() != nil { continue }", Breaks: "handlers that ignore their context are left running, and nobody says so"},
		{Name: "returned-named", File: dir + "host.go", Func: "(*host).abandoned", Old: "if a.over.Load() {", New: "if false {", Breaks: "Run names handlers that have returned"},
		{Name: "hint-for-good", File: dir + "host.go", Func: "(*host).hint", Old: "h.hinted.Store(false)", New: "", Breaks: "only the first hint is heard"},
		{Name: "recovery-not-marked", File: dir + "log.go", Func: "(*host).Note", Old: "h.mark.Store(&mark)", New: "if _, ok := a.(pump.Recovered); !ok { h.mark.Store(&mark) }", Breaks: "a fault that has passed stays on the health page"},
		{Name: "halt-not-marked", File: dir + "log.go", Func: "(*host).Note", Old: "h.mark.Store(&mark)", New: "if !mark.Halted { h.mark.Store(&mark) }", Breaks: "a halted group looks healthy"},
	}
}

// inAttempts are bugs of how handlers are run, told to stop, and heard.
func inAttempts() []mutant.Mutant {
	const dir = "engine/"
	return []mutant.Mutant{
		{Name: "context-never-ended", File: dir + "attempt.go", Func: "(*host).Cancel", Old: "a.end(Cause(why))", New: "_ = a", Breaks: "no handler is ever told to stop"},
		{Name: "lost-lease-untold", File: dir + "attempt.go", Func: "(*host).Cancel", Old: "a.end(Cause(why))", New: "if why != pump.LeaseLost { a.end(Cause(why)) }", Breaks: "a handler goes on when its lease is another's"},
		{Name: "cause-left-out", File: dir + "attempt.go", Func: "(*host).Cancel", Old: "a.end(Cause(why))", New: "a.end(nil)", Breaks: "a handler does not learn why it has to stop"},
		{Name: "every-cause-a-drain", File: dir + "attempt.go", Func: "(*host).Cancel", Old: "a.end(Cause(why))", New: "a.end(ErrDraining)", Breaks: "a handler learns a wrong reason"},
		{Name: "returned-kept", File: dir + "attempt.go", Func: "(*attempt).open", Old: "delete(h.attempts, a.lease.Key)", New: "", Breaks: "a drain waits for handlers that have returned"},
		{Name: "context-outlives-handler", File: dir + "attempt.go", Func: "(*attempt).open", Old: "a.end(context.Canceled)", New: "", Breaks: "what a handler has left behind is never told to stop"},
		{Name: "result-left-behind", File: dir + "attempt.go", Func: "(*attempt).Done", Old: "a.res = r", New: "if !r.Exited { a.res = r }", Breaks: "a handler that left its goroutine has succeeded"},
		{Name: "progress-of-another", File: dir + "attempt.go", Func: "(*attempt).Progressed", Old: "h.shell.Progressed(a.lease.Key, fetch())", New: "for key := range h.attempts { h.shell.Progressed(key, fetch()) }", Breaks: "progress is booked on all jobs of a pump"},
		{Name: "panic-not-caught", File: dir + "execute.go", Func: "(*Runner).Run", Old: "v := recover(); v != nil", New: "v := any(nil); v != nil", Breaks: "a handler that panics takes the process down"},
		{Name: "goexit-as-success", File: dir + "execute.go", Func: "(*Runner).Run", Old: "Result{Exited: true}", New: "Result{}", Breaks: "a handler that left its goroutine has succeeded"},
		{Name: "error-left-out", File: dir + "execute.go", Func: "(*Runner).Run", Old: "Result{Err: err, Output: job.Output()}", New: "Result{Output: job.Output()}; _ = err", Breaks: "a handler that failed has succeeded"},
		{Name: "output-left-out", File: dir + "execute.go", Func: "(*Runner).Run", Old: "Output: job.Output()", New: "", Breaks: "the output of a handler is lost"},
		{Name: "unknown-not-told", File: dir + "execute.go", Func: "(*Runner).Run", Old: "to.Done(Result{Unknown: true})", New: "", Breaks: "a job without a handler keeps its slot for ever"},
		{Name: "unreadable-as-failure", File: dir + "execute.go", Func: "(*Runner).Run", Old: "res = Result{Undecodable: e}", New: "res = Result{Err: e}", Breaks: "a payload that nobody can read is tried again"},
		{Name: "crew-of-one", File: dir + "crew.go", Func: "(*crew).take", Old: "c.summon()", New: "", Breaks: "an attempt waits for another's handler"},
		{Name: "crew-forgets", File: dir + "crew.go", Func: "(*crew).take", Old: "c.todo = c.todo[1:]", New: "c.todo = nil", Breaks: "of attempts that start together only one runs"},
		{Name: "crew-never-arrives", File: dir + "crew.go", Func: "(*crew).take", Old: "if arrived {", New: "if arrived && len(c.todo) > 1 {", Breaks: "after one attempt nobody serves the next"},
		{Name: "slot-free-early", File: dir + "attempt.go", Func: "(*host).work", Old: "h.runner.Run(", New: "if a.lease.Key.Attempt > 1 { a.Done(Result{}) }; h.runner.Run(", Breaks: "a handler is taken for returned when it starts"},
		{Name: "middleware-left-out", File: dir + "mux.go", Func: "(*Mux).resolved", Old: "h = w(h)", New: "_ = w", Breaks: "handlers run without their middleware"},
		{Name: "payload-error-ignored", File: dir + "mux.go", Func: "Handle", Old: "return &undecodableError{err}", New: "_ = err", Breaks: "a handler runs with a payload that could not be read"},
		{Name: "completing-not-told", File: dir + "attempt.go", Func: "(*attempt).Completing", Old: "h.shell.Completing(a.lease.Key)", New: "", Breaks: "a lease is renewed while a transaction ends it"},
		{Name: "rollback-as-commit", File: dir + "completion.go", Func: "(*RawJob).Completed", Old: "j.to.Completed(c)", New: "j.to.Completed(store.CompletionCommitted); _ = c", Breaks: "a handler whose transaction was rolled back loses its lease"},
		{Name: "claim-left-out-of-the-key", File: dir + "completion.go", Func: "(*RawJob).Key", Old: ", Claim: j.claim", New: "", Breaks: "no handler can complete in a transaction"},
		{Name: "completion-not-told", File: dir + "attempt.go", Func: "(*attempt).Completed", Old: "h.shell.Completed(a.lease.Key, c)", New: "", Breaks: "a lease is not renewed after a transaction was rolled back"},
	}
}

// inCalls are bugs of how calls are sent to the store, and their answers heard.
func inCalls() []mutant.Mutant {
	const dir = "engine/"
	return []mutant.Mutant{
		{Name: "answer-to-another-op", File: dir + "call.go", Func: "(*host).Call", Old: "h.answered(op, reply, err)", New: "h.answered(op+1, reply, err)", Breaks: "an answer goes to another call"},
		{Name: "error-as-no-answer", File: dir + "call.go", Func: "(*host).answered", Old: "h.shell.Answered(op, reply, err)", New: "if err == nil { h.shell.Answered(op, reply, err) }", Breaks: "the pump never hears of an error"},
		{Name: "one-call-at-a-time", File: dir + "call.go", Func: "(*host).Call", Old: "h.open[kind] >= maxOpen", New: "h.unreturned() > 0", Breaks: "a renewal fails while a claim is under way"},
		{Name: "returned-call-still-open", File: dir + "call.go", Func: "(*host).Call", Old: "h.open[kind]--", New: "", Breaks: "after a few calls none is sent any more"},
		{Name: "hanging-call-kept", File: dir + "call.go", Func: "(*host).Call", Old: "2*h.cfg.OperationTimeout", New: "1000*h.cfg.OperationTimeout", Breaks: "calls that get no answer hold their lane"},
	}
}

// inProcess are bugs of the engine as a whole, and of what it makes of its
// configuration.
func inProcess() []mutant.Mutant {
	const dir = "engine/"
	return []mutant.Mutant{
		{Name: "halt-ends-siblings", File: dir + "engine.go", Func: "(*Engine).Run", Old: "<-ctx.Done()", New: "for ctx.Err() == nil && e.Health().Healthy() { _ = clockx.Sleep(ctx, e.hosts[0].clock, time.Second) }", Breaks: "a halted group takes its siblings along"},
		{Name: "handlers-see-the-shutdown", File: dir + "engine.go", Func: "(*Engine).Run", Old: "context.WithoutCancel(ctx)", New: "ctx", Breaks: "handlers are told to stop before the drain tells them, and not why"},
		{Name: "one-pump-drained", File: dir + "engine.go", Func: "(*Engine).Run", Old: "for _, h := range e.hosts {\n\t\th.tell(", New: "for _, h := range e.hosts[:1] {\n\t\th.tell(", Breaks: "Run never returns"},
		{Name: "abandoned-of-one-pump", File: dir + "engine.go", Func: "(*Engine).Run", Old: "append(left, h.abandoned()...)", New: "h.abandoned()", Breaks: "handlers of all pumps but the last are left running, and nobody says so"},
		{Name: "hint-to-the-others", File: dir + "engine.go", Func: "(*Engine).listen", Old: "if h.serves(queue) {", New: "if !h.serves(queue) {", Breaks: "hints wake the wrong groups"},
		{Name: "pumps-share-an-identity", File: dir + "engine.go", Func: "(*Engine).host", Old: "source.worker(machine, os.Getpid(), g.Name, i)", New: "source.worker(machine, os.Getpid(), g.Name, i*0)", Breaks: "two pumps take each other's leases for their own"},
		{Name: "policies-left-out", File: dir + "group.go", Func: "(Group).PumpConfig", Old: "cfg.Terms.ByName = append(cfg.Terms.ByName, store.NamedPolicy{Name: name, Policy: g.RetryPolicies[name]})", New: "_ = name", Breaks: "policies of single names do not count"},
		{Name: "timeouts-left-out", File: dir + "group.go", Func: "(Group).PumpConfig", Old: "cfg.Timeouts = append(cfg.Timeouts, pump.Timeout{Name: name, After: g.Timeouts[name]})", New: "_ = name", Breaks: "handlers run without a timeout"},
		{Name: "release-left-out", File: dir + "group.go", Func: "(Group).PumpConfig", Old: "ReleaseOnDrain: g.ReleaseOnDrain,", New: "", Breaks: "interrupted jobs wait for their leases to lapse"},
		{Name: "health-page-always-green", File: dir + "httphealth.go", Func: "HealthHandler", Old: "if !h.Healthy() {", New: "if false {", Breaks: "a halted group looks healthy to whoever asks over HTTP"},
	}
}

// inClient are bugs of the client that adds jobs.
func inClient() []mutant.Mutant {
	const dir = "engine/"
	return []mutant.Mutant{
		{Name: "own-id-ignored", File: dir + "client.go", Func: "(*Client).rows", Old: "if r.ID.IsZero() {", New: "if true {", Breaks: "a program that repeats an enqueue adds its job twice"},
		{Name: "new-id-per-send", File: dir + "client.go", Func: "(*Client).send", Old: "batch[k] = rows[i]", New: "if batch[k] = rows[i]; pause > firstBackoff { batch[k].ID, _ = c.chance.jobID(c.cfg.Clock.Now()) }", Breaks: "an enqueue that is sent again adds a second job"},
		{Name: "enqueue-gives-up", File: dir + "client.go", Func: "(*Client).send", Old: "!store.FaultOf(err).Transient()", New: "true", Breaks: "an enqueue fails at a fault that passes"},
		{Name: "no-answer-as-receipt", File: dir + "client.go", Func: "(*Client).send", Old: "if end := c.rest(ctx, pause)", New: "if pause > firstBackoff { return nil }\n\t\tif end := c.rest(ctx, pause)", Breaks: "a job that was never added has a receipt"},
		{Name: "busy-as-added", File: dir + "client.go", Func: "(*Client).send", Old: "busy = append(busy, i)", New: "out[i] = Receipt{ID: rows[i].ID}", Breaks: "a row that was held counts as added"},
		{Name: "holder-as-added", File: dir + "client.go", Func: "(*Client).send", Old: "Receipt{ID: a.Holder, Existing: true}", New: "Receipt{ID: rows[i].ID}", Breaks: "a job that was not added, for another holds its key, has a receipt"},
		{Name: "enqueue-waits-for-ever", File: dir + "client.go", Func: "(*Client).try", Old: "callTimeout", New: "1000*callTimeout", Breaks: "an answer that is lost is waited for"},
		{Name: "delay-left-out", File: dir + "enqueue.go", Func: "In", Old: "store.ClampDuration(d)", New: "0", Breaks: "a job is due at once"},
		{Name: "key-left-out", File: dir + "enqueue.go", Func: "Unique", Old: "j.UniqueKey = key", New: "", Breaks: "two jobs hold one key"},
		{Name: "ceiling-left-out", File: dir + "enqueue.go", Func: "MaxAttempts", Old: "j.MaxAttempts = n", New: "", Breaks: "a job has more attempts than it was given"},
	}
}
