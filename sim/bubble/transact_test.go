package bubble

import (
	"testing"
	"time"

	"backwave/engine"
	"backwave/sim"
	"backwave/store"
)

// The names of jobs whose handlers record their success in a transaction of
// their own.
const (
	commits   = "commits"
	rollsBack = "rolls-back" // and then commits another one
)

// transact records the success of a, if that is what its job's name says. The
// transaction takes longer than a heartbeat; after it the handler goes on for
// longer than a lease.
func (p *process) transact(a *attempt, raw *engine.RawJob) {
	const statement, rest = 1500 * time.Millisecond, 4 * time.Second
	if a.job.routed != commits && a.job.routed != rollsBack {
		return
	}
	if a.job.routed == rollsBack {
		p.begin(a, raw)
		p.w.sleep(statement)
		p.w.mu.Lock()
		a.apart = time.Time{}
		p.w.mu.Unlock()
		raw.Completed(store.CompletionRolledBack)
		p.w.sleep(rest)
	}
	p.begin(a, raw)
	if !p.w.sleep(statement) {
		return
	}
	reply, err := p.wire.Report(p.w.ctx, &store.Report{Worker: raw.Worker(), Rows: []store.ReportRow{{Key: raw.Key(), Outcome: store.Success{Output: raw.Output()}}}})
	if err != nil || reply.Rows[0].Status != store.ReportApplied {
		p.w.breach("the success of %s in a transaction was answered %v, %v", p.w.token(a.token), reply, err)
		return
	}
	p.w.reached("transaction")
	raw.Completed(store.CompletionCommitted)
	p.w.sleep(rest)
}

// begin is what a store does before the statement that records a success.
func (p *process) begin(a *attempt, raw *engine.RawJob) {
	raw.Completing()
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	a.apart = time.Now()
}

// letAlone judges that no renewal is sent for an attempt that completes. One of
// the instant at which that began may have been on its way.
func (w *world) letAlone(key store.LeaseKey) {
	if a := w.attempts[key.Token()]; a != nil && !a.apart.IsZero() && a.apart.Before(time.Now()) && !a.done {
		w.breachLocked("the lease of %s is renewed, which a transaction is about to end", w.token(a.token))
	}
}

// A handler that records its success in a transaction of its own keeps its
// lease until then, is not told of its end after that, and runs once.
func TestTransactions(t *testing.T) {
	l := &tally{hits: map[string]int{}}
	sc := kindPlan(kind{"transactions", nil, nil})
	sc.Jobs = nil
	for _, name := range []string{commits, rollsBack} {
		sc.Jobs = append(sc.Jobs, sim.Job{ID: name, Name: name, Run: []sim.Script{{For: time.Second}}})
		sc.Expect.Jobs = append(sc.Expect.Jobs, sim.ExpectJob{Job: name, State: store.Succeeded, Ends: []store.EndKind{store.EndSuccess}, Starts: &sim.Range{Min: 1, Max: 1}, Told: []string{}})
	}
	play(t, sc, max(1, *only), false, l)
	if n := l.hits["transaction"]; n != 2 && !t.Failed() {
		t.Errorf("%d transactions were committed, want 2", n)
	}
}
