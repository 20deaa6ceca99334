package timeline

import (
	"fmt"

	"backwave/store"
)

// sent books a call that leaves, and returns it. Ids that come again are
// another call's.
func (d *draft) sent(at int64, id uint64, kind string, worker int, req store.Request) *Call {
	d.see(at)
	if len(d.page.Calls) >= d.room {
		d.trim()
	}
	d.calls[id] = len(d.page.Calls)
	c := Call{ID: id, Kind: kind, Worker: worker, Sent: at, Answered: None, Lost: None}
	switch r := req.(type) {
	case *store.Renew:
		for i := range r.Rows {
			c.Rows = append(c.Rows, d.row(r.Rows[i].Key, "renew"))
		}
	case *store.Report:
		for i := range r.Rows {
			c.Rows = append(c.Rows, d.row(r.Rows[i].Key, "report "+r.Rows[i].Outcome.Kind().String()))
		}
	case *store.Enqueue:
		for i := range r.Jobs {
			c.Rows = append(c.Rows, Row{Job: d.job(r.Jobs[i].ID), Asked: "enqueue"})
		}
	case *store.Do:
		c.Rows = append(c.Rows, d.command(r.Command))
	case *store.Claim, *store.Sweep: // the answer says what they are about
	}
	d.page.Calls = append(d.page.Calls, c)
	return &d.page.Calls[len(d.page.Calls)-1]
}

func (d *draft) row(k store.LeaseKey, asked string) Row {
	return Row{Job: d.job(k.Job), Attempt: k.Attempt, Asked: asked}
}

func (d *draft) command(c store.Command) Row {
	switch c := c.(type) {
	case store.Cancel:
		if c.Force {
			return Row{Job: d.job(c.Job), Asked: "cancel by force"}
		}
		return Row{Job: d.job(c.Job), Asked: "cancel"}
	case store.Requeue:
		return Row{Job: d.job(c.Job), Asked: "requeue"}
	case store.Pause:
		return Row{Job: None, Asked: "pause queue " + c.Queue}
	case store.Resume:
		return Row{Job: None, Asked: "resume queue " + c.Queue}
	}
	return Row{Job: None, Asked: fmt.Sprintf("%T", c)}
}

// call returns a call by its id, nil if there is none.
func (d *draft) call(id uint64) *Call {
	i, ok := d.calls[id]
	if !ok {
		return nil
	}
	return &d.page.Calls[i]
}

// decided books what the store said to c, the first time that is known, and
// tells what people want to read of it. until puts an instant of the store into
// words.
func (d *draft) decided(at int64, c *Call, reply store.Reply, until func(store.Instant) string) {
	switch r := reply.(type) {
	case *store.Claimed:
		c.Idle = len(r.Leases) == 0
		for i := range r.Leases {
			w := d.row(r.Leases[i].Key, "claim")
			w.Told = "until " + until(r.Leases[i].ExpiresAt)
			c.Rows = append(c.Rows, w)
		}
	case *store.Renewed:
		for i := range min(len(r.Rows), len(c.Rows)) {
			d.renewed(at, c, &c.Rows[i], r.Rows[i], until)
		}
	case *store.Reported:
		for i := range min(len(r.Rows), len(c.Rows)) {
			d.reported(at, c, &c.Rows[i], r.Rows[i])
		}
	case *store.Swept:
		c.Idle = len(r.Disposed) == 0
		for i := range r.Disposed {
			w := d.row(r.Disposed[i].Key, "sweep")
			w.Told = "lapse → " + r.Disposed[i].To.String()
			c.Rows = append(c.Rows, w)
		}
	case *store.Enqueued:
		for i := range min(len(r.Rows), len(c.Rows)) {
			c.Rows[i].Told = [...]string{"", "added", "is there already", "differs from the one that is there", "the unique key is held", "busy"}[min(5, r.Rows[i].Status)]
		}
	case *store.Done:
		d.done(at, c, r)
	}
}

func (d *draft) renewed(at int64, c *Call, row *Row, a store.RenewAnswer, until func(store.Instant) string) {
	name, who := d.rowName(row), d.lane(c.Worker)
	switch a.Status {
	case store.RenewOK:
		row.Told = "until " + until(a.ExpiresAt)
		if a.Cancel {
			row.Told += ", cancel asked"
		}
		d.tell(at, who, row.Job, "%s is renewed %s", name, row.Told).of(c, row)
	case store.RenewLost:
		row.Told, row.Fenced = "lost", true
		d.tell(at, who, row.Job, "the renewal of %s is refused: the lease is lost", name).of(c, row).Bad = true
	case store.RenewBusy:
		row.Told = "busy"
		d.tell(at, who, row.Job, "the renewal of %s meets a row that somebody holds", name).of(c, row)
	}
}

func (d *draft) reported(at int64, c *Call, row *Row, a store.ReportAnswer) {
	name, who, what := d.rowName(row), d.lane(c.Worker), row.Asked[len("report "):]
	switch a.Status {
	case store.ReportApplied:
		row.Told = "applied → " + a.To.String()
	case store.ReportAlready:
		row.Told = "already " + a.Already.String()
		d.tell(at, who, row.Job, "the %s of %s was recorded before, as %s", what, name, a.Already).of(c, row)
	case store.ReportStale:
		row.Told, row.Fenced = "stale", true
		d.fence(c.Worker, row.Job, row.Attempt)
		d.tell(at, who, row.Job, "FENCED: the %s of %s is stale and changes nothing", what, name).of(c, row).Bad = true
	case store.ReportBusy:
		row.Told = "busy"
		d.tell(at, who, row.Job, "the %s of %s meets a row that somebody holds", what, name).of(c, row)
	case store.ReportRejected:
		row.Told = "rejected: " + a.Reason
		d.tell(at, who, row.Job, "the %s of %s is rejected: %s", what, name, a.Reason).of(c, row)
	}
}

func (d *draft) done(at int64, c *Call, r *store.Done) {
	if len(c.Rows) == 0 {
		return
	}
	row := &c.Rows[0]
	row.Told = [...]string{"", "changed", "unchanged", "not found", "refused", "busy"}[min(5, r.Result)]
	if r.Repeat {
		row.Told += " (a repeat)"
	}
	d.tell(at, People, row.Job, "%s is answered: %s", d.commandName(row), row.Told).of(c, row)
}

func (d *draft) commandName(row *Row) string {
	if row.Job == None {
		return row.Asked
	}
	return row.Asked + " of " + d.page.Jobs[row.Job].Name
}

func (d *draft) rowName(row *Row) string {
	return fmt.Sprintf("%s#%d", d.page.Jobs[row.Job].Name, row.Attempt)
}

// of says which call and which attempt e is about.
func (e *Event) of(c *Call, row *Row) *Event {
	e.Call, e.Attempt = c.ID, row.Attempt
	return e
}

// failed tells that a call ended in an error.
func (d *draft) failed(at int64, c *Call, text string) {
	c.Error = text
	e := d.tell(at, d.lane(c.Worker), d.onlyJob(c), "the %s fails: %s", c.Kind, text)
	e.Call, e.Bad = c.ID, true
}

// onlyJob returns the job that c is about if it is about one, None otherwise.
func (d *draft) onlyJob(c *Call) int {
	if len(c.Rows) != 1 {
		return None
	}
	return c.Rows[0].Job
}
