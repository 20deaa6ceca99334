package explore

import (
	"time"

	"backwave/store"
	"backwave/store/memory"
)

// live returns the serial of the job's lease that has not ended, 0 if none.
// That the row tells is checked at every change of it.
func (m *machine) live(i int) uint8 {
	if m.row(i).State == store.Executing {
		return m.jobs[i].grants
	}
	return 0
}

// lives reports whether lease number serial of job i, whose row is j, has
// neither ended nor lapsed.
func (m *machine) lives(i int, j *store.Job, serial uint8) bool {
	return serial != 0 && j.State == store.Executing && m.jobs[i].grants == serial && m.Now() < j.LeaseUntil
}

// applied judges what the store did with c, row by row: what each was, and what
// it became.
func (m *machine) applied(p *process, c *call) {
	changes := m.store.Changes()
	switch req := c.req.(type) {
	case *store.Claim:
		m.claimed(p, req, c.reply.(*store.Claimed), changes)
	case *store.Renew:
		m.renewed(p, c, req, c.reply.(*store.Renewed), changes)
	case *store.Report:
		m.reported(p, c, req, c.reply.(*store.Reported), changes)
	case *store.Sweep:
		m.swept(p, req, c.reply.(*store.Swept), changes)
	case *store.Enqueue, *store.Do:
		m.breach("legal", "a pump sent a %T", c.req)
	}
	for i := range changes {
		m.counted(&changes[i])
	}
}

// counted checks what holds of every change, whatever made it.
func (m *machine) counted(ch *memory.Change) {
	b, a := &ch.Before, &ch.After
	i := m.jobOf(a.ID)
	j := &m.jobs[i]
	m.tellMove(b, a)
	executing := 0
	if a.State == store.Executing {
		executing = 1
	}
	ends := a.EndsCut + len(a.Ends)
	if a.Attempt != int(j.grants) || ends+executing != int(j.grants) {
		m.breach("accounting", "%s: %d claims, but the row counts %d attempts, %d ends and %d executing (%v)", j.name, j.grants, a.Attempt, ends, executing, a.State)
	}
	if grew := ends - b.EndsCut - len(b.Ends); grew > 1 {
		m.breach("effect-once", "%s: %d ends were recorded at once", j.name, grew)
	}
	if b.State.Terminal() {
		m.breach("final", "%s had ended as %v, and was changed (%v)", j.name, b.State, a.State)
	}
	if n := len(a.Ends); executing == 0 && n > 0 && a.Ends[n-1].Attempt != n+a.EndsCut {
		m.breach("effect-once", "%s: end number %d is recorded as of attempt %d", j.name, n+a.EndsCut, a.Ends[n-1].Attempt)
	}
}

func (m *machine) claimed(p *process, req *store.Claim, r *store.Claimed, changes []memory.Change) {
	if len(changes) > req.Max {
		m.breach("pool", "a claim of %s asked for %d and took %d", m.who(p), req.Max, len(changes))
	}
	m.tookAgain(p, req, changes)
	for k := range changes {
		b, a := &changes[k].Before, &changes[k].After
		i := m.jobOf(a.ID)
		j := &m.jobs[i]
		switch {
		case b.State == store.Executing:
			m.breach("exclusive", "%s was claimed by %s while its lease until %s had not ended", j.name, m.who(p), m.clock(b.LeaseUntil))
		case b.State != store.Scheduled || a.State != store.Executing:
			m.breach("legal", "%s went from %v to %v by a claim", j.name, b.State, a.State)
		case b.Due > m.Now():
			m.breach("due", "%s was claimed at %s, and is due at %s", j.name, m.clock(m.Now()), m.clock(b.Due))
		case j.cancel:
			m.breach("no-claim-after-cancel", "%s was claimed at %s after a cancel had been accepted", j.name, m.clock(m.Now()))
		case a.Worker != req.Worker || a.Claim != req.Number:
			m.breach("exclusive", "%s was claimed by %s, but leased to another worker or claim number", j.name, m.who(p))
		}
		m.lasts(i, a)
		j.grants++
	}
	for k := range r.Leases {
		key := r.Leases[k].Key
		i := m.jobOf(key.Job)
		row := m.row(i)
		if !m.lives(i, row, m.jobs[i].grants) || row.Worker != req.Worker || key.Claim != req.Number || row.Claim != req.Number || key.Attempt != int(m.jobs[i].grants) {
			m.breach("exclusive", "a claim of %s was answered attempt %d of %s at %s, which is not its living lease", m.who(p), key.Attempt, m.jobs[i].name, m.clock(m.Now()))
		}
	}
	m.answeredAgain(p, req, r)
}

// tookAgain checks that a claim whose number, or a higher one, has a living
// lease takes nothing more.
func (m *machine) tookAgain(p *process, req *store.Claim, changes []memory.Change) {
	if len(changes) == 0 {
		return
	}
	for i := range m.opt.Jobs {
		row := m.row(i)
		fresh := false
		for k := range changes {
			fresh = fresh || changes[k].After.ID == row.ID
		}
		if !fresh && row.Worker == req.Worker && row.Claim >= req.Number && m.lives(i, row, m.jobs[i].grants) {
			m.breach("pool", "a claim of %s took %d at %s although the lease of %s lives, which its number or a higher one took", m.who(p), len(changes), m.clock(m.Now()), m.jobs[i].name)
		}
	}
}

// answeredAgain checks that a claim is answered every lease of its number that
// lives.
func (m *machine) answeredAgain(p *process, req *store.Claim, r *store.Claimed) {
	for i := range m.opt.Jobs {
		row := m.row(i)
		if row.Worker != req.Worker || row.Claim != req.Number || !m.lives(i, row, m.jobs[i].grants) {
			continue
		}
		found := false
		for k := range r.Leases {
			found = found || r.Leases[k].Key.Job == row.ID
		}
		if !found {
			m.breach("pool", "a claim of %s was not answered %s at %s, which its number took and whose lease lives", m.who(p), m.jobs[i].name, m.clock(m.Now()))
		}
	}
}

// lasts checks that a lease was granted or renewed to now + its length.
func (m *machine) lasts(i int, a *store.Job) {
	if want := m.Now().Add(m.cfg.LeaseDuration); a.LeaseUntil != want || a.LeaseFor != m.cfg.LeaseDuration {
		m.breach("fence", "%s was leased at %s for %v until %s, want until %s", m.jobs[i].name, m.clock(m.Now()), a.LeaseFor, m.clock(a.LeaseUntil), m.clock(want))
	}
}

func (m *machine) renewed(p *process, c *call, req *store.Renew, r *store.Renewed, changes []memory.Change) {
	just := 0 // a bit for each change that a living lease stands behind
	for k := range req.Rows {
		key := req.Rows[k].Key
		i := m.jobOf(key.Job)
		before, ch := m.before(changes, i)
		alive, answer := m.lives(i, before, c.leases[k]), r.Rows[k]
		switch {
		case !alive && answer.Status == store.RenewOK:
			m.breach("fence", "the renewal of attempt %d of %s by %s was granted at %s without a living lease%s", key.Attempt, m.jobs[i].name, m.who(p), m.clock(m.Now()), m.instead(before))
		case alive && (ch < 0 || answer.Status != store.RenewOK):
			m.breach("neighbours", "the renewal of attempt %d of %s, whose lease lives, was answered %v at %s", key.Attempt, m.jobs[i].name, answer.Status, m.clock(m.Now()))
		case alive && answer.Cancel != m.jobs[i].cancel:
			m.breach("no-claim-after-cancel", "a renewal of %s was answered cancel requested %t, want %t", m.jobs[i].name, answer.Cancel, m.jobs[i].cancel)
		}
		if alive && ch >= 0 {
			just |= 1 << ch
			m.lasts(i, &changes[ch].After)
			m.onlyLease(i, &changes[ch])
		}
		if answer.Status == store.RenewLost {
			m.seen |= sawLost
		}
	}
	m.justified(p, c, changes, just)
}

// before returns the row of job i before changes, and which of them changed it;
// -1 if none did.
func (m *machine) before(changes []memory.Change, i int) (row *store.Job, ch int) {
	for k := range changes {
		if changes[k].After.ID == m.jobs[i].id {
			return &changes[k].Before, k
		}
	}
	return m.row(i), -1
}

// justified checks that a living lease stands behind every change of a call.
func (m *machine) justified(p *process, c *call, changes []memory.Change, just int) {
	for k := range changes {
		if just&(1<<k) == 0 {
			b := &changes[k].Before
			m.breach("fence", "%s was changed by a %s of %s at %s without a living lease%s", m.jobs[m.jobOf(b.ID)].name, c.kind, m.who(p), m.clock(m.Now()), m.instead(b))
		}
	}
}

// onlyLease checks that a renewal changed nothing but the end of the lease.
func (m *machine) onlyLease(i int, ch *memory.Change) {
	b, a := &ch.Before, &ch.After
	if a.State != b.State || a.Attempt != b.Attempt || a.Base != b.Base || a.Worker != b.Worker || a.Claim != b.Claim || a.CancelRequested != b.CancelRequested {
		m.breach("fence", "a renewal of %s changed more than the lease", m.jobs[i].name)
	}
}

func (m *machine) reported(p *process, c *call, req *store.Report, r *store.Reported, changes []memory.Change) {
	just := 0
	for k := range req.Rows {
		key, kind := req.Rows[k].Key, req.Rows[k].Outcome.Kind()
		i := m.jobOf(key.Job)
		before, ch := m.before(changes, i)
		alive, answer := m.lives(i, before, c.leases[k]), r.Rows[k]
		if answer.Status == store.ReportStale {
			m.seen |= sawStale
		}
		switch {
		case !alive && answer.Status == store.ReportApplied:
			m.breach("fence", "the %v of attempt %d of %s by %s was recorded at %s without a living lease%s", kind, key.Attempt, m.jobs[i].name, m.who(p), m.clock(m.Now()), m.instead(before))
		case !alive:
			m.already(p, i, before, c.leases[k], key, answer)
		case ch < 0 || answer.Status != store.ReportApplied || answer.To != changes[ch].After.State:
			m.breach("neighbours", "the %v of attempt %d of %s, whose lease lives, was answered %v at %s", kind, key.Attempt, m.jobs[i].name, answer.Status, m.clock(m.Now()))
		default:
			just |= 1 << ch
			m.judged(i, &changes[ch], kind)
		}
	}
	m.justified(p, c, changes, just)
}

// already checks the answer to a report whose lease does not live: it is
// AlreadyApplied exactly if this very lease's worker had an end recorded.
func (m *machine) already(p *process, i int, row *store.Job, lease uint8, key store.LeaseKey, answer store.ReportAnswer) {
	kind := store.EndKind(0)
	if n := int(lease) - row.EndsCut; n >= 1 && n <= len(row.Ends) && row.Ends[n-1].Kind <= store.EndUndecodable {
		kind = row.Ends[n-1].Kind
	}
	switch {
	case answer.Status == store.ReportAlready && answer.Already != kind:
		m.breach("already-applied", "attempt %d of %s was answered already-applied as %v to %s, which had %s recorded", key.Attempt, m.jobs[i].name, answer.Already, m.who(p), orNothing(kind))
	case answer.Status == store.ReportStale && kind != 0:
		m.breach("already-applied", "attempt %d of %s was answered stale to %s, which had %v recorded", key.Attempt, m.jobs[i].name, m.who(p), kind)
	case answer.Status == store.ReportAlready:
		m.seen |= sawAlready
	}
}

func orNothing(k store.EndKind) string {
	if k == 0 {
		return "nothing"
	}
	return k.String()
}

// judged checks what became of an attempt that ended as kind.
func (m *machine) judged(i int, ch *memory.Change, kind store.EndKind) {
	b, a, j := &ch.Before, &ch.After, &m.jobs[i]
	if n := len(a.Ends); n == 0 || a.Ends[n-1].Kind != kind {
		m.breach("history", "attempt %d of %s ended as %v, which is not what is recorded", b.Attempt, j.name, kind)
		return
	}
	to, rest, free, rule := store.Scheduled, time.Duration(0), 0, "ceiling"
	switch kind {
	case store.EndSuccess:
		to, rule = store.Succeeded, "legal"
	case store.EndFailure, store.EndLapse:
		rest = Tick
		if b.Attempt >= b.Base+m.opt.Attempts {
			to = store.DeadLettered
			m.seen |= sawDead
		}
	case store.EndRelease:
		free = 1
	case store.EndDiscard, store.EndSnooze, store.EndUnknownName, store.EndUndecodable, store.EndCancel, store.EndForce:
		m.breach("legal", "attempt %d of %s ended as %v, and nobody here does that", b.Attempt, j.name, kind)
	}
	if j.cancel && kind != store.EndSuccess {
		to, rule = store.Cancelled, "no-claim-after-cancel"
	}
	if a.State != to {
		m.breach(rule, "attempt %d of %s ended as %v with base %d, cancel asked %t: it must lead to %v, not %v", b.Attempt, j.name, kind, b.Base, j.cancel, to, a.State)
		return
	}
	if to != store.Scheduled {
		free = 0
	}
	if a.Base != b.Base+free || to == store.Scheduled && a.Due != m.Now().Add(rest) {
		m.breach("ceiling", "attempt %d of %s ended as %v at %s with base %d: now base is %d, and it is due at %s", b.Attempt, j.name, kind, m.clock(m.Now()), b.Base, a.Base, m.clock(a.Due))
	}
}

func (m *machine) swept(p *process, req *store.Sweep, r *store.Swept, changes []memory.Change) {
	for k := range changes {
		b := &changes[k].Before
		i := m.jobOf(b.ID)
		switch {
		case b.State != store.Executing:
			m.breach("legal", "%s was swept while it was %v", m.jobs[i].name, b.State)
		case m.Now() < b.LeaseUntil:
			m.breach("detection", "%s was swept by %s at %s; its lease lives until %s", m.jobs[i].name, m.who(p), m.clock(m.Now()), m.clock(b.LeaseUntil))
		default:
			m.seen |= sawLapse
			m.judged(i, &changes[k], store.EndLapse)
		}
	}
	if len(changes) > req.Max || len(r.Disposed) != len(changes) {
		m.breach("detection", "a sweep of %s disposed of %d, at most %d were asked for, and %d were answered", m.who(p), len(changes), req.Max, len(r.Disposed))
	}
	for i := range m.opt.Jobs {
		if row := m.row(i); len(changes) < req.Max && row.State == store.Executing && row.LeaseUntil <= m.Now() {
			m.breach("detection", "the lease of %s lapsed at %s and was left by the sweep of %s at %s", m.jobs[i].name, m.clock(row.LeaseUntil), m.who(p), m.clock(m.Now()))
		}
	}
}

// cancelled judges an operator's cancel of job i.
func (m *machine) cancelled(i int, result store.DoResult) {
	j := &m.jobs[i]
	changes := m.store.Changes()
	if result != store.DoChanged || len(changes) != 1 || changes[0].After.ID != j.id {
		m.breach("no-claim-after-cancel", "a cancel of %s was answered %v and changed %d rows", j.name, result, len(changes))
		return
	}
	j.cancel = true
	b, a := &changes[0].Before, &changes[0].After
	lives := b.State == store.Executing && m.Now() < b.LeaseUntil
	switch {
	case lives && (a.State != store.Executing || !a.CancelRequested || a.LeaseUntil != b.LeaseUntil):
		m.breach("fence", "a cancel of %s, whose lease lives, did more than ask, or did not ask", j.name)
	case !lives && a.State != store.Cancelled:
		m.breach("no-claim-after-cancel", "a cancel left %s %v", j.name, a.State)
	}
	m.counted(&changes[0])
}

// instead says whose lease a row is under.
func (m *machine) instead(row *store.Job) string {
	if row.State != store.Executing {
		return "; the job is " + row.State.String()
	}
	who := "a process that is gone"
	if p := m.process(row.Worker); p != nil {
		who = m.who(p)
	}
	return "; the lease is of attempt " + itoa(row.Attempt) + " and held by " + who + " until " + m.clock(row.LeaseUntil)
}
