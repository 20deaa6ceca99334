package checker

import (
	"slices"
	"time"

	"backwave/store"
)

// refStore is a store as naive as can be: a slice of jobs, every rule spelled
// out once, and a switch that plants one bug. It shares no code with the stores
// of the product or with the model that judges it.
type refStore struct {
	now    store.Instant
	jobs   []*refJob
	paused map[string]bool
	done   map[string]store.DoResult
	bug    string
}

type refJob struct {
	n                      store.NewJob
	state                  store.State
	attempt, base, unknown int
	cancel                 bool
	due, until             store.Instant
	worker                 string
	claim                  uint64
	lease, delay           time.Duration
	max                    int
	ends                   []refEnd
}

type refEnd struct {
	worker  string
	claim   uint64
	attempt int
	kind    store.EndKind
	at      store.Instant
	lease   time.Duration
}

func newRef(bug string) *refStore {
	return &refStore{now: at(0), paused: map[string]bool{}, done: map[string]store.DoResult{}, bug: bug}
}

// at is an instant n seconds into the test's day.
func at(n float64) store.Instant {
	return store.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).Add(time.Duration(n * float64(time.Second)))
}

func (r *refStore) job(id store.JobID) *refJob {
	for _, j := range r.jobs {
		if j.n.ID == id {
			return j
		}
	}
	return nil
}

func (r *refStore) apply(q store.Request) store.Reply {
	switch q := q.(type) {
	case *store.Enqueue:
		p := &store.Enqueued{At: r.now}
		for _, n := range q.Jobs {
			p.Rows = append(p.Rows, r.enqueue(n))
		}
		return p
	case *store.Claim:
		return r.claim(q)
	case *store.Renew:
		p := &store.Renewed{At: r.now}
		for _, w := range q.Rows {
			p.Rows = append(p.Rows, r.renew(q, w.Key))
		}
		return p
	case *store.Report:
		p := &store.Reported{At: r.now}
		for _, w := range q.Rows {
			p.Rows = append(p.Rows, r.report(q.Worker, w))
		}
		return p
	case *store.Sweep:
		return r.sweep(q)
	case *store.Do:
		return r.do(q)
	}
	panic("no such request")
}

func (r *refStore) enqueue(n store.NewJob) store.EnqueueAnswer {
	if j := r.job(n.ID); j != nil && r.bug != "enqueue twice" {
		if j.n.Name == n.Name && j.n.Queue == n.Queue && string(j.n.Payload) == string(n.Payload) {
			return store.EnqueueAnswer{Status: store.EnqueueDuplicate}
		}
		return store.EnqueueAnswer{Status: store.EnqueueDiffers}
	}
	if h := r.holder(n.UniqueKey, n.ID); h != nil && r.bug != "unique ignored" {
		return store.EnqueueAnswer{Status: store.EnqueueHeld, Holder: h.n.ID}
	}
	r.jobs = slices.DeleteFunc(r.jobs, func(j *refJob) bool { return j.n.ID == n.ID })
	j := &refJob{n: n, state: store.Scheduled, due: r.now.Add(n.Delay)}
	if n.HasAt {
		j.due = n.At
	}
	r.jobs = append(r.jobs, j)
	return store.EnqueueAnswer{Status: store.EnqueueAdded}
}

func (r *refStore) holder(key string, but store.JobID) *refJob {
	for _, j := range r.jobs {
		if key != "" && j.n.UniqueKey == key && j.n.ID != but && !j.state.Terminal() {
			return j
		}
	}
	return nil
}

func (r *refStore) claim(q *store.Claim) *store.Claimed {
	p := &store.Claimed{At: r.now}
	for _, j := range r.jobs { // a repeat answers what it took
		if j.state == store.Executing && j.worker == q.Worker && j.claim == q.Number && r.now < j.until {
			p.Leases = append(p.Leases, j.leased())
		}
	}
	if len(p.Leases) > 0 {
		return p
	}
	for _, j := range r.jobs {
		listed := slices.ContainsFunc(q.Queues, func(u store.Quota) bool { return u.Queue == j.n.Queue })
		free := j.state == store.Scheduled || r.bug == "double claim" && j.state == store.Executing
		due := r.now >= j.due || r.bug == "claim before due"
		if len(p.Leases) < q.Max && listed && free && due && (!r.paused[j.n.Queue] || r.bug == "pause ignored") {
			r.lease(j, q)
			p.Leases = append(p.Leases, j.leased())
		}
	}
	return p
}

func (r *refStore) lease(j *refJob, q *store.Claim) {
	p := q.Terms.For(j.n.Name)
	j.state, j.worker, j.claim, j.lease, j.until = store.Executing, q.Worker, q.Number, q.Lease, r.now.Add(q.Lease)
	switch r.bug {
	case "attempt not counted":
		j.attempt = max(j.attempt, 1)
	case "attempt skipped":
		j.attempt += 2
	default:
		j.attempt++
	}
	j.max, j.delay = p.MaxAttempts, p.Delay(store.Token{Job: j.n.ID, Attempt: j.attempt}, j.attempt-j.base)
	if j.n.MaxAttempts > 0 {
		j.max = j.n.MaxAttempts
	}
}

func (j *refJob) leased() store.Lease {
	return store.Lease{Key: store.LeaseKey{Job: j.n.ID, Attempt: j.attempt, Claim: j.claim}, Name: j.n.Name, Queue: j.n.Queue, Payload: j.n.Payload, Base: j.base, ExpiresAt: j.until}
}

// fence reports whether key is that of j's live lease.
func (r *refStore) fence(j *refJob, worker string, k store.LeaseKey) bool {
	return j != nil && j.state == store.Executing &&
		(j.worker == worker || r.bug == "fence without worker") &&
		(j.claim == k.Claim || r.bug == "fence without claim number") &&
		(j.attempt == k.Attempt || r.bug == "fence without attempt") &&
		(r.now < j.until || r.bug == "fence at expiry" && r.now == j.until || r.bug == "fence without expiry")
}

func (r *refStore) renew(q *store.Renew, k store.LeaseKey) store.RenewAnswer {
	j := r.job(k.Job)
	if !r.fence(j, q.Worker, k) {
		return store.RenewAnswer{Status: store.RenewLost}
	}
	j.until = r.now.Add(q.Lease)
	if r.bug == "renewal not written" {
		j.until = j.until.Add(-q.Lease / 2)
	}
	return store.RenewAnswer{Status: store.RenewOK, ExpiresAt: r.now.Add(q.Lease), Cancel: j.cancel && r.bug != "cancel not told"}
}

func (r *refStore) report(worker string, w store.ReportRow) store.ReportAnswer {
	j := r.job(w.Key.Job)
	if j == nil {
		return store.ReportAnswer{Status: store.ReportStale}
	}
	if r.fence(j, worker, w.Key) {
		r.end(j, w.Outcome.Kind(), w.Outcome)
		return store.ReportAnswer{Status: store.ReportApplied, To: j.state}
	}
	for _, e := range j.ends {
		if e.worker == worker && e.claim == w.Key.Claim && e.attempt == w.Key.Attempt && e.kind < store.EndLapse {
			switch r.bug {
			case "outcome applied twice":
				r.end(j, w.Outcome.Kind(), w.Outcome)
				return store.ReportAnswer{Status: store.ReportApplied, To: j.state}
			case "kept end forgotten":
				return store.ReportAnswer{Status: store.ReportStale}
			case "already with the kind asked":
				return store.ReportAnswer{Status: store.ReportAlready, Already: w.Outcome.Kind()}
			}
			return store.ReportAnswer{Status: store.ReportAlready, Already: e.kind}
		}
	}
	return store.ReportAnswer{Status: store.ReportStale}
}

// end ends the attempt of j. o is nil if no worker reported it.
func (r *refStore) end(j *refJob, kind store.EndKind, o store.Outcome) {
	j.ends = append(j.ends, refEnd{j.worker, j.claim, j.attempt, kind, r.now, j.lease})
	rest := j.delay
	to := store.Scheduled
	switch kind {
	case store.EndSuccess:
		to = store.Succeeded
	case store.EndFailure, store.EndLapse:
		if f, ok := o.(store.Failure); ok && f.HasRetryAfter {
			rest = f.RetryAfter
		}
		if r.bug == "retried at once" {
			rest = 0
		}
		if j.attempt >= j.base+j.max && r.bug != "ceiling off by one" || j.attempt > j.base+j.max {
			to = store.DeadLettered
		}
	case store.EndDiscard:
		to = store.DeadLettered
	case store.EndSnooze:
		rest = max(o.(store.Snooze).Delay, time.Second)
	case store.EndRelease:
		rest = 0
	case store.EndUnknownName:
		j.unknown++
		rest = min(time.Second<<min(j.unknown, 20), 300*time.Second)
		if j.unknown > 10 {
			to = store.Quarantined
		}
	case store.EndUndecodable:
		to = store.Quarantined
	case store.EndCancel, store.EndForce:
		to = store.Cancelled
	}
	if kind == store.EndRelease || kind == store.EndUnknownName || kind == store.EndSnooze && r.bug != "snooze counts" {
		j.base++
	}
	if j.cancel && (to != store.Succeeded || r.bug == "cancel beats success") && (r.bug != "cancel lost at the end" || to != store.Scheduled) {
		to = store.Cancelled
	}
	j.state, j.due = to, r.now.Add(rest)
}

func (r *refStore) sweep(q *store.Sweep) *store.Swept {
	p := &store.Swept{At: r.now}
	for _, j := range r.jobs {
		if j.state != store.Executing || len(p.Disposed) == q.Max {
			continue
		}
		if j.until > r.now.Add(j.lease) {
			j.until = r.now.Add(j.lease)
		}
		mine := slices.Contains(q.Queues, j.n.Queue) || q.Any && r.now.Sub(j.until) > j.lease
		if mine && (r.now >= j.until || r.bug == "live lease swept") {
			l := store.Lapse{Key: store.LeaseKey{Job: j.n.ID, Attempt: j.attempt, Claim: j.claim}, Worker: j.worker, Queue: j.n.Queue, ExpiredAt: j.until}
			r.end(j, store.EndLapse, nil)
			l.To = j.state
			p.Disposed = append(p.Disposed, l)
		}
	}
	return p
}

func (r *refStore) do(q *store.Do) *store.Done {
	if res, ok := r.done[q.RequestID]; ok && r.bug != "action twice" {
		return &store.Done{At: r.now, Result: res, Repeat: true}
	}
	var res store.DoResult
	switch c := q.Command.(type) {
	case store.Cancel:
		res = r.cancel(r.job(c.Job), c.Force)
	case store.Requeue:
		res = r.requeue(r.job(c.Job))
	case store.Pause:
		res = changed(!r.paused[c.Queue])
		r.paused[c.Queue] = true
	case store.Resume:
		res = changed(r.paused[c.Queue])
		delete(r.paused, c.Queue)
	}
	r.done[q.RequestID] = res
	return &store.Done{At: r.now, Result: res}
}

func changed(b bool) store.DoResult {
	if b {
		return store.DoChanged
	}
	return store.DoUnchanged
}

func (r *refStore) cancel(j *refJob, force bool) store.DoResult {
	switch {
	case j == nil:
		return store.DoNotFound
	case j.state == store.Scheduled && r.bug == "cancel of a waiting job lost":
		return store.DoChanged
	case j.state == store.Scheduled:
		j.state, j.cancel = store.Cancelled, true
		return store.DoChanged
	case j.state == store.Executing && r.now >= j.until:
		r.end(j, store.EndCancel, nil)
		return store.DoChanged
	case j.state == store.Executing && force:
		r.end(j, store.EndForce, nil)
		return store.DoChanged
	case j.state == store.Executing:
		was := j.cancel
		j.cancel = true
		return changed(!was)
	}
	return store.DoUnchanged
}

func (r *refStore) requeue(j *refJob) store.DoResult {
	switch {
	case j == nil:
		return store.DoNotFound
	case j.state != store.DeadLettered && j.state != store.Quarantined && (r.bug != "requeue of a succeeded job" || j.state != store.Succeeded):
		return store.DoRefused
	case r.holder(j.n.UniqueKey, j.n.ID) != nil && r.bug != "unique ignored":
		return store.DoRefused
	}
	j.state, j.base, j.unknown, j.due = store.Scheduled, j.attempt, 0, r.now
	switch r.bug {
	case "requeue resets attempts":
		j.attempt, j.base = 0, 0
	case "requeue keeps base":
		j.base = 0
	}
	return store.DoChanged
}
