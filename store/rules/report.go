package rules

import (
	"time"

	"backwave/store"
)

// Report records the outcome of an attempt. The job is changed if the answer
// is ReportApplied.
func Report(j *store.Job, worker string, row *store.ReportRow, now store.Instant) store.ReportAnswer {
	if kind, ok := Reported(j, worker, row.Key); ok {
		return store.ReportAnswer{Status: store.ReportAlready, Already: kind}
	}
	if !Holds(j, worker, row.Key, now) {
		return store.ReportAnswer{Status: store.ReportStale}
	}
	if o, ok := row.Outcome.(store.Success); ok && len(o.Output) > store.MaxOutput {
		err := store.BoundError{Field: "output", Got: int64(len(o.Output)), Bound: store.MaxOutput, Unit: "bytes"}
		return store.ReportAnswer{Status: store.ReportRejected, Reason: err.Error()}
	}
	e := judge(j, row.Outcome)
	end(j, e, now)
	return store.ReportAnswer{Status: store.ReportApplied, To: e.to}
}

// ending is what is to become of a running attempt.
type ending struct {
	kind  store.EndKind
	text  string
	to    store.State
	delay time.Duration // until the next attempt; meaningful if to is Scheduled
	free  bool          // the attempt does not count towards the ceiling
}

// judge decides what follows from an outcome, and writes what it alone brings:
// output, failure text, the count of unknown names. A cancel that was asked
// wins over everything but success.
func judge(j *store.Job, outcome store.Outcome) ending {
	e := ending{kind: outcome.Kind()}
	switch o := outcome.(type) {
	case store.Success:
		j.Output = o.Output
		e.to = store.Succeeded
		return e
	case store.Failure:
		delay := j.RetryDelay
		if o.HasRetryAfter {
			delay = store.ClampDuration(o.RetryAfter)
		}
		e = retry(j, e.kind, delay)
		e.text = store.CleanText(o.Error, store.MaxError)
		j.LastErr = e.text
	case store.Discard:
		e.to, e.text = store.DeadLettered, store.CleanText(o.Error, store.MaxError)
		j.LastErr = e.text
	case store.Snooze:
		e.to, e.free = store.Scheduled, true
		e.delay = max(store.MinSnooze, store.ClampDuration(o.Delay))
	case store.Released:
		e.to, e.free = store.Scheduled, true
	case store.UnknownName:
		j.UnknownNames++
		e.to, e.free, e.delay = store.Scheduled, true, store.UnknownNameDelay(j.UnknownNames)
		if j.UnknownNames > store.UnknownNameGrace {
			e.to = store.Quarantined
		}
	case store.Undecodable:
		e.to, e.text = store.Quarantined, store.CleanText(o.Error, store.MaxError)
		j.LastErr = e.text
	}
	if j.CancelRequested {
		e.to = store.Cancelled
	}
	return e
}

// retry is the ending of an attempt that failed or lapsed: tried again after
// delay while the stamped ceiling allows, else dead-lettered.
func retry(j *store.Job, kind store.EndKind, delay time.Duration) ending {
	switch {
	case j.CancelRequested:
		return ending{kind: kind, to: store.Cancelled}
	case j.Attempt-j.Base < j.Ceiling:
		return ending{kind: kind, to: store.Scheduled, delay: delay}
	}
	return ending{kind: kind, to: store.DeadLettered}
}
