package history

import (
	"errors"
	"time"

	"backwave/store"
)

type wireRequest struct {
	Client  string       `json:"client"`
	Claim   *wireClaim   `json:"claim,omitempty"`
	Renew   *wireRenew   `json:"renew,omitempty"`
	Report  *wireReport  `json:"report,omitempty"`
	Sweep   *wireSweep   `json:"sweep,omitempty"`
	Enqueue *wireEnqueue `json:"enqueue,omitempty"`
	Do      *wireDo      `json:"do,omitempty"`
}

type wireClaim struct {
	Worker string        `json:"worker"`
	Number uint64        `json:"number"`
	Queues []wireQuota   `json:"queues"`
	Max    int           `json:"max"`
	Lease  time.Duration `json:"lease_ns"`
	Terms  *wireTerms    `json:"terms,omitempty"`
}

type wireQuota struct {
	Queue string `json:"queue"`
	Most  int    `json:"most"`
}

type wireRenew struct {
	Worker string         `json:"worker"`
	Lease  time.Duration  `json:"lease_ns"`
	Rows   []wireRenewRow `json:"rows"`
}

type wireRenewRow struct {
	wireKey
	Progress []byte `json:"progress"` // null: unchanged; empty: emptied
}

type wireReport struct {
	Worker string          `json:"worker"`
	Rows   []wireReportRow `json:"rows"`
}

type wireReportRow struct {
	wireKey
	Success     *wireSuccess `json:"success,omitempty"`
	Failure     *wireFailed  `json:"failure,omitempty"`
	Discard     *wireText    `json:"discard,omitempty"`
	Snooze      *wireDelay   `json:"snooze,omitempty"`
	Released    *struct{}    `json:"released,omitempty"`
	UnknownName *struct{}    `json:"unknown_name,omitempty"`
	Undecodable *wireText    `json:"undecodable,omitempty"`
}

type wireSuccess struct {
	Output []byte `json:"output"`
}

type wireFailed struct {
	Err           string        `json:"error"`
	HasRetryAfter bool          `json:"has_retry_after,omitempty"`
	RetryAfter    time.Duration `json:"retry_after_ns,omitempty"`
}

type wireText struct {
	Err string `json:"error"`
}

type wireDelay struct {
	Delay time.Duration `json:"delay_ns"`
}

type wireSweep struct {
	Queues []string `json:"queues"`
	Any    bool     `json:"any,omitempty"`
	Max    int      `json:"max"`
}

type wireEnqueue struct {
	Jobs []wireNewJob `json:"jobs"`
}

type wireNewJob struct {
	ID          store.JobID   `json:"job"`
	Name        string        `json:"name"`
	Queue       string        `json:"queue"`
	Payload     []byte        `json:"payload"`
	HasAt       bool          `json:"has_at,omitempty"`
	At          store.Instant `json:"at_us,omitempty"`
	Delay       time.Duration `json:"delay_ns,omitempty"`
	MaxAttempts int           `json:"max_attempts,omitempty"`
	UniqueKey   string        `json:"unique_key,omitempty"`
}

type wireDo struct {
	Actor     string      `json:"actor"`
	RequestID string      `json:"request_id"`
	Cancel    *wireCancel `json:"cancel,omitempty"`
	Requeue   *wireJob    `json:"requeue,omitempty"`
	Pause     *wireQueue  `json:"pause,omitempty"`
	Resume    *wireQueue  `json:"resume,omitempty"`
}

type wireCancel struct {
	Job   store.JobID `json:"job"`
	Force bool        `json:"force,omitempty"`
}

type wireJob struct {
	Job store.JobID `json:"job"`
}

type wireQueue struct {
	Queue string `json:"queue"`
}

func toRequest(client string, req store.Request) *wireRequest {
	w := &wireRequest{Client: client}
	switch q := req.(type) {
	case *store.Claim:
		w.Claim = &wireClaim{q.Worker, q.Number, each(q.Queues, func(q store.Quota) wireQuota { return wireQuota(q) }), q.Max, q.Lease, toTerms(q.Terms)}
	case *store.Renew:
		w.Renew = &wireRenew{q.Worker, q.Lease, each(q.Rows, func(r store.RenewRow) wireRenewRow { return wireRenewRow{toKey(r.Key), r.Progress} })}
	case *store.Report:
		w.Report = &wireReport{q.Worker, each(q.Rows, toReportRow)}
	case *store.Sweep:
		w.Sweep = &wireSweep{q.Queues, q.Any, q.Max}
	case *store.Enqueue:
		w.Enqueue = &wireEnqueue{each(q.Jobs, func(j store.NewJob) wireNewJob { return wireNewJob(j) })}
	case *store.Do:
		w.Do = toDo(q)
	}
	return w
}

func fromRequest(w *wireRequest) (req store.Request, err error) {
	n := 0
	if q := w.Claim; q != nil {
		n++
		req = &store.Claim{Worker: q.Worker, Number: q.Number, Queues: each(q.Queues, func(q wireQuota) store.Quota { return store.Quota(q) }), Max: q.Max, Lease: q.Lease, Terms: fromTerms(q.Terms)}
	}
	if q := w.Renew; q != nil {
		n++
		req = &store.Renew{Worker: q.Worker, Lease: q.Lease, Rows: each(q.Rows, func(r wireRenewRow) store.RenewRow {
			return store.RenewRow{Key: fromKey(r.wireKey), Progress: r.Progress}
		})}
	}
	if q := w.Report; q != nil {
		n++
		req = &store.Report{Worker: q.Worker, Rows: each(q.Rows, func(r wireReportRow) (row store.ReportRow) {
			row, wrong := fromReportRow(&r)
			err = errors.Join(err, wrong)
			return row
		})}
	}
	if q := w.Sweep; q != nil {
		n++
		req = &store.Sweep{Queues: q.Queues, Any: q.Any, Max: q.Max}
	}
	if q := w.Enqueue; q != nil {
		n++
		req = &store.Enqueue{Jobs: each(q.Jobs, func(j wireNewJob) store.NewJob { return store.NewJob(j) })}
	}
	if w.Do != nil {
		n++
		var wrong error
		req, wrong = fromDo(w.Do)
		err = errors.Join(err, wrong)
	}
	if n != 1 {
		return nil, errOneOf
	}
	return req, err
}

func toReportRow(r store.ReportRow) wireReportRow {
	w := wireReportRow{wireKey: toKey(r.Key)}
	switch o := r.Outcome.(type) {
	case store.Success:
		w.Success = &wireSuccess{o.Output}
	case store.Failure:
		w.Failure = &wireFailed{o.Error, o.HasRetryAfter, o.RetryAfter}
	case store.Discard:
		w.Discard = &wireText{o.Error}
	case store.Snooze:
		w.Snooze = &wireDelay{o.Delay}
	case store.Released:
		w.Released = &struct{}{}
	case store.UnknownName:
		w.UnknownName = &struct{}{}
	case store.Undecodable:
		w.Undecodable = &wireText{o.Error}
	}
	return w
}

func fromReportRow(w *wireReportRow) (r store.ReportRow, err error) {
	r.Key = fromKey(w.wireKey)
	n := 0
	is := func(there bool, o func() store.Outcome) {
		if there {
			n++
			r.Outcome = o()
		}
	}
	is(w.Success != nil, func() store.Outcome { return store.Success{Output: w.Success.Output} })
	is(w.Failure != nil, func() store.Outcome {
		return store.Failure{Error: w.Failure.Err, HasRetryAfter: w.Failure.HasRetryAfter, RetryAfter: w.Failure.RetryAfter}
	})
	is(w.Discard != nil, func() store.Outcome { return store.Discard{Error: w.Discard.Err} })
	is(w.Snooze != nil, func() store.Outcome { return store.Snooze{Delay: w.Snooze.Delay} })
	is(w.Released != nil, func() store.Outcome { return store.Released{} })
	is(w.UnknownName != nil, func() store.Outcome { return store.UnknownName{} })
	is(w.Undecodable != nil, func() store.Outcome { return store.Undecodable{Error: w.Undecodable.Err} })
	if n != 1 {
		err = errOneOf
	}
	return r, err
}

func toDo(q *store.Do) *wireDo {
	w := &wireDo{Actor: q.Actor, RequestID: q.RequestID}
	switch c := q.Command.(type) {
	case store.Cancel:
		w.Cancel = &wireCancel{c.Job, c.Force}
	case store.Requeue:
		w.Requeue = &wireJob{c.Job}
	case store.Pause:
		w.Pause = &wireQueue{c.Queue}
	case store.Resume:
		w.Resume = &wireQueue{c.Queue}
	}
	return w
}

func fromDo(w *wireDo) (store.Request, error) {
	q := &store.Do{Actor: w.Actor, RequestID: w.RequestID}
	n := 0
	if w.Cancel != nil {
		n, q.Command = n+1, store.Cancel{Job: w.Cancel.Job, Force: w.Cancel.Force}
	}
	if w.Requeue != nil {
		n, q.Command = n+1, store.Requeue{Job: w.Requeue.Job}
	}
	if w.Pause != nil {
		n, q.Command = n+1, store.Pause{Queue: w.Pause.Queue}
	}
	if w.Resume != nil {
		n, q.Command = n+1, store.Resume{Queue: w.Resume.Queue}
	}
	if n != 1 {
		return nil, errOneOf
	}
	return q, nil
}

// each maps rows to their other form; nil stays nil.
func each[A, B any](rows []A, f func(A) B) []B {
	if rows == nil {
		return nil
	}
	out := make([]B, len(rows))
	for i := range rows {
		out[i] = f(rows[i])
	}
	return out
}
