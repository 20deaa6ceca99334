package memory_test

import (
	"slices"
	"time"

	"backwave/store"
)

// R1 to R9.
func (m *model) report(now store.Instant, r *store.Report) *store.Reported {
	out := &store.Reported{At: now}
	for _, row := range r.Rows {
		out.Rows = append(out.Rows, m.reportRow(now, r.Worker, row))
	}
	return out
}

func (m *model) reportRow(now store.Instant, worker string, row store.ReportRow) store.ReportAnswer {
	j := m.find(row.Key.Job)
	if j == nil {
		return store.ReportAnswer{Status: store.ReportStale}
	}
	if m.held[j.ID] {
		return store.ReportAnswer{Status: store.ReportBusy}
	}
	for _, e := range j.Ends {
		byWorker := e.Kind != store.EndLapse && e.Kind != store.EndCancel && e.Kind != store.EndForce
		if byWorker && e.Worker == worker && e.Attempt == row.Key.Attempt && e.Claim == row.Key.Claim {
			return store.ReportAnswer{Status: store.ReportAlready, Already: e.Kind}
		}
	}
	if m.fenced(now, worker, row.Key) == nil {
		return store.ReportAnswer{Status: store.ReportStale}
	}
	switch o := row.Outcome.(type) {
	case store.Success:
		j.Output = o.Output
		m.close(now, j, store.EndSuccess, "", store.Succeeded)
	case store.Failure:
		j.LastErr = o.Error
		delay := j.RetryDelay
		if o.HasRetryAfter {
			delay = o.RetryAfter
		}
		m.failed(now, j, store.EndFailure, o.Error, delay)
	case store.Discard:
		j.LastErr = o.Error
		m.close(now, j, store.EndDiscard, o.Error, store.DeadLettered)
	case store.Snooze:
		m.putOff(now, j, store.EndSnooze, "", max(o.Delay, time.Second), 1)
	case store.Released:
		m.putOff(now, j, store.EndRelease, "", 0, 1)
	case store.UnknownName:
		j.UnknownNames++
		if j.UnknownNames == 11 {
			m.close(now, j, store.EndUnknownName, "", store.Quarantined)
		} else {
			waits := []int{2, 4, 8, 16, 32, 64, 128, 256, 300, 300}
			m.putOff(now, j, store.EndUnknownName, "", time.Duration(waits[j.UnknownNames-1])*time.Second, 1)
		}
	case store.Undecodable:
		j.LastErr = o.Error
		m.close(now, j, store.EndUndecodable, o.Error, store.Quarantined)
	}
	return store.ReportAnswer{Status: store.ReportApplied, To: j.State}
}

func (m *model) lapse(now store.Instant, j *store.Job) {
	m.failed(now, j, store.EndLapse, "", j.RetryDelay)
}

// S5.
func (m *model) failed(now store.Instant, j *store.Job, kind store.EndKind, text string, delay time.Duration) {
	if j.Attempt < j.Base+j.Ceiling {
		m.putOff(now, j, kind, text, delay, 0)
	} else {
		m.close(now, j, kind, text, store.DeadLettered)
	}
}

func (m *model) putOff(now store.Instant, j *store.Job, kind store.EndKind, text string, delay time.Duration, free int) {
	if j.CancelRequested {
		m.close(now, j, kind, text, store.Cancelled)
		return
	}
	j.Base += free
	j.Due = plus(now, delay)
	m.note(now, j, kind, text, store.Scheduled)
	j.Ends[len(j.Ends)-1].Due = j.Due
}

// close ends a life; S3 and S4.
func (m *model) close(now store.Instant, j *store.Job, kind store.EndKind, text string, to store.State) {
	if j.CancelRequested && kind != store.EndSuccess {
		to = store.Cancelled
	}
	j.Finished = now
	m.note(now, j, kind, text, to)
}

// note writes the history; X9.
func (m *model) note(now store.Instant, j *store.Job, kind store.EndKind, text string, to store.State) {
	j.State = to
	j.Ends = append(slices.Clone(j.Ends), store.End{Attempt: j.Attempt, Claim: j.Claim, Worker: j.Worker, Kind: kind, To: to, At: now, Lease: j.LeaseFor, Error: text})
	for len(j.Ends) > 32 && now >= plus(j.Ends[0].At, 2*j.Ends[0].Lease) {
		j.Ends = j.Ends[1:]
		j.EndsCut++
	}
}

// O1 to O12.
func (m *model) do(now store.Instant, r *store.Do) *store.Done {
	if res, ok := m.results[r.RequestID]; ok {
		return &store.Done{At: now, Result: res, Repeat: true}
	}
	var res store.DoResult
	switch c := r.Command.(type) {
	case store.Cancel:
		res = m.onRow(c.Job, func(j *store.Job) store.DoResult { return m.cancel(now, j, c.Force) })
	case store.Requeue:
		res = m.onRow(c.Job, func(j *store.Job) store.DoResult { return m.requeue(now, j) })
	case store.Pause:
		res = m.pause(c.Queue, true)
	case store.Resume:
		res = m.pause(c.Queue, false)
	}
	if res != store.DoBusy {
		m.results[r.RequestID] = res
	}
	if res == store.DoChanged {
		m.audits = append(m.audits, store.Audit{At: now, Actor: r.Actor, RequestID: r.RequestID, Command: r.Command})
	}
	return &store.Done{At: now, Result: res}
}

func (m *model) onRow(id store.JobID, do func(*store.Job) store.DoResult) store.DoResult {
	j := m.find(id)
	if j == nil {
		return store.DoNotFound
	}
	if m.held[id] {
		return store.DoBusy
	}
	return do(j)
}

func (m *model) cancel(now store.Instant, j *store.Job, force bool) store.DoResult {
	switch j.State {
	case store.Scheduled:
		j.State, j.Finished = store.Cancelled, now
		return store.DoChanged
	case store.Executing:
		if now >= j.LeaseUntil {
			m.close(now, j, store.EndCancel, "", store.Cancelled)
			return store.DoChanged
		}
		if force {
			m.close(now, j, store.EndForce, "", store.Cancelled)
			return store.DoChanged
		}
		if j.CancelRequested {
			return store.DoUnchanged
		}
		j.CancelRequested = true
		return store.DoChanged
	case store.Awaiting, store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined:
	}
	return store.DoRefused
}

func (m *model) requeue(now store.Instant, j *store.Job) store.DoResult {
	if j.State != store.DeadLettered && j.State != store.Quarantined {
		return store.DoRefused
	}
	if h := m.holder(j.UniqueKey); h != nil {
		if m.held[h.ID] {
			return store.DoBusy
		}
		return store.DoRefused
	}
	j.State, j.Due, j.Finished, j.Base, j.UnknownNames = store.Scheduled, now, 0, j.Attempt, 0
	return store.DoChanged
}

func (m *model) pause(queue string, want bool) store.DoResult {
	if m.paused[queue] == want {
		return store.DoUnchanged
	}
	m.paused[queue] = want
	return store.DoChanged
}
