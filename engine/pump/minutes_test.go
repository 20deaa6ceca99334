package pump_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// Jobs are called j1, j2 … in traces; their ids are fixed.

func jobID(n int) store.JobID { return store.NewJobID(int64(n), 0, uint64(n)) }

func jobName(id store.JobID) string {
	n := int(binary.BigEndian.Uint64(id[:8]) >> 16)
	if jobID(n) != id {
		return id.String()
	}
	return fmt.Sprintf("j%d", n)
}

func keyName(k store.LeaseKey) string {
	return fmt.Sprintf("%s#%d@%d", jobName(k.Job), k.Attempt, k.Claim)
}

// minute prints one action as a line of the minutes.
func minute(a pump.Action) string {
	switch a := a.(type) {
	case pump.Call:
		return callLine(a)
	case pump.Start:
		return "start " + keyName(a.Lease.Key)
	case pump.Cancel:
		return fmt.Sprintf("cancel %s %v", keyName(a.Key), a.Why)
	case pump.Degraded:
		return fmt.Sprintf("degraded %v: %s", a.Kind, a.Text)
	case pump.Recovered:
		return fmt.Sprintf("recovered %v", a.Kind)
	case pump.Halted:
		return "halted " + a.Cause.String()
	case pump.Stopped:
		return "stopped"
	case pump.Dropped:
		return fmt.Sprintf("dropped %s %v", keyName(a.Key), a.Kind)
	case pump.Abandoned:
		return "abandoned " + keyName(a.Key)
	}
	panic(fmt.Sprintf("unknown action %T", a))
}

func callLine(a pump.Call) string {
	parts := []string{}
	switch r := a.Req.(type) {
	case *store.Claim:
		for _, q := range r.Queues {
			if q.Most == 500 { // that of strict order: no bound of its own
				parts = append(parts, q.Queue)
			} else {
				parts = append(parts, fmt.Sprintf("%s:%d", q.Queue, q.Most))
			}
		}
		return fmt.Sprintf("claim op=%d number=%d max=%d [%s]", a.Op, r.Number, r.Max, strings.Join(parts, " "))
	case *store.Renew:
		for _, row := range r.Rows {
			s := keyName(row.Key)
			if row.Progress != nil {
				s += fmt.Sprintf(" progress %q", row.Progress)
			}
			parts = append(parts, s)
		}
		return fmt.Sprintf("renew op=%d [%s]", a.Op, strings.Join(parts, ", "))
	case *store.Report:
		for _, row := range r.Rows {
			parts = append(parts, keyName(row.Key)+" "+outcomeText(row.Outcome))
		}
		return fmt.Sprintf("report op=%d [%s]", a.Op, strings.Join(parts, ", "))
	case *store.Sweep:
		any := ""
		if r.Any {
			any = " and any queue"
		}
		return fmt.Sprintf("sweep op=%d max=%d [%s]%s", a.Op, r.Max, strings.Join(r.Queues, " "), any)
	case *store.Enqueue, *store.Do:
	}
	return fmt.Sprintf("a call of %T", a.Req)
}

func outcomeText(o store.Outcome) string {
	switch o := o.(type) {
	case store.Success:
		if o.Output != nil {
			return fmt.Sprintf("success %q", o.Output)
		}
	case store.Failure:
		if o.HasRetryAfter {
			return fmt.Sprintf("failure %q retry-after %v", o.Error, o.RetryAfter)
		}
		return fmt.Sprintf("failure %q", o.Error)
	case store.Discard:
		return fmt.Sprintf("discard %q", o.Error)
	case store.Snooze:
		return fmt.Sprintf("snooze %v", o.Delay)
	case store.Undecodable:
		return fmt.Sprintf("undecodable %q", o.Error)
	case store.Released, store.UnknownName:
	}
	return o.Kind().String()
}

// stepLines prints one step: when, what was heard, and what was done.
func stepLines(now pump.Time, heard string, acts []pump.Action) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v < %s\n", now, heard)
	for _, a := range acts {
		fmt.Fprintf(&b, "  %s\n", minute(a))
	}
	return b.String()
}

// tally counts calls and lists everything else, for runs too long to be read
// call by call.
type tally struct {
	calls [4]int
	lines []string
}

func (y *tally) note(now pump.Time, a pump.Action) {
	if c, ok := a.(pump.Call); ok {
		y.calls[c.Kind]++
		return
	}
	y.lines = append(y.lines, fmt.Sprintf("%v %s", now, minute(a)))
}

func (y *tally) String() string {
	var b strings.Builder
	for _, l := range y.lines {
		b.WriteString(l + "\n")
	}
	b.WriteString("calls:")
	for k, n := range y.calls {
		fmt.Fprintf(&b, " %d %v", n, pump.Kind(k))
	}
	return b.String() + "\n"
}

// goodStore answers calls as a store does that is well and has no work: after
// latency, and with nothing but consent.
type goodStore struct {
	latency time.Duration
	flight  []goodAnswer
}

type goodAnswer struct {
	at pump.Time
	ev pump.Event
}

func (g *goodStore) call(now pump.Time, c pump.Call) {
	var ev pump.Event
	switch r := c.Req.(type) {
	case *store.Claim:
		ev = pump.Claimed{Op: c.Op}
	case *store.Renew:
		rows := make([]store.RenewAnswer, len(r.Rows))
		for i := range rows {
			rows[i].Status = store.RenewOK
		}
		ev = pump.Renewed{Op: c.Op, Rows: rows}
	case *store.Report:
		rows := make([]store.ReportAnswer, len(r.Rows))
		for i := range rows {
			rows[i].Status = store.ReportApplied
		}
		ev = pump.Reported{Op: c.Op, Rows: rows}
	case *store.Sweep:
		ev = pump.Swept{Op: c.Op}
	case *store.Enqueue, *store.Do: // no pump sends them; the ghost says so
		return
	}
	g.flight = append(g.flight, goodAnswer{now.Add(g.latency), ev})
}

// next returns when the next answer arrives.
func (g *goodStore) next() pump.Time {
	if len(g.flight) == 0 {
		return pump.Never
	}
	return g.flight[0].at // latency is constant, so the first sent is the first to arrive
}

func (g *goodStore) take() pump.Event {
	ev := g.flight[0].ev
	g.flight = g.flight[1:]
	return ev
}
