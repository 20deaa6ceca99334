package pump

import "backwave/store"

// report returns a request with the outcomes that are due, or nil.
func (p *Pump) report() store.Request {
	l := &p.lanes[Reporting]
	l.due = Never
	rows := make([]store.ReportRow, 0, min(p.waiting, p.cfg.ReportBatch))
	for i := range p.held.len() {
		h := p.held.at(i)
		if !h.ready() {
			continue
		}
		if h.again > p.now || len(rows) == p.cfg.ReportBatch {
			l.due = min(l.due, max(h.again, p.now))
			continue
		}
		h.inReport = true
		rows = append(rows, store.ReportRow{Key: h.key, Outcome: h.outcome})
	}
	if len(rows) == 0 {
		return nil
	}
	l.report = rows
	return &store.Report{Worker: p.worker, Rows: rows}
}

func (p *Pump) reported(ev Reported, out []Action) []Action {
	if !p.answered(Reporting, ev.Op, &out) {
		return out
	}
	l := &p.lanes[Reporting]
	rows := l.report
	l.report = nil
	if len(rows) != len(ev.Rows) {
		panic("pump: the answer to a report has another number of rows than the request")
	}
	for k, a := range ev.Rows {
		i, ok := p.held.find(rows[k].Key)
		if !ok {
			continue
		}
		h := p.held.at(i)
		h.inReport = false
		switch a.Status {
		case store.ReportApplied, store.ReportAlready:
			p.done(i)
		case store.ReportStale:
			out = p.drop(i, out)
		case store.ReportBusy:
			out = p.again(i, out)
		case store.ReportRejected:
			out = p.rejected(i, a.Reason, out)
		}
	}
	return out
}

// rejected replaces the outcome at position i, which breaks a bound of the
// store, by a plain failure. It goes out at once, unless it was a failure that
// broke the bound: a store that goes on like this is not asked in a hot loop.
func (p *Pump) rejected(i int, reason string, out []Action) []Action {
	h := p.held.at(i)
	plain := h.outcome.Kind() == store.EndFailure
	h.outcome = store.Failure{Error: reason}
	if plain || h.lost {
		return p.again(i, out)
	}
	p.lanes[Reporting].due = p.now
	return out
}

// reportFailed keeps the outcomes of a failed report, to be sent again.
func (p *Pump) reportFailed(out []Action) []Action {
	l := &p.lanes[Reporting]
	rows := l.report
	l.report = nil
	for _, r := range rows {
		if i, ok := p.held.find(r.Key); ok {
			p.held.at(i).inReport = false
			out = p.again(i, out)
		}
	}
	return out
}

// again keeps the outcome at position i for the next tick while its lease can
// live. Once it is lost, one more try was all that a success had.
func (p *Pump) again(i int, out []Action) []Action {
	h := p.held.at(i)
	if h.lost && (h.lastTry || h.outcome.Kind() != store.EndSuccess) {
		return p.drop(i, out)
	}
	h.lastTry = h.lost
	h.again = p.now.Add(p.cfg.PollInterval)
	p.lanes[Reporting].due = min(p.lanes[Reporting].due, h.again)
	p.watch(h)
	return out
}
