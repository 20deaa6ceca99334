package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"backwave/store"
	"backwave/store/postgres"
)

// The races below were each found to break a plausible implementation. Parked
// transactions make them happen for certain.

const second = time.Second

func (w *world) add(jobs ...store.NewJob) []store.EnqueueAnswer {
	w.t.Helper()
	for i := range jobs {
		if jobs[i].Name == "" {
			jobs[i].Name = "n"
		}
		if jobs[i].Queue == "" {
			jobs[i].Queue = "q"
		}
	}
	out, err := w.Enqueue(w.t.Context(), &store.Enqueue{Jobs: jobs})
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Rows
}

func (w *world) claim(worker string, number uint64, most int, lease time.Duration) []store.Lease {
	w.t.Helper()
	out, err := w.Claim(w.t.Context(), &store.Claim{Worker: worker, Number: number, Queues: []store.Quota{{Queue: "q", Most: most}}, Max: most, Lease: lease})
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Leases
}

func (w *world) report(o store.Outcome, keys ...store.LeaseKey) []store.ReportAnswer {
	w.t.Helper()
	req := &store.Report{Worker: "w"}
	for _, k := range keys {
		req.Rows = append(req.Rows, store.ReportRow{Key: k, Outcome: o})
	}
	out, err := w.Report(w.t.Context(), req)
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Rows
}

func (w *world) renew(keys ...store.LeaseKey) []store.RenewAnswer {
	w.t.Helper()
	req := &store.Renew{Worker: "w", Lease: time.Minute}
	for _, k := range keys {
		req.Rows = append(req.Rows, store.RenewRow{Key: k})
	}
	out, err := w.Renew(w.t.Context(), req)
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Rows
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %+v, want %+v", what, got, want)
	}
}

// lapse lets a lease end now, on the server's clock, as if its time were up.
func (w *world) lapse(conn *pgx.Conn, job store.JobID) {
	w.t.Helper()
	w.exec(conn, "update job set lease_until = clock(null) where id = $1", job.String())
}

// The lease lives when the holder locks the row, and is over when he rolls back.
func TestLeaseThatEndsWhileItsRowIsHeld(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1)}, store.NewJob{ID: id(2)})
	l := w.claim("w", 1, 2, time.Minute)
	release := w.hold(id(1))
	want(t, "renewal", w.renew(l[0].Key, l[1].Key)[0].Status, store.RenewBusy)
	want(t, "report", w.report(store.Success{}, l[0].Key)[0].Status, store.ReportBusy)
	want(t, "failure", w.report(store.Failure{}, l[0].Key)[0].Status, store.ReportBusy)
	want(t, "neighbour", w.report(store.Success{}, l[0].Key, l[1].Key)[1].Status, store.ReportApplied)
	release()
	w.lapse(w.connect(), id(1))
	want(t, "renewal", w.renew(l[0].Key)[0].Status, store.RenewLost)
	want(t, "report", w.report(store.Success{}, l[0].Key)[0].Status, store.ReportStale)
	want(t, "failure", w.report(store.Failure{}, l[0].Key)[0].Status, store.ReportStale)
}

// The lease ends during the wait for a holder who then lets the row go
// unchanged, of which the server tells nobody.
func TestLeaseThatEndsDuringTheWait(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	setter, holder := w.connect(), w.connect()
	for n := range 12 {
		w.add(store.NewJob{ID: id(n)})
		l := w.claim("w", uint64(n+1), 1, time.Minute)
		w.exec(setter, "update job set lease_until = clock(null) + 20000 where id = $1", id(n).String())
		w.exec(holder, "begin")
		w.exec(holder, "select from job where id = $1 for update", id(n).String())
		released := make(chan error, 1)
		go func() {
			_, err := holder.Exec(t.Context(), "select pg_sleep(0.03); rollback")
			released <- err
		}()
		var got any
		switch n % 3 {
		case 0:
			got = w.report(store.Success{}, l[0].Key)[0].Status
		case 1:
			job := &attempt{worker: "w", length: time.Minute, lease: l[0]}
			got = w.InTx(t.Context(), job, func(pgx.Tx) error { return nil })
		case 2:
			got = w.renew(l[0].Key)[0].Status
		}
		want(t, "holder", <-released, nil)
		j, err := w.Job(t.Context(), id(n))
		want(t, "error", err, nil)
		if j.State != store.Executing || len(j.Ends) > 0 || j.LeaseUntil.Sub(l[0].ExpiresAt) > -30*time.Second {
			t.Fatalf("round %d: a dead lease was reported or renewed: %v, job %+v", n, got, j)
		}
	}
}

// A renewal waits for one of the same lease that goes on for longer; a sweep has
// seen that one and looks at the row again when it would end.
func TestRenewalThatWaitsForALongerOne(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	holder := w.connect()
	covered := func(n int) (covered bool) {
		err := holder.QueryRow(t.Context(), `select exists (select from lapse d join job j on j.worker = d.worker and j.qid = d.qid
			where j.id = $1 and d.check_at <= j.lease_until and (j.due, j.seq) between (d.lo_due, d.lo_seq) and (d.hi_due, d.hi_seq))`, id(n).String()).Scan(&covered)
		want(t, "error", err, nil)
		return covered
	}
	for n := range 5 {
		w.add(store.NewJob{ID: id(n)})
		l := w.claim("w", uint64(n+1), 1, time.Minute)
		w.exec(holder, "begin")
		w.exec(holder, "update job set lease_until = lease_until + 3600000000 where id = $1", id(n).String())
		w.exec(holder, "update lapse set check_at = check_at + 3600000000")
		committed := make(chan error, 1)
		go func() {
			_, err := holder.Exec(t.Context(), "select pg_sleep(0.02); commit")
			committed <- err
		}()
		status := w.renew(l[0].Key)[0].Status
		want(t, "holder", <-committed, nil)
		if status == store.RenewBusy { // the holder was slower than the wait
			status = w.renew(l[0].Key)[0].Status
		}
		want(t, "renewal", status, store.RenewOK)
		want(t, "covered by the directory", covered(n), true)
	}
}

// park runs call, which is about to change a row, in a transaction that has
// done all but commit.
func (w *world) park(sql string, args ...any) (commit func()) {
	w.t.Helper()
	conn := w.connect()
	w.exec(conn, "begin")
	if n := w.exec(conn, sql, args...); n == 0 {
		w.t.Fatal("the parked statement changed nothing")
	}
	return func() { w.t.Helper(); w.exec(conn, "commit") }
}

// moving is what a report of a success does, by hand.
const moving = `with d as (delete from job where id = $1 returning *)
insert into done (fin_at, id, seq, due, enq_at, lease_until, lease_for, claim, qid, worker, attempt, state, kind, terms, name, ukey, payload)
select clock(null), id, seq, due, coalesce(enq_at, due), lease_until, lease_for, claim, qid, worker, attempt, 4, 1, terms, name, ukey, payload from d`

func TestEnqueueRepeatedWhileItsJobMovesToTheFinished(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1)})
	w.claim("w", 1, 1, time.Minute)
	commit := w.park(moving, id(1).String())
	got := w.add(store.NewJob{ID: id(1)}, store.NewJob{ID: id(2)})
	want(t, "held", got[0].Status, store.EnqueueBusy)
	want(t, "neighbour", got[1].Status, store.EnqueueAdded)
	commit()
	want(t, "moved", w.add(store.NewJob{ID: id(1)})[0].Status, store.EnqueueDuplicate)
	want(t, "moved, other", w.add(store.NewJob{ID: id(1), Name: "m"})[0].Status, store.EnqueueDiffers)
}

// The move commits while the enqueue waits for it.
func TestEnqueueWaitsForAMoveThatCommits(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	for i := range 20 {
		w.add(store.NewJob{ID: id(i)})
		w.claim("w", uint64(i+1), 1, time.Minute)
		commit := w.park(moving, id(i).String())
		var wg sync.WaitGroup
		wg.Go(commit)
		if s := w.add(store.NewJob{ID: id(i)})[0].Status; s != store.EnqueueDuplicate && s != store.EnqueueBusy {
			t.Fatalf("round %d: %v", i, s)
		}
		wg.Wait()
	}
	n, err := w.Unfinished(t.Context(), []string{"q"})
	want(t, "error", err, nil)
	want(t, "jobs that were added twice", n, 0)
}

func TestReportSentAgainWhileTheFirstCommits(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1)})
	l := w.claim("w", 1, 1, time.Minute)
	commit := w.park(moving, id(1).String())
	for _, o := range []store.Outcome{store.Success{}, store.Failure{}} {
		want(t, "while it commits", w.report(o, l[0].Key)[0].Status, store.ReportBusy)
	}
	want(t, "renewal", w.renew(l[0].Key)[0].Status, store.RenewBusy)
	commit()
	for _, o := range []store.Outcome{store.Success{}, store.Failure{}} {
		want(t, "afterwards", w.report(o, l[0].Key)[0], store.ReportAnswer{Status: store.ReportAlready, Already: store.EndSuccess})
	}
}

// Many copies of one report at once: one is applied, none is stale.
func TestReportCopiesAreNeverStale(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	for n := range 30 {
		w.add(store.NewJob{ID: id(n)})
		l := w.claim("w", uint64(n+1), 1, time.Minute)
		var o store.Outcome = store.Success{}
		if n%2 == 0 {
			o = store.Discard{Error: "x"}
		}
		var mu sync.Mutex
		count := map[store.ReportStatus]int{}
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				out, err := w.Report(t.Context(), &store.Report{Worker: "w", Rows: []store.ReportRow{{Key: l[0].Key, Outcome: o}}})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				count[out.Rows[0].Status]++
			})
		}
		wg.Wait()
		if count[store.ReportApplied] != 1 || count[store.ReportStale] > 0 {
			t.Fatalf("round %d: %v", n, count)
		}
	}
}

func TestUniqueKeyBehindAStrangersOpenTransaction(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(99)})
	commit := w.park("insert into job (id, due, enq_at, qid, name, ukey) select $1, 0, 0, qid, 'n', 'k' from queue limit 1", id(1).String())
	jobs := []store.NewJob{}
	for i := range 50 {
		jobs = append(jobs, store.NewJob{ID: id(10 + i)})
	}
	jobs[20].UniqueKey = "k"
	for i, a := range w.add(jobs...) {
		if i == 20 {
			want(t, "behind it", a.Status, store.EnqueueBusy)
		} else {
			want(t, "neighbour", a.Status, store.EnqueueAdded)
		}
	}
	commit()
	want(t, "then", w.add(jobs[20])[0], store.EnqueueAnswer{Status: store.EnqueueHeld, Holder: id(1)})
}

// Insert-or-find must not answer a holder that is on its way out.
func TestUniqueKeyWhoseHolderFinishes(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1), UniqueKey: "k"})
	w.claim("w", 1, 1, time.Minute)
	commit := w.park(moving, id(1).String())
	want(t, "on its way", w.add(store.NewJob{ID: id(2), UniqueKey: "k"})[0].Status, store.EnqueueBusy)
	commit()
	want(t, "gone", w.add(store.NewJob{ID: id(2), UniqueKey: "k"})[0].Status, store.EnqueueAdded)
}

func TestRequeueAgainstAHolderAboutToAppear(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1), UniqueKey: "k"})
	l := w.claim("w", 1, 1, time.Minute)
	w.report(store.Discard{}, l[0].Key)
	commit := w.park("insert into job (id, due, enq_at, qid, name, ukey) select $1, 0, 0, qid, 'n', 'k' from queue limit 1", id(2).String())
	requeue := func(request string) store.DoResult {
		out, err := w.Do(t.Context(), &store.Do{Actor: "a", RequestID: request, Command: store.Requeue{Job: id(1)}})
		if err != nil {
			t.Fatal(err)
		}
		return out.Result
	}
	want(t, "while it is open", requeue("r"), store.DoBusy)
	commit()
	want(t, "after", requeue("r"), store.DoRefused)
}

// Whatever the plan, a claim takes no more than it asked for.
func TestClaimStaysWithinItsMaximum(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	var jobs []store.NewJob
	for i := range 500 {
		jobs = append(jobs, store.NewJob{ID: id(i), Queue: []string{"q", "r"}[i%2]})
	}
	w.add(jobs...)
	var mu sync.Mutex
	taken := map[store.JobID]bool{}
	var wg sync.WaitGroup
	for _, worker := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			for n := uint64(1); n <= 20; n++ {
				out, err := w.Claim(t.Context(), &store.Claim{Worker: worker, Number: n, Queues: []store.Quota{{Queue: "q", Most: 3}, {Queue: "r", Most: 2}}, Max: 7, Lease: time.Minute})
				if err != nil || len(out.Leases) > 7 {
					t.Errorf("%d leases, error %v", len(out.Leases), err)
					return
				}
				mu.Lock()
				for _, l := range out.Leases {
					if taken[l.Key.Job] {
						t.Errorf("job %v was taken twice", l.Key.Job)
					}
					taken[l.Key.Job] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	want(t, "taken", len(taken), 500)
}

// A row that a claim saw and that changed before it was locked is judged as it
// is then: cancelled meanwhile, put off, or of a paused queue.
func TestRowThatChangesUnderAClaim(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1)}, store.NewJob{ID: id(2)})
	commit := w.park("update job set due = due + 3600000000 where id = $1", id(1).String())
	got := w.claim("w", 1, 2, time.Minute)
	want(t, "leases", len(got), 1)
	want(t, "job", got[0].Key.Job, id(2))
	commit()
	want(t, "leases", len(w.claim("w", 2, 2, time.Minute)), 0)
}

func TestClaimAfterPauseTakesNothing(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	var jobs []store.NewJob
	for i := range 2000 {
		jobs = append(jobs, store.NewJob{ID: id(i)})
	}
	w.add(jobs...)
	paused := make(chan struct{})
	var wg sync.WaitGroup
	for _, worker := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			for n := uint64(1); ; n++ {
				after := false
				select {
				case <-paused:
					after = true
				default:
				}
				out, err := w.Claim(t.Context(), &store.Claim{Worker: worker, Number: n, Queues: []store.Quota{{Queue: "q", Most: 5}}, Max: 5, Lease: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				if after {
					if len(out.Leases) > 0 {
						t.Errorf("%d leases after the pause", len(out.Leases))
					}
					return
				}
			}
		})
	}
	_, err := w.Do(t.Context(), &store.Do{Actor: "a", RequestID: "p", Command: store.Pause{Queue: "q"}})
	close(paused)
	wg.Wait()
	want(t, "error", err, nil)
}

// A copy of a claim that overtakes, or runs beside, the original takes nothing
// of its own.
func TestClaimCopiesAnswerTheSameLeases(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	var jobs []store.NewJob
	for i := range 200 {
		jobs = append(jobs, store.NewJob{ID: id(i)})
	}
	w.add(jobs...)
	for n := uint64(1); n <= 10; n++ {
		var mu sync.Mutex
		taken := map[store.JobID]bool{}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				out, err := w.Claim(t.Context(), &store.Claim{Worker: "w", Number: n, Queues: []store.Quota{{Queue: "q", Most: 5}}, Max: 5, Lease: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				for _, l := range out.Leases {
					taken[l.Key.Job] = true
				}
			})
		}
		wg.Wait()
		want(t, "leases of one number", len(taken), 5)
	}
}

// A client that is killed half-way through a sweep has disposed of nothing, and
// nothing is forgotten.
func TestSweeperKilledHalfWay(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1)})
	w.claim("w", 1, 1, second)
	conn := w.connect()
	w.exec(conn, "update job set lease_until = clock(null) - 1")
	w.exec(conn, "update lapse set check_at = clock(null) - 1")
	w.exec(conn, "begin")
	w.exec(conn, "select did from lapse for update") // as far as a sweep may come
	w.exec(conn, "delete from lapse")
	sweep := func() int {
		out, err := w.Sweep(t.Context(), &store.Sweep{Queues: []string{"q"}, Max: 10})
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Disposed)
	}
	want(t, "beside it", sweep(), 0)
	pid := conn.PgConn().PID()
	w.exec(w.connect(), "select pg_terminate_backend($1, 5000)", int32(pid))
	want(t, "after it", sweep(), 1)
	want(t, "again", sweep(), 0)
	_ = conn.Close(context.Background())
}
