package sim

import (
	"slices"

	"backwave/checker"
	"backwave/store"
)

// forge sends an altered copy of f.
func (w *world) forge(f *flight, x Forge) {
	c := *f.call
	c.Kind = checker.CallForged
	by := x.By
	if by == 0 {
		by = 1
	}
	worker := f.host.worker
	if x.Field == "worker" {
		worker = w.pumps[(int(f.host.id)+by%len(w.pumps)+len(w.pumps))%len(w.pumps)].worker
	}
	rows := 0
	switch r := f.call.Req.(type) {
	case *store.Renew:
		n := &store.Renew{Worker: worker, Lease: r.Lease}
		for _, row := range r.Rows {
			if alter(&row.Key, x.Field, by) || worker != r.Worker {
				n.Rows = append(n.Rows, row)
			}
		}
		c.Req, rows = n, len(n.Rows)
	case *store.Report:
		n := &store.Report{Worker: worker}
		for _, row := range r.Rows {
			if alter(&row.Key, x.Field, by) || worker != r.Worker {
				n.Rows = append(n.Rows, row)
			}
		}
		c.Req, rows = n, len(n.Rows)
	case *store.Claim, *store.Sweep, *store.Enqueue, *store.Do:
	}
	if rows == 0 {
		return // nothing in it could be altered
	}
	w.serial++
	c.Ghost, c.Leases = checker.Ghost(w.serial), make([]checker.Ghost, rows)
	w.seen.reach(sawForged)
	w.watch.Sent(&c)
	w.trouble(w.now + int64(x.After))
	w.launch(&flight{call: &c, host: f.host, job: -1, act: -1}, int64(x.After))
}

// genuine reports whether a forged copy names the lease that is really in
// force: after a store has forgotten, what was altered can come true.
func (w *world) genuine(c *checker.Call) bool {
	if c.Kind != checker.CallForged {
		return false
	}
	match := func(worker string, k store.LeaseKey) bool {
		j, ok := w.store.Lookup(k.Job)
		return ok && j.State == store.Executing && j.Worker == worker && j.Claim == k.Claim && j.Attempt == k.Attempt
	}
	switch r := c.Req.(type) {
	case *store.Renew:
		return slices.ContainsFunc(r.Rows, func(row store.RenewRow) bool { return match(r.Worker, row.Key) })
	case *store.Report:
		return slices.ContainsFunc(r.Rows, func(row store.ReportRow) bool { return match(r.Worker, row.Key) })
	case *store.Claim, *store.Sweep, *store.Enqueue, *store.Do:
	}
	return false
}

// alter changes one part of k, and reports whether it did.
func alter(k *store.LeaseKey, field string, by int) bool {
	was := *k
	switch field {
	case "claim":
		k.Claim = uint64(max(1, int64(k.Claim)+int64(by)))
	case "attempt":
		k.Attempt = max(1, k.Attempt+by)
	}
	return *k != was
}
