package storetest

import (
	"errors"
	"sync"
	"time"

	"backwave/store"
)

var answers = []testCase{
	{"A1", "a stale row harms no neighbour", func(f *fixture) {
		a, b := f.job(), f.job()
		out := f.claimed(store.Claim{})
		bad := out.Leases[0].Key
		bad.Attempt = 9
		got := f.reported(store.Report{Worker: "w", Rows: []store.ReportRow{{Key: bad, Outcome: store.Success{}}, {Key: out.Leases[1].Key, Outcome: store.Success{}}}})
		f.want(got, []store.ReportAnswer{{Status: store.ReportStale}, {Status: store.ReportApplied, To: store.Succeeded}})
		f.want([]store.State{f.state(a), f.state(b)}, []store.State{store.Executing, store.Succeeded})
	}},
	{"A1", "a rejected, a held and an unknown row harm no neighbour", func(f *fixture) {
		big, held, good := f.job(), f.job(), f.job()
		out := f.claimed(store.Claim{})
		release := f.hold(held)
		unknown := store.LeaseKey{Job: f.id(), Attempt: 1, Claim: 1}
		got := f.reported(store.Report{Worker: "w", Rows: []store.ReportRow{
			{Key: out.Leases[0].Key, Outcome: store.Success{Output: make([]byte, 65_537)}},
			{Key: out.Leases[1].Key, Outcome: store.Success{}},
			{Key: unknown, Outcome: store.Success{}},
			{Key: out.Leases[2].Key, Outcome: store.Success{}},
		}})
		release()
		var status []store.ReportStatus
		for _, a := range got {
			status = append(status, a.Status)
		}
		f.want(status, []store.ReportStatus{store.ReportRejected, store.ReportBusy, store.ReportStale, store.ReportApplied})
		f.want([]store.State{f.state(big), f.state(held), f.state(good)}, []store.State{store.Executing, store.Executing, store.Succeeded})
	}},
	{"A1", "a lost and a held row harm no neighbour of a renewal", func(f *fixture) {
		held, good := f.job(), f.job()
		out := f.claimed(store.Claim{})
		release := f.hold(held)
		bad := store.LeaseKey{Job: good, Attempt: 1, Claim: 77}
		f.advance(10 * time.Second)
		got := f.renewed(store.Renew{Worker: "w", Rows: []store.RenewRow{{Key: bad}, {Key: out.Leases[0].Key}, {Key: out.Leases[1].Key}}})
		release()
		f.want(got, []store.RenewAnswer{{Status: store.RenewLost}, {Status: store.RenewBusy}, {Status: store.RenewOK, ExpiresAt: f.in(minute)}})
		f.want(f.read(good).LeaseUntil, f.in(minute))
		f.want(f.read(held).LeaseUntil, f.in(50*time.Second))
	}},
	{"A2", "renew, report, enqueue and commands answer busy for a held row and change nothing", func(f *fixture) {
		id := f.job()
		l := f.take()
		release := f.hold(id)
		f.unchanged(func() {
			f.want(f.renew(l), store.RenewBusy)
			f.want(f.report(l, store.Success{}), store.ReportAnswer{Status: store.ReportBusy})
			f.want(f.enqueue(f.fill(store.NewJob{ID: id})), []store.EnqueueAnswer{{Status: store.EnqueueBusy}})
			f.want(f.do(store.Cancel{Job: id}), store.DoBusy)
			f.want(f.do(store.Requeue{Job: id}), store.DoBusy)
		}, id)
		release()
		f.ends(l, store.Success{}, store.Succeeded)
	}},
	{"A2", "claim and sweep pass a held row over", func(f *fixture) {
		id := f.job()
		release := f.hold(id)
		f.want(f.claim(store.Claim{}), rows())
		release()
		f.take()
		f.advance(minute)
		release = f.hold(id)
		f.want(f.sweep(), rows())
		release()
		f.want(f.sweep(), rows(id))
	}},
	{"A3", "of claims, reports and sweeps at one time each job is one's", concurrently},
	{"A4", "a refused request has changed nothing", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.unchanged(func() {
			_, err := f.h.Store.Report(f.ctx, &store.Report{Worker: "w", Rows: []store.ReportRow{{Key: l.Key, Outcome: store.Success{}}, {Key: store.LeaseKey{}}}})
			f.invalid(err)
			_, err = f.h.Store.Renew(f.ctx, &store.Renew{Worker: "w", Lease: minute * 2, Rows: []store.RenewRow{{Key: l.Key}, {Progress: make([]byte, 4097)}}})
			f.over(err, 4097, 4096)
		}, id)
		other := f.id()
		_, err := f.h.Store.Enqueue(f.ctx, &store.Enqueue{Jobs: []store.NewJob{{ID: other, Name: "work", Queue: "q"}, {ID: f.id(), Name: "work", Queue: ""}}})
		f.invalid(err)
		_, err = f.h.Store.Job(f.ctx, other)
		f.want(errors.Is(err, store.ErrNotFound), true)
	}},
	{"A5", "every reply carries the instant of the store's clock", func(f *fixture) {
		f.advance(5 * time.Second) // the fixture compares the instant of every reply with its clock
		id := f.job()
		f.want(f.read(id).Enqueued, start+5_000_000)
		f.advance(-20 * time.Second)
		out := f.claimed(store.Claim{Queues: queues("empty")})
		f.want(out.At, start-15_000_000)
	}},
	{"A6", "what a reader got is not changed by later calls, nor changes a job", func(f *fixture) {
		id := f.add(store.NewJob{Payload: []byte("abc")})
		f.ends(f.take(), store.Failure{Error: "first"}, store.Scheduled)
		shown, err := f.h.Store.Job(f.ctx, id)
		f.ok(err)
		shown.Payload[0], shown.Ends[0].Error = 'X', "X"
		j := f.read(id)
		f.want([]string{string(j.Payload), j.Ends[0].Error}, []string{"abc", "first"})
		f.advance(10 * time.Second)
		got := f.take()
		f.want(string(got.Payload), "abc")
		f.want([]int{shown.Attempt, len(shown.Ends)}, []int{1, 1})
	}},
	{"A6", "jobs are listed by queue and state, oldest first, up to the limit, and counted", func(f *fixture) {
		a, b, c := f.job(), f.job(), f.job()
		f.add(store.NewJob{Queue: "other"})
		f.ends(f.takes(store.Claim{Max: 1}), store.Success{}, store.Succeeded)
		list := func(limit int, states ...store.State) (ids []store.JobID) {
			jobs, err := f.h.Store.Jobs(f.ctx, "q", states, limit)
			f.ok(err)
			for _, j := range jobs {
				ids = append(ids, j.ID)
			}
			return ids
		}
		f.want(list(9), rows(a, b, c))
		f.want(list(2), rows(a, b))
		f.want(list(9, store.Scheduled), rows(b, c))
		f.want(list(9, store.Succeeded, store.Scheduled), rows(a, b, c))
		n, err := f.h.Store.Unfinished(f.ctx, []string{"q", "other", "none"})
		f.ok(err)
		f.want(n, 3)
	}},
	{"A7", "queues are listed by name with their jobs by state, if they hold any or are paused", func(f *fixture) {
		list := func() []store.QueueView {
			qs, err := f.h.Store.Queues(f.ctx)
			f.ok(err)
			return qs
		}
		f.want(len(list()), 0)
		f.job()
		f.job()
		f.add(store.NewJob{Queue: "Q'é"})
		f.ends(f.takes(store.Claim{Max: 1}), store.Success{}, store.Succeeded)
		f.do(store.Pause{Queue: "p"})
		f.do(store.Pause{Queue: "gone"})
		f.do(store.Resume{Queue: "gone"})
		f.want(list(), []store.QueueView{
			{Name: "Q'é", Jobs: map[store.State]int{store.Scheduled: 1}},
			{Name: "p", Paused: true, Jobs: map[store.State]int{}},
			{Name: "q", Jobs: map[store.State]int{store.Scheduled: 1, store.Succeeded: 1}},
		})
		f.claim(store.Claim{})
		f.want(list()[2].Jobs, map[store.State]int{store.Executing: 1, store.Succeeded: 1})
	}},
}

// crew are four workers that do the same thing at one time.
var crew = []string{"w1", "w2", "w3", "w4"}

func (f *fixture) together(do func(worker string) error) {
	f.Helper()
	var wg sync.WaitGroup
	for _, w := range crew {
		wg.Go(func() {
			if err := do(w); err != nil {
				f.Error(err)
			}
		})
	}
	wg.Wait()
	f.watch()
}

// concurrently lets the crew claim 200 jobs, report half of them, every
// outcome four times, and sweep up the rest.
func concurrently(f *fixture) {
	const jobs = 200
	for range jobs {
		f.job()
	}
	var mu sync.Mutex
	taken, ended := map[store.JobID]int{}, map[store.JobID]int{}
	var reports []store.Report
	f.together(func(w string) error {
		for n := uint64(1); n <= 100; n++ {
			out, err := f.h.Store.Claim(f.ctx, &store.Claim{Worker: w, Number: n, Queues: queues("q"), Max: 7, Lease: minute, Terms: terms()})
			if err != nil {
				return err
			}
			mu.Lock()
			for i, l := range out.Leases {
				taken[l.Key.Job]++
				if i%2 == 0 {
					reports = append(reports, store.Report{Worker: w, Rows: []store.ReportRow{{Key: l.Key, Outcome: store.Success{}}}})
				}
			}
			mu.Unlock()
		}
		return nil
	})
	f.once("taken", taken, jobs)
	f.together(func(string) error {
		for i := range reports {
			out, err := f.h.Store.Report(f.ctx, &reports[i])
			if err != nil {
				return err
			}
			mu.Lock()
			if out.Rows[0].Status == store.ReportApplied {
				ended[reports[i].Rows[0].Key.Job]++
			}
			mu.Unlock()
		}
		return nil
	})
	f.once("reported", ended, len(reports))
	f.advance(minute)
	f.together(func(string) error {
		for range 100 {
			out, err := f.h.Store.Sweep(f.ctx, &store.Sweep{Queues: []string{"q"}, Max: 5})
			if err != nil {
				return err
			}
			mu.Lock()
			for _, l := range out.Disposed {
				ended[l.Key.Job]++
			}
			mu.Unlock()
		}
		return nil
	})
	f.once("ended", ended, jobs)
}

// once checks that n jobs were counted, each once.
func (f *fixture) once(what string, count map[store.JobID]int, n int) {
	f.Helper()
	f.want(len(count), n)
	for id, k := range count {
		if k != 1 {
			f.Errorf("job %v was %s %d times", id, what, k)
		}
	}
}

// invalid and over check the type of an error, and what it names.
func (f *fixture) invalid(err error) {
	f.Helper()
	if e, ok := errors.AsType[*store.InvalidError](err); !ok || e.Field == "" || e.Reason == "" {
		f.Fatalf("got error %v, want a *store.InvalidError with field and reason", err)
	}
}

func (f *fixture) over(err error, got, bound int64) {
	f.Helper()
	e, ok := errors.AsType[*store.BoundError](err)
	if !ok || e.Field == "" || e.Got != got || e.Bound != bound {
		f.Fatalf("got error %#v, want a *store.BoundError of %d over %d", err, got, bound)
	}
}
