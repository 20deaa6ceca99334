package storetest

import (
	"fmt"
	"strings"
	"time"

	"backwave/store"
)

// send hands any request to the store and returns its error.
func (f *fixture) send(req store.Request) (err error) {
	switch r := req.(type) {
	case *store.Claim:
		_, err = f.h.Store.Claim(f.ctx, r)
	case *store.Renew:
		_, err = f.h.Store.Renew(f.ctx, r)
	case *store.Report:
		_, err = f.h.Store.Report(f.ctx, r)
	case *store.Sweep:
		_, err = f.h.Store.Sweep(f.ctx, r)
	case *store.Enqueue:
		_, err = f.h.Store.Enqueue(f.ctx, r)
	case *store.Do:
		_, err = f.h.Store.Do(f.ctx, r)
	}
	return err
}

// named are requests in which s is, one after the other, each kind of name.
func (f *fixture) named(s string) []store.Request {
	key := store.LeaseKey{Job: f.id(), Attempt: 1, Claim: 1}
	return []store.Request{
		&store.Claim{Worker: s, Number: 1, Queues: queues("q"), Max: 1, Lease: minute},
		&store.Claim{Worker: "w", Number: 1, Queues: queues("q", s), Max: 1, Lease: minute},
		&store.Renew{Worker: s, Lease: minute, Rows: []store.RenewRow{{Key: key}}},
		&store.Report{Worker: s, Rows: []store.ReportRow{{Key: key, Outcome: store.Success{}}}},
		&store.Sweep{Queues: []string{"q", s}, Max: 1},
		&store.Enqueue{Jobs: []store.NewJob{{ID: f.id(), Name: s, Queue: "q"}}},
		&store.Enqueue{Jobs: []store.NewJob{{ID: f.id(), Name: "n", Queue: s}}},
		&store.Do{Actor: s, RequestID: fmt.Sprint("id", f.made), Command: store.Resume{Queue: "q"}},
		&store.Do{Actor: "a", RequestID: s, Command: store.Resume{Queue: "q"}},
		&store.Do{Actor: "a", RequestID: fmt.Sprint("b", f.made), Command: store.Pause{Queue: s}},
		&store.Do{Actor: "a", RequestID: fmt.Sprint("c", f.made), Command: store.Resume{Queue: s}},
	}
}

// sized are requests of each kind that has rows, or a maximum, with n of them.
func (f *fixture) sized(n int) []store.Request {
	var (
		qs []store.Quota
		ss []string
		rs []store.RenewRow
		ps []store.ReportRow
		js []store.NewJob
	)
	for i := range n {
		key := store.LeaseKey{Job: store.JobID{1}, Attempt: i, Claim: 1}
		qs, ss = append(qs, store.Quota{Queue: fmt.Sprint("q", i)}), append(ss, fmt.Sprint("q", i))
		rs, ps = append(rs, store.RenewRow{Key: key}), append(ps, store.ReportRow{Key: key, Outcome: store.Success{}})
		js = append(js, store.NewJob{ID: f.id(), Name: "n", Queue: "sized"})
	}
	return []store.Request{
		&store.Claim{Worker: "w", Number: 1, Queues: qs, Max: 1, Lease: minute},
		&store.Claim{Worker: "w", Number: 1, Queues: queues("none"), Max: n, Lease: minute},
		&store.Renew{Worker: "w", Lease: minute, Rows: rs},
		&store.Report{Worker: "w", Rows: ps},
		&store.Sweep{Queues: ss, Max: 1},
		&store.Sweep{Queues: ss[:1], Max: n},
		&store.Enqueue{Jobs: js},
	}
}

var bounds = []testCase{
	{"X1", "a name is not empty", func(f *fixture) {
		for _, r := range f.named("") {
			f.invalid(f.send(r))
		}
	}},
	{"X1", "a name holds no NUL and is UTF-8", func(f *fixture) {
		for _, s := range []string{"a\x00b", "a\xffb", "\xc3"} {
			for _, r := range f.named(s) {
				f.invalid(f.send(r))
			}
			f.invalid(f.send(&store.Enqueue{Jobs: []store.NewJob{{ID: f.id(), Name: "n", Queue: "q", UniqueKey: s}}}))
		}
	}},
	{"X1", "a name has at most 255 bytes, not runes", func(f *fixture) {
		long := strings.Repeat("é", 127) + "x"
		for _, r := range f.named(long) {
			f.ok(f.send(r))
		}
		f.ok(f.send(&store.Enqueue{Jobs: []store.NewJob{{ID: f.id(), Name: "n", Queue: "q", UniqueKey: long}}}))
		for _, r := range f.named(long + "x") {
			f.over(f.send(r), 256, 255)
		}
		f.over(f.send(&store.Enqueue{Jobs: []store.NewJob{{ID: f.id(), Name: "n", Queue: "q", UniqueKey: long + "x"}}}), 256, 255)
	}},
	{"X2", "a payload has at most 1 MiB", func(f *fixture) {
		id := f.add(store.NewJob{Payload: make([]byte, 1_048_576)})
		f.want(len(f.take().Payload), 1_048_576)
		err := f.send(&store.Enqueue{Jobs: []store.NewJob{{ID: f.id(), Name: "n", Queue: "q", Payload: make([]byte, 1_048_577)}}})
		f.over(err, 1_048_577, 1_048_576)
		if !strings.Contains(err.Error(), "payload") {
			f.Fatalf("%v does not name the field", err)
		}
		f.want(f.state(id), store.Executing)
	}},
	{"X2", "progress has at most 4 KiB", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.want(f.renewed(store.Renew{Worker: "w", Rows: []store.RenewRow{{Key: l.Key, Progress: make([]byte, 4096)}}})[0].Status, store.RenewOK)
		f.unchanged(func() {
			f.over(f.send(&store.Renew{Worker: "w", Lease: minute, Rows: []store.RenewRow{{Key: l.Key, Progress: make([]byte, 4097)}}}), 4097, 4096)
		}, id)
	}},
	{"X3", "a request has at most 10,000 rows", func(f *fixture) {
		for _, r := range f.sized(10_000) {
			f.ok(f.send(r))
		}
		for _, r := range f.sized(10_001) {
			f.over(f.send(r), 10_001, 10_000)
		}
	}},
	{"X3", "maximum and number are at least 1, a quota 0, and there is a queue", func(f *fixture) {
		for _, r := range []store.Request{
			&store.Claim{Worker: "w", Number: 1, Queues: queues("q"), Max: 0, Lease: minute},
			&store.Claim{Worker: "w", Number: 1, Queues: queues("q"), Max: -1, Lease: minute},
			&store.Claim{Worker: "w", Number: 0, Queues: queues("q"), Max: 1, Lease: minute},
			&store.Claim{Worker: "w", Number: 1, Max: 1, Lease: minute},
			&store.Claim{Worker: "w", Number: 1, Queues: []store.Quota{{Queue: "q", Most: -1}}, Max: 1, Lease: minute},
			&store.Sweep{Queues: []string{"q"}, Max: 0},
			&store.Sweep{Max: 1},
		} {
			f.invalid(f.send(r))
		}
		f.ok(f.send(&store.Sweep{Any: true, Max: 1}))
	}},
	{"X4", "a lease is 1 s to 10 years", func(f *fixture) {
		for _, d := range []time.Duration{-minute, 0, time.Second - 1, 87_600*time.Hour + 1} {
			f.invalid(f.send(&store.Claim{Worker: "w", Number: 1, Queues: queues("q"), Max: 1, Lease: d}))
			f.invalid(f.send(&store.Renew{Worker: "w", Lease: d}))
		}
		for _, d := range []time.Duration{time.Second, 87_600 * time.Hour} {
			f.ok(f.send(&store.Claim{Worker: "w", Number: 1, Queues: queues("q"), Max: 1, Lease: d}))
			f.ok(f.send(&store.Renew{Worker: "w", Lease: d}))
		}
	}},
	{"X5", "nothing is listed twice, in short requests and long ones", func(f *fixture) {
		for _, n := range []int{2, 31, 32, 100} {
			r := f.sized(n)
			claim, renew, report, sweep := r[0].(*store.Claim), r[2].(*store.Renew), r[3].(*store.Report), r[4].(*store.Sweep)
			f.ok(f.send(claim))
			f.ok(f.send(renew))
			claim.Queues[n-1], renew.Rows[n-1] = claim.Queues[0], renew.Rows[0]
			report.Rows[n-1], sweep.Queues[n-1] = report.Rows[0], sweep.Queues[0]
			for _, req := range []store.Request{claim, renew, report, sweep} {
				f.invalid(f.send(req))
			}
		}
	}},
	{"X6", "a job has an id, and a ceiling from 0 to 1,000,000", func(f *fixture) {
		job := func(change func(*store.NewJob)) error {
			n := f.fill(store.NewJob{})
			change(&n)
			return f.send(&store.Enqueue{Jobs: []store.NewJob{n}})
		}
		f.invalid(job(func(n *store.NewJob) { n.ID = store.JobID{} }))
		f.invalid(job(func(n *store.NewJob) { n.MaxAttempts = -1 }))
		f.over(job(func(n *store.NewJob) { n.MaxAttempts = 1_000_001 }), 1_000_001, 1_000_000)
		f.ok(job(func(n *store.NewJob) { n.MaxAttempts = 1_000_000 }))
	}},
	{"X6", "policies keep within their numbers, by default and by name", func(f *fixture) {
		for _, p := range []store.Policy{{MaxAttempts: -1}, {First: -1}, {First: 87_601 * time.Hour}, {Cap: -1}, {Cap: 87_601 * time.Hour}, {Factor: -1}, {Factor: 1001}, {Jitter: -1}, {Jitter: 51}} {
			for _, t := range []*store.Terms{{Default: p}, {ByName: []store.NamedPolicy{{Name: "n", Policy: p}}}} {
				f.invalid(f.send(&store.Claim{Worker: "w", Number: 1, Queues: queues("q"), Max: 1, Lease: minute, Terms: t}))
			}
		}
		f.over(f.send(&store.Claim{Worker: "w", Number: 1, Queues: queues("q"), Max: 1, Lease: minute, Terms: &store.Terms{Default: store.Policy{MaxAttempts: 1_000_001}}}), 1_000_001, 1_000_000)
		id := f.job()
		f.takes(store.Claim{Terms: &store.Terms{Default: store.Policy{MaxAttempts: 1_000_000, First: 87_600 * time.Hour, Cap: 87_600 * time.Hour, Factor: 1000, NoJitter: true}}})
		f.want(f.read(id).RetryDelay, 87_600*time.Hour)
	}},
	{"X7", "an outcome or command that is missing or a pointer is refused", func(f *fixture) {
		id := f.job()
		l := f.take()
		f.unchanged(func() {
			for _, o := range []store.Outcome{nil, &store.Success{}, &store.Released{}} {
				f.invalid(f.send(&store.Report{Worker: "w", Rows: []store.ReportRow{{Key: l.Key, Outcome: o}}}))
			}
			for _, c := range []store.Command{nil, &store.Cancel{Job: id}, &store.Pause{Queue: "q"}} {
				f.invalid(f.send(&store.Do{Actor: "a", RequestID: "r", Command: c}))
			}
		}, id)
	}},
}
