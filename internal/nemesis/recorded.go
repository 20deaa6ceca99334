//go:build unix

package nemesis

import (
	"slices"

	"backwave/history"
	"backwave/store"
)

// recorded compares what workers said and were told with the ends that the store
// has.
func (v *verdict) recorded() {
	rep := v.run.report
	calls := map[uint64]store.Request{}
	sent := map[store.LeaseKey][]store.EndKind{} // outcomes that were reported, of each lease
	for _, r := range v.log.Records() {
		switch r.Kind {
		case history.Sent:
			rep.Calls++
			calls[r.Call] = r.Req
			if q, ok := r.Req.(*store.Report); ok {
				for i := range q.Rows {
					key := q.Rows[i].Key
					sent[key] = append(sent[key], q.Rows[i].Outcome.Kind())
				}
			}
		case history.Answered:
			v.told(calls[r.Call], r.Reply)
			delete(calls, r.Call)
		case history.Failed:
			delete(calls, r.Call)
		case history.Applied, history.Lost, history.Doubled, history.Forgot, history.Stepped:
		}
	}
	rep.Unanswered = len(calls)
	for id, j := range v.jobs {
		for _, end := range j.Ends {
			v.known(j, end, sent[store.LeaseKey{Job: id, Attempt: end.Attempt, Claim: end.Claim}])
		}
	}
}

// told looks for the ends that an answer speaks of.
func (v *verdict) told(req store.Request, reply store.Reply) {
	switch a := reply.(type) {
	case *store.Reported:
		q := req.(*store.Report)
		for i := range a.Rows {
			if a.Rows[i].Status == store.ReportApplied {
				v.ended(q.Rows[i].Key, q.Rows[i].Outcome.Kind())
			}
		}
	case *store.Swept:
		for i := range a.Disposed {
			v.ended(a.Disposed[i].Key, store.EndLapse)
		}
	case *store.Claimed, *store.Renewed, *store.Enqueued, *store.Done:
	}
}

// ended looks for one end of a job.
func (v *verdict) ended(key store.LeaseKey, kind store.EndKind) {
	j := v.jobs[key.Job]
	if j == nil || j.EndsCut > 0 { // the one is told elsewhere, and of the other not everything is known
		return
	}
	if !slices.ContainsFunc(j.Ends, func(e store.End) bool {
		return e.Attempt == key.Attempt && e.Claim == key.Claim && e.Kind == kind
	}) {
		v.run.find(checkRecorded, key.Job.String(), "the store answered that attempt %d has ended as %s, and has no such end", key.Attempt, kind)
	}
}

// known asks who can have brought about a recorded end. Sweeps bring about a
// lapse, and a transaction a success, of which there is an effect then.
func (v *verdict) known(j *store.Job, end store.End, sent []store.EndKind) {
	switch {
	case end.Kind == store.EndLapse || slices.Contains(sent, end.Kind):
	case end.Kind == store.EndSuccess && (j.Name == tx || j.Name == longTx) && slices.Contains(v.effects[j.ID], end.Attempt):
	default:
		v.run.find(checkRecorded, j.ID.String(), "attempt %d of %s ended as %s, which its worker never reported", end.Attempt, j.Name, end.Kind)
	}
}
