package storetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"backwave/store"
)

const (
	start  store.Instant = 1_767_225_600_000_000 // 2026-01-01T00:00:00Z
	minute               = time.Minute
)

// fixture is one store under test and the words in which the cases speak of
// it. Every call through it is followed by watch.
type fixture struct {
	*testing.T
	open   func(*testing.T, *Clock) Harness
	clock  *Clock
	h      Harness
	ctx    context.Context
	made   int               // ids made so far
	number map[string]uint64 // last claim number of each worker
	action int
	images []store.Job // of all jobs, as watch saw them last
}

func newFixture(t *testing.T, open func(*testing.T, *Clock) Harness) *fixture {
	f := &fixture{T: t, open: open, clock: &Clock{now: start}, ctx: t.Context(), number: map[string]uint64{}}
	f.h = open(t, f.clock)
	return f
}

// again opens a second store, in which the same ids will be made.
func (f *fixture) again() *fixture { return newFixture(f.T, f.open) }

// lease is a lease and whose it is.
type lease struct {
	store.Lease
	worker string
}

// terms are the terms of a claim that names none: ceiling 3, delays of exactly
// 10, 20, 40 … seconds.
func terms() *store.Terms {
	return &store.Terms{Default: store.Policy{MaxAttempts: 3, First: 10 * time.Second, NoJitter: true}}
}

func queues(names ...string) (qs []store.Quota) {
	for _, n := range names {
		qs = append(qs, store.Quota{Queue: n, Most: 100})
	}
	return qs
}

// id makes the next id; they sort by age.
func (f *fixture) id() store.JobID {
	f.made++
	return store.NewJobID(1_767_225_600_000, 7, uint64(f.made))
}

// add enqueues one job. What n leaves empty is an id, name "work", queue "q".
func (f *fixture) add(n store.NewJob) store.JobID {
	f.Helper()
	n = f.fill(n)
	f.want(f.enqueue(n), []store.EnqueueAnswer{{Status: store.EnqueueAdded}})
	return n.ID
}

func (f *fixture) fill(n store.NewJob) store.NewJob {
	if n.ID.IsZero() {
		n.ID = f.id()
	}
	if n.Name == "" {
		n.Name = "work"
	}
	if n.Queue == "" {
		n.Queue = "q"
	}
	return n
}

// job enqueues one plain job into queue "q".
func (f *fixture) job() store.JobID { f.Helper(); return f.add(store.NewJob{}) }

func (f *fixture) enqueue(jobs ...store.NewJob) []store.EnqueueAnswer {
	f.Helper()
	out, err := f.h.Store.Enqueue(f.ctx, &store.Enqueue{Jobs: jobs})
	f.ok(err)
	f.decided(out)
	for i, a := range out.Rows {
		if a.Status == store.EnqueueAdded {
			f.images = append(f.images, store.Job{ID: jobs[i].ID})
		}
	}
	f.watch()
	return out.Rows
}

// claimed sends a claim. What c leaves empty is worker "w", its next number,
// queue "q", room for 100, one minute, the usual terms.
func (f *fixture) claimed(c store.Claim) *store.Claimed {
	f.Helper()
	if c.Worker == "" {
		c.Worker = "w"
	}
	if c.Number == 0 {
		c.Number = f.number[c.Worker] + 1
	}
	f.number[c.Worker] = max(f.number[c.Worker], c.Number)
	if c.Queues == nil {
		c.Queues = queues("q")
	}
	if c.Max == 0 {
		c.Max = 100
	}
	if c.Lease == 0 {
		c.Lease = minute
	}
	if c.Terms == nil {
		c.Terms = terms()
	}
	out, err := f.h.Store.Claim(f.ctx, &c)
	f.ok(err)
	f.decided(out)
	f.watch()
	return out
}

// claim returns the jobs that a claim leased, in its order.
func (f *fixture) claim(c store.Claim) (ids []store.JobID) {
	f.Helper()
	for _, l := range f.claimed(c).Leases {
		ids = append(ids, l.Key.Job)
	}
	return ids
}

// takes sends a claim that must lease exactly one job.
func (f *fixture) takes(c store.Claim) lease {
	f.Helper()
	if c.Worker == "" {
		c.Worker = "w"
	}
	out := f.claimed(c)
	if len(out.Leases) != 1 {
		f.Fatalf("the claim took %d jobs, want 1: %+v", len(out.Leases), out)
	}
	return lease{out.Leases[0], c.Worker}
}

// take has worker "w" claim the one job that is due in queue "q".
func (f *fixture) take() lease { f.Helper(); return f.takes(store.Claim{}) }

func (f *fixture) renewed(r store.Renew) []store.RenewAnswer {
	f.Helper()
	if r.Lease == 0 {
		r.Lease = minute
	}
	out, err := f.h.Store.Renew(f.ctx, &r)
	f.ok(err)
	f.decided(out)
	f.watch()
	return out.Rows
}

// renew asks for one more minute.
func (f *fixture) renew(l lease) store.RenewStatus {
	f.Helper()
	return f.renewed(store.Renew{Worker: l.worker, Rows: []store.RenewRow{{Key: l.Key}}})[0].Status
}

func (f *fixture) reported(r store.Report) []store.ReportAnswer {
	f.Helper()
	out, err := f.h.Store.Report(f.ctx, &r)
	f.ok(err)
	f.decided(out)
	f.watch()
	return out.Rows
}

func (f *fixture) report(l lease, o store.Outcome) store.ReportAnswer {
	f.Helper()
	return f.reported(store.Report{Worker: l.worker, Rows: []store.ReportRow{{Key: l.Key, Outcome: o}}})[0]
}

// ends reports an outcome that must be applied and lead to state to.
func (f *fixture) ends(l lease, o store.Outcome, to store.State) {
	f.Helper()
	f.want(f.report(l, o), store.ReportAnswer{Status: store.ReportApplied, To: to})
}

// swept sends a sweep. What r leaves empty is queue "q" and room for 100.
func (f *fixture) swept(r store.Sweep) (ids []store.JobID) {
	f.Helper()
	for _, l := range f.lapses(r) {
		ids = append(ids, l.Key.Job)
	}
	return ids
}

func (f *fixture) lapses(r store.Sweep) []store.Lapse {
	f.Helper()
	if r.Queues == nil && !r.Any {
		r.Queues = []string{"q"}
	}
	if r.Max == 0 {
		r.Max = 100
	}
	out, err := f.h.Store.Sweep(f.ctx, &r)
	f.ok(err)
	f.decided(out)
	f.watch()
	return out.Disposed
}

// sweep sweeps queue "q".
func (f *fixture) sweep() []store.JobID { f.Helper(); return f.swept(store.Sweep{}) }

// do sends a command under a request id of its own.
func (f *fixture) do(c store.Command) store.DoResult {
	f.Helper()
	f.action++
	return f.done(fmt.Sprintf("auto-%d", f.action), c).Result
}

func (f *fixture) done(request string, c store.Command) store.Done {
	f.Helper()
	out, err := f.h.Store.Do(f.ctx, &store.Do{Actor: "ann", RequestID: request, Command: c})
	f.ok(err)
	f.decided(out)
	f.watch()
	return *out
}

// read returns the job as the store's reader shows it, no bytes and no ends
// always as nil.
func (f *fixture) read(id store.JobID) store.Job {
	f.Helper()
	j, err := f.h.Store.Job(f.ctx, id)
	f.ok(err)
	c := *j
	for _, b := range []*[]byte{&c.Payload, &c.Output, &c.Progress} {
		if len(*b) == 0 {
			*b = nil
		}
	}
	if len(c.Ends) == 0 {
		c.Ends = nil
	}
	return c
}

// unchanged fails if act changes anything of the jobs.
func (f *fixture) unchanged(act func(), ids ...store.JobID) {
	f.Helper()
	var before []store.Job
	for _, id := range ids {
		before = append(before, f.read(id))
	}
	act()
	for i, id := range ids {
		f.want(f.read(id), before[i])
	}
}

func (f *fixture) state(id store.JobID) store.State { f.Helper(); return f.read(id).State }

func (f *fixture) advance(d time.Duration) { f.clock.Advance(d) }

// in returns the instant d from now.
func (f *fixture) in(d time.Duration) store.Instant {
	return f.clock.Now() + store.Instant(d/time.Microsecond)
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// want compares two values of one type.
func (f *fixture) want(got, want any) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		f.Fatalf("\n got %+v\nwant %+v", got, want)
	}
}

// rows picks an answer's jobs for want; none is nil.
func rows(ids ...store.JobID) []store.JobID { return slices.Clip(ids) }

// hold, damage and audits use the hooks of the store.
func (f *fixture) hold(id store.JobID) (release func()) {
	f.Helper()
	f.needs("Hold", f.h.Hold == nil)
	if f.h.HoldsAll {
		f.heldAsAWhole(id)
	}
	return f.h.Hold(id)
}

func (f *fixture) damage(id store.JobID, why string) {
	f.Helper()
	f.needs("Damage", f.h.Damage == nil)
	f.h.Damage(id, why)
}

func (f *fixture) audits() []store.Audit {
	f.Helper()
	f.needs("Audits", f.h.Audits == nil)
	return f.h.Audits()
}

func (f *fixture) needs(hook string, missing bool) {
	f.Helper()
	if !missing {
		return
	}
	if why, ok := f.h.Lacks[hook]; ok {
		f.Skipf("the store has no hook %s: %s", hook, why)
	}
	f.Fatalf("the store supplies no hook %s and does not say why", hook)
}
