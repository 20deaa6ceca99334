package postgres_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"backwave/store"
	"backwave/store/postgres"
)

var crowd = flag.Duration("crowd", 4*time.Second, "how long the eight clients of the crowd go on")

// Eight clients, in pairs under one worker, send overlapping reports (each
// twice, with different outcomes), renewals, sweeps, cancels, requeues, claims
// and completions at once. No call may meet a deadlock, and afterwards every
// attempt is accounted for.
func TestCrowdMeetsNoDeadlock(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	const jobs = 300
	var list []store.NewJob
	for i := range jobs {
		n := store.NewJob{ID: id(i + 1), Name: "n", Queue: []string{"q", "r"}[i%2]}
		if i%3 == 0 {
			n.UniqueKey = fmt.Sprint("k", i)
		}
		list = append(list, n)
	}
	w.add(list...)
	end := time.Now().Add(*crowd)
	var number [4]atomic.Uint64
	var calls, late atomic.Int64
	var wg sync.WaitGroup
	for client := range 8 {
		c := &member{w: w, list: list, worker: fmt.Sprint("w", client/2), number: &number[client/2], rnd: rand.New(rand.NewPCG(1, uint64(client)))}
		wg.Go(func() {
			for time.Now().Before(end) {
				err := c.round(client)
				if store.FaultOf(err) == store.FaultLockTimeout { // a machine so busy that somebody's turn took long
					late.Add(1)
				} else if err != nil {
					t.Errorf("client %d: %v", client, err)
					return
				}
				calls.Add(1)
			}
		})
	}
	wg.Wait()
	ended := map[store.State]int{}
	for i := range list {
		j, err := w.Job(t.Context(), list[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		running := 0
		if j.State == store.Executing {
			running = 1
		}
		if j.Attempt != len(j.Ends)+j.EndsCut+running {
			t.Errorf("job %v: %d attempts, %d ends, %d cut, state %v", j.ID, j.Attempt, len(j.Ends), j.EndsCut, j.State)
		}
		ended[j.State]++
	}
	var both, uncovered int
	hand := w.connect()
	if err := hand.QueryRow(t.Context(), "select count(*) from job join done using (id)").Scan(&both); err != nil {
		t.Fatal(err)
	}
	want(t, "jobs in both tables", both, 0)
	err := hand.QueryRow(t.Context(), `select count(*) from job j where lease_until is not null and not exists (
		select from lapse d where d.worker = j.worker and d.qid = j.qid and d.check_at <= j.lease_until
		and (j.due, j.seq) >= (d.lo_due, d.lo_seq) and (j.due, j.seq) <= (d.hi_due, d.hi_seq))`).Scan(&uncovered)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "leases that no sweep would find", uncovered, 0)
	if late.Load()*10 > calls.Load() {
		t.Errorf("%d of %d rounds waited too long", late.Load(), calls.Load())
	}
	t.Logf("%d rounds, %d of them late, jobs by state %v", calls.Load(), late.Load(), ended)
}

// member is one client.
type member struct {
	w      *world
	list   []store.NewJob
	worker string
	number *atomic.Uint64
	rnd    *rand.Rand
}

// round claims, and then does to what it got, and to what others have, all at
// once what clients do.
func (m *member) round(client int) error {
	ctx := m.w.t.Context()
	out, err := m.w.Claim(ctx, &store.Claim{Worker: m.worker, Number: m.number.Add(1), Queues: []store.Quota{{Queue: "q", Most: 5}, {Queue: "r", Most: 10}}, Max: 30, Lease: second, Terms: &store.Terms{Default: store.Policy{MaxAttempts: 5, First: time.Millisecond}}})
	if err != nil {
		return err
	}
	var keys []store.LeaseKey
	for _, l := range out.Leases {
		keys = append(keys, l.Key)
	}
	m.rnd.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	var acts []func() error
	for range 2 {
		report, renew := &store.Report{Worker: m.worker}, &store.Renew{Worker: m.worker, Lease: second}
		for _, k := range keys {
			if m.rnd.IntN(10) > 0 {
				report.Rows = append(report.Rows, store.ReportRow{Key: k, Outcome: m.outcome()})
			}
			renew.Rows = append(renew.Rows, store.RenewRow{Key: k})
		}
		acts = append(acts,
			func() error { _, err := m.w.Report(ctx, report); return err },
			func() error { _, err := m.w.Renew(ctx, renew); return err })
	}
	job := m.list[m.rnd.IntN(len(m.list))].ID
	request := fmt.Sprint(client, " ", m.number.Load())
	again := m.list[m.rnd.IntN(250):][:50]
	acts = append(acts,
		func() error { _, err := m.w.Sweep(ctx, &store.Sweep{Queues: []string{"q", "r"}, Max: 20}); return err },
		func() error { return m.command(request+"c", store.Cancel{Job: job, Force: client%2 == 0}) },
		func() error { return m.command(request+"r", store.Requeue{Job: job}) },
		func() error { _, err := m.w.Enqueue(ctx, &store.Enqueue{Jobs: again}); return err })
	errs := make(chan error, len(acts))
	for _, act := range acts {
		go func() { errs <- act() }()
	}
	for range acts {
		if e := <-errs; e != nil {
			err = e
		}
	}
	return err
}

func (m *member) command(request string, c store.Command) error {
	_, err := m.w.Do(m.w.t.Context(), &store.Do{Actor: "a", RequestID: request, Command: c})
	return err
}

func (m *member) outcome() store.Outcome {
	switch m.rnd.IntN(8) {
	case 0:
		return store.Success{}
	case 1:
		return store.Failure{Error: "e"}
	case 2:
		return store.Discard{}
	case 3:
		return store.Snooze{}
	}
	return store.Released{}
}
