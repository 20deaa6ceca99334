package timeline

import (
	"time"

	"backwave/store"
)

// effects books what the store did, as far as its answer tells.
func (h *historian) effects(at int64, r *recordedCall, worker int, c *Call) {
	switch q := r.req.(type) {
	case *store.Claim:
		if a, ok := r.reply.(*store.Claimed); ok {
			for i := range a.Leases {
				h.claimed(at, r, worker, c, &a.Leases[i], q.Lease)
			}
		}
	case *store.Renew:
		if a, ok := r.reply.(*store.Renewed); ok {
			for i := range min(len(a.Rows), len(q.Rows)) {
				h.kept(at, r, worker, q.Rows[i].Key, a.Rows[i], q.Lease)
			}
		}
	case *store.Report:
		if a, ok := r.reply.(*store.Reported); ok {
			for i := range min(len(a.Rows), len(q.Rows)) {
				if a.Rows[i].Status == store.ReportApplied {
					h.over(at, c, holder{worker, q.Rows[i].Key}, q.Rows[i].Outcome.Kind(), a.Rows[i].To)
				}
			}
		}
	case *store.Sweep:
		if a, ok := r.reply.(*store.Swept); ok {
			for i := range a.Disposed {
				x := &a.Disposed[i]
				h.over(at, c, holder{h.disposed(x.Worker), x.Key}, store.EndLapse, x.To)
			}
		}
	case *store.Enqueue:
		if a, ok := r.reply.(*store.Enqueued); ok {
			for i := range min(len(a.Rows), len(q.Jobs)) {
				if a.Rows[i].Status == store.EnqueueAdded {
					j := h.christen(q.Jobs[i].ID, q.Jobs[i].Name)
					h.page.Jobs[j].Queue = q.Jobs[i].Queue
					h.enters(j, at, store.Scheduled.String())
					h.tell(at, TheStore, j, "%s is enqueued", h.page.Jobs[j].Name).Call = r.id
				}
			}
		}
	case *store.Do:
	}
}

// disposed returns the index of a worker whose lease a sweep disposed of.
func (h *historian) disposed(name string) int {
	node, process := place(name)
	return h.worker(name, node, process)
}

// christen calls a job by the name that routes it and the end of its id, which
// people can tell apart better than ids.
func (h *historian) christen(id store.JobID, name string) int {
	i := h.job(id)
	text := id.String()
	short := name + "-" + text[len(text)-6:]
	if j := &h.page.Jobs[i]; j.Name == text && name != "" && !h.names[short] {
		j.Name, h.names[short] = short, true
	}
	return i
}

func (h *historian) claimed(at int64, r *recordedCall, worker int, c *Call, l *store.Lease, length time.Duration) {
	j := h.christen(l.Key.Job, l.Name)
	if h.page.Jobs[j].Queue == "" {
		h.page.Jobs[j].Queue = l.Queue
	}
	h.grant(at, worker, l.Key, h.instant(l.ExpiresAt))
	h.enters(j, at, store.Executing.String())
	e := h.tell(at, TheStore, j, "%s is claimed by %s, lease until %s", h.attempt(l.Key), h.page.Workers[worker].Name, h.words(l.ExpiresAt))
	e.Call, e.Attempt = c.ID, l.Key.Attempt
	if r.answered == None {
		return // nobody knows of it
	}
	h.views[holder{worker, l.Key}] = len(h.page.Views)
	h.page.Views = append(h.page.Views, Lease{Job: j, Attempt: l.Key.Attempt, Claim: l.Key.Claim, Worker: worker, From: r.answered, To: None, Until: r.sent + int64(length-length/50)})
	h.last[[2]int{j, l.Key.Attempt}] = len(h.page.Runs)
	h.page.Runs = append(h.page.Runs, Run{Job: j, Attempt: l.Key.Attempt, Worker: worker, From: r.answered, To: None, Guess: true})
}

func (h *historian) kept(at int64, r *recordedCall, worker int, key store.LeaseKey, a store.RenewAnswer, length time.Duration) {
	hold := holder{worker, key}
	v, believed := h.views[hold]
	switch a.Status {
	case store.RenewOK:
		if l := h.open(hold); l != nil {
			l.Until = h.instant(a.ExpiresAt)
			l.Renewals = append(l.Renewals, Extend{At: at, Until: l.Until})
		}
		if view := r.sent + int64(length-length/50); believed && r.answered != None && h.page.Views[v].To == None {
			h.page.Views[v].Until = view
			h.page.Views[v].Renewals = append(h.page.Views[v].Renewals, Extend{At: r.answered, Until: view})
		}
	case store.RenewLost:
		if believed && r.answered != None && h.page.Views[v].To == None {
			h.page.Views[v].To, h.page.Views[v].End = r.answered, "a renewal is refused"
		}
	case store.RenewBusy:
	}
}

// reports books the first send of an outcome: the handler has returned by then.
func (h *historian) reports(at int64, worker int, row store.ReportRow) {
	if i, ok := h.last[[2]int{h.job(row.Key.Job), row.Key.Attempt}]; ok && h.page.Runs[i].To == None && h.page.Runs[i].Worker == worker {
		h.page.Runs[i].To, h.page.Runs[i].End = at, "reports: "+row.Outcome.Kind().String()
	}
}

// over books the end of a lease.
func (h *historian) over(at int64, c *Call, hold holder, kind store.EndKind, to store.State) {
	j := h.job(hold.key.Job)
	if l := h.open(hold); l != nil {
		l.To, l.End, l.Next = at, kind.String(), to.String()
	}
	if v, ok := h.views[hold]; ok && h.page.Views[v].To == None && kind != store.EndLapse {
		h.page.Views[v].To = max(at, h.page.Views[v].From)
	}
	h.enters(j, at, to.String())
	e := h.tell(at, TheStore, j, "%s ends as %s → %s", h.attempt(hold.key), kind, to)
	e.Call, e.Attempt = c.ID, hold.key.Attempt
}
