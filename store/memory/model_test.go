package memory_test

import (
	"bytes"
	"slices"
	"time"

	"backwave/store"
)

// model reads docs/semantics.md as naively as can be: jobs in a list, every
// question answered by looking at all of them. It shares no code with the
// store, and serves the random test as its second opinion.
type model struct {
	jobs    []*store.Job
	held    map[store.JobID]bool
	paused  map[string]bool
	results map[string]store.DoResult
	audits  []store.Audit
}

func newModel() *model {
	return &model{held: map[store.JobID]bool{}, paused: map[string]bool{}, results: map[string]store.DoResult{}}
}

func (m *model) find(id store.JobID) *store.Job {
	for _, j := range m.jobs {
		if j.ID == id {
			return j
		}
	}
	return nil
}

func plus(now store.Instant, d time.Duration) store.Instant {
	return now + store.Instant(d.Microseconds())
}

// E1 to E7.
func (m *model) enqueue(now store.Instant, r *store.Enqueue) *store.Enqueued {
	out := &store.Enqueued{At: now}
	for _, n := range r.Jobs {
		out.Rows = append(out.Rows, m.enqueueRow(now, n))
	}
	return out
}

func (m *model) enqueueRow(now store.Instant, n store.NewJob) store.EnqueueAnswer {
	if m.held[n.ID] {
		return store.EnqueueAnswer{Status: store.EnqueueBusy}
	}
	if j := m.find(n.ID); j != nil {
		if j.Name == n.Name && j.Queue == n.Queue && bytes.Equal(j.Payload, n.Payload) {
			return store.EnqueueAnswer{Status: store.EnqueueDuplicate}
		}
		return store.EnqueueAnswer{Status: store.EnqueueDiffers}
	}
	if h := m.holder(n.UniqueKey); h != nil {
		if m.held[h.ID] {
			return store.EnqueueAnswer{Status: store.EnqueueBusy}
		}
		return store.EnqueueAnswer{Status: store.EnqueueHeld, Holder: h.ID}
	}
	j := &store.Job{
		ID: n.ID, Seq: uint64(len(m.jobs) + 1), Name: n.Name, Queue: n.Queue, Payload: n.Payload,
		MaxAttempts: n.MaxAttempts, UniqueKey: n.UniqueKey, State: store.Scheduled, Due: plus(now, n.Delay), Enqueued: now,
	}
	if n.HasAt {
		j.Due = n.At
	}
	m.jobs = append(m.jobs, j)
	return store.EnqueueAnswer{Status: store.EnqueueAdded}
}

func (m *model) holder(key string) *store.Job {
	for _, j := range m.jobs {
		if key != "" && j.UniqueKey == key && (j.State == store.Scheduled || j.State == store.Executing) {
			return j
		}
	}
	return nil
}

// C1 to C13.
func (m *model) claim(now store.Instant, c *store.Claim) *store.Claimed {
	out := &store.Claimed{At: now}
	if own, stop := m.remembered(now, c); stop {
		order := []string{}
		for _, q := range c.Queues {
			order = append(order, q.Queue)
		}
		for _, q := range append(order, "") { // what is of no queue listed comes last
			for _, j := range own {
				if j.Queue == q || q == "" && !slices.Contains(order, j.Queue) {
					out.Leases = append(out.Leases, modelLease(j))
				}
			}
		}
	} else {
		for _, q := range c.Queues {
			m.take(now, c, q.Queue, q.Most, out)
		}
		for _, q := range c.Queues {
			m.take(now, c, q.Queue, c.Max, out)
		}
	}
	for _, j := range m.jobs {
		for _, q := range c.Queues {
			if j.State != store.Scheduled || j.Queue != q.Queue || m.paused[j.Queue] {
				continue
			}
			if wait := time.Duration(max(0, j.Due-now)) * time.Microsecond; !out.HasNext || wait < out.Next {
				out.HasNext, out.Next = true, wait
			}
		}
	}
	return out
}

func (m *model) remembered(now store.Instant, c *store.Claim) (own []*store.Job, stop bool) {
	for _, j := range m.jobs {
		if j.State == store.Executing && j.Worker == c.Worker && now < j.LeaseUntil && j.Claim >= c.Number {
			stop = true
			if j.Claim == c.Number {
				own = append(own, j)
			}
		}
	}
	return own, stop
}

func (m *model) take(now store.Instant, c *store.Claim, queue string, most int, out *store.Claimed) {
	for ; most > 0 && len(out.Leases) < c.Max && !m.paused[queue]; most-- {
		var next *store.Job
		for _, j := range m.jobs {
			if j.State == store.Scheduled && j.Queue == queue && j.Due <= now && !m.held[j.ID] && (next == nil || j.Due < next.Due) {
				next = j
			}
		}
		if next == nil {
			return
		}
		policy := c.Terms.Default
		for _, n := range c.Terms.ByName {
			if n.Name == next.Name {
				policy = n.Policy
			}
		}
		next.State, next.Worker, next.Claim = store.Executing, c.Worker, c.Number
		next.Attempt++
		next.LeaseUntil, next.LeaseFor = plus(now, c.Lease), c.Lease
		next.Ceiling, next.RetryDelay = policy.MaxAttempts, policy.First
		if next.MaxAttempts != 0 {
			next.Ceiling = next.MaxAttempts
		}
		for range next.Attempt - next.Base - 1 {
			next.RetryDelay = min(2*next.RetryDelay, policy.Cap)
		}
		out.Leases = append(out.Leases, modelLease(next))
	}
}

func modelLease(j *store.Job) store.Lease {
	l := store.Lease{Key: store.LeaseKey{Job: j.ID, Attempt: j.Attempt, Claim: j.Claim}, Name: j.Name, Queue: j.Queue, Base: j.Base, ExpiresAt: j.LeaseUntil}
	if l.Damage = j.Damage; l.Damage == "" {
		l.Payload = j.Payload
	}
	return l
}

// fenced answers the row if the lease is its own and lives.
func (m *model) fenced(now store.Instant, worker string, k store.LeaseKey) *store.Job {
	j := m.find(k.Job)
	if j != nil && j.State == store.Executing && j.Worker == worker && j.Attempt == k.Attempt && j.Claim == k.Claim && now < j.LeaseUntil {
		return j
	}
	return nil
}

// L1 to L7.
func (m *model) renew(now store.Instant, r *store.Renew) *store.Renewed {
	out := &store.Renewed{At: now}
	for _, row := range r.Rows {
		a := store.RenewAnswer{Status: store.RenewLost}
		if m.find(row.Key.Job) != nil && m.held[row.Key.Job] {
			a.Status = store.RenewBusy
		} else if j := m.fenced(now, r.Worker, row.Key); j != nil {
			j.LeaseUntil, j.LeaseFor = plus(now, r.Lease), r.Lease
			if row.Progress != nil {
				j.Progress = row.Progress
			}
			a = store.RenewAnswer{Status: store.RenewOK, Cancel: j.CancelRequested, ExpiresAt: j.LeaseUntil}
		}
		out.Rows = append(out.Rows, a)
	}
	return out
}

// W1 to W9 and T7.
func (m *model) sweep(now store.Instant, r *store.Sweep) *store.Swept {
	out := &store.Swept{At: now}
	dispose := func(queue string, long bool) {
		var lapsed []*store.Job
		for _, j := range m.jobs {
			end := j.LeaseUntil
			if long {
				end = plus(end, j.LeaseFor)
			}
			if j.Queue == queue && j.State == store.Executing && end <= now && !m.held[j.ID] {
				lapsed = append(lapsed, j)
			}
		}
		slices.SortStableFunc(lapsed, func(a, b *store.Job) int { return int(a.LeaseUntil - b.LeaseUntil) })
		for _, j := range lapsed {
			if len(out.Disposed) < r.Max {
				m.lapse(now, j)
				out.Disposed = append(out.Disposed, store.Lapse{Key: store.LeaseKey{Job: j.ID, Attempt: j.Attempt, Claim: j.Claim}, Worker: j.Worker, Queue: queue, ExpiredAt: j.LeaseUntil, To: j.State})
			}
		}
	}
	for _, q := range r.Queues {
		dispose(q, false)
	}
	var all []string
	for _, j := range m.jobs {
		all = append(all, j.Queue)
	}
	slices.Sort(all)
	for _, q := range slices.Compact(all) {
		if r.Any {
			dispose(q, true)
		}
	}
	for _, j := range m.jobs {
		if limit := plus(now, j.LeaseFor); j.State == store.Executing && j.LeaseUntil > limit && !m.held[j.ID] && (r.Any || slices.Contains(r.Queues, j.Queue)) {
			j.LeaseUntil = limit
		}
	}
	return out
}
