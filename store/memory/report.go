package memory

import (
	"backwave/store"
	"backwave/store/rules"
)

func (s *Store) report(now store.Instant, r *store.Report) *store.Reported {
	out := &store.Reported{At: now}
	if len(r.Rows) > 0 {
		out.Rows = make([]store.ReportAnswer, len(r.Rows))
	}
	for i := range r.Rows {
		out.Rows[i] = s.reportRow(now, r.Worker, &r.Rows[i])
	}
	return out
}

func (s *Store) reportRow(now store.Instant, worker string, row *store.ReportRow) store.ReportAnswer {
	slot, ok := s.ids[row.Key.Job]
	if !ok {
		return store.ReportAnswer{Status: store.ReportStale}
	}
	if s.busy(row.Key.Job) {
		return store.ReportAnswer{Status: store.ReportBusy}
	}
	answer := rules.Report(s.change(slot), worker, row, now)
	if answer.Status != store.ReportApplied {
		s.drop()
		return answer
	}
	s.settle(slot)
	return answer
}
