package explore

import (
	"backwave/store"
)

// rows writes the rows of the jobs, but for whose they are.
func (w *writer) rows() {
	m := w.m
	for i := range m.opt.Jobs {
		row, j := m.row(i), &m.jobs[i]
		if m.over(i) {
			w.byte(0)
			continue
		}
		w.byte(int(row.State))
		w.byte(int(j.grants))
		w.byte(flags(j.cancel, row.CancelRequested))
		w.byte(row.Attempt)
		w.byte(row.Base)
		switch row.State {
		case store.Scheduled:
			w.instant(row.Due, store.Scheduled)
		case store.Executing:
			w.instant(row.LeaseUntil, store.Executing)
			marks := 0
			if p := m.process(row.Worker); p != nil && p.alive {
				marks = m.marksOf(i, j.grants)
			}
			w.byte(marks)
		case store.Awaiting, store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined:
		}
		asked := uint16(0)
		for _, p := range w.live {
			asked |= p.ends[i]
		}
		w.byte(len(row.Ends))
		for k := range row.Ends {
			kind := row.Ends[k].Kind
			if asked&(1<<k) == 0 && (k < len(row.Ends)-1 || row.State != store.Scheduled) {
				kind = store.EndLapse // whatever it was: nobody can ask
			}
			w.byte(int(kind))
			if row.Ends[k].Attempt != k+1 {
				refuseToWrite("end number %d is of attempt %d", k+1, row.Ends[k].Attempt)
			}
		}
		if row.UnknownNames != 0 || row.Damage != "" || row.EndsCut != 0 || row.Progress != nil || row.Output != nil {
			refuseToWrite("a row that nothing here can make: %+v", *row)
		}
	}
}

// instant writes when a row is due or its lease ends. Of those that are past
// only the order matters: 127 is the latest, and so down.
func (w *writer) instant(t store.Instant, state store.State) {
	m := w.m
	if now := m.Now(); t >= now {
		d := t.Sub(now)
		if d%Tick != 0 {
			refuseToWrite("an instant of the store between ticks")
		}
		w.byte(128 + int(d/Tick))
		return
	}
	w.past = w.past[:0]
	for i := range m.opt.Jobs {
		if row := m.row(i); row.State == state && instantOf(row) < m.Now() {
			w.past.add(uint64(instantOf(row)))
		}
	}
	w.byte(127 - len(w.past) + int(w.past.of(uint64(t))))
}

// instantOf is when a waiting job is due, or a lease ends.
func instantOf(row *store.Job) store.Instant {
	if row.State == store.Executing {
		return row.LeaseUntil
	}
	return row.Due
}

// marksOf says of a lease whether its process was answered it, and whether its
// handler was started.
func (m *machine) marksOf(i int, lease uint8) int {
	j := &m.jobs[i]
	return flags(j.taught&(1<<lease) != 0, j.begun&(1<<lease) != 0)
}

// book writes what the invariants know of a process.
func (w *writer) book(b *book) {
	w.byte(flags(b.stood, b.fatal))
	if w.p.pump.Ended() {
		return
	}
	w.byte(int(b.phase))
	w.Due(&b.limit)
	w.byte(int(b.shown)<<4 | int(b.marks))
	for k := range b.lanes {
		l := &b.lanes[k]
		w.Op(&l.op)
		if l.op != 0 {
			w.Due(&l.giveUp)
		} else {
			w.Due(&l.hold)
		}
	}
	w.Number(&b.number)
	w.byte(flags(b.closed, b.open, b.urgent))
	if b.open {
		w.Since(&b.first)
	}
	w.Due(&b.sweepDue)
	w.Due(&b.pollDue)
	w.byte(len(b.holds))
	for i := range b.holds {
		h := &b.holds[i]
		w.Key(&h.key)
		w.byte(int(h.lease))
		w.byte(flags(h.running, h.lost, h.cancel, h.timedOut, h.abandoned, h.engine, h.optional, h.inReport))
		if !h.lost {
			w.Since(&h.sent)
		}
		w.byte(int(h.told))
		w.Due(&h.timeoutAt)
		w.Due(&h.abandonAt)
		w.byte(int(h.owed))
		w.byte(int(h.sentLost))
		w.Due(&h.again)
	}
}
