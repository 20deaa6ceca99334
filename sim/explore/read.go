package explore

import (
	"encoding/binary"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// reader is a Walker that makes a process of what a writer wrote.
type reader struct {
	m      *machine
	p      *process
	b      []byte
	named  bool
	owners [maxJobs]owner
	starts [maxNodes]int // of the processes of each node, for stories
}

// owner is whose lease a row is under, and whose its recorded ends are.
type owner struct {
	p     *process
	claim uint64
	ends  [16]struct {
		p     *process
		claim uint64
	}
}

// load makes m the state that save has written as b, which must stay as it is
// for as long as m is asked to go back to it.
func (m *machine) load(b []byte) {
	r := &m.r
	r.b, r.owners = b, [maxJobs]owner{}
	m.now, m.bad, m.moved = base, nil, false
	m.left = r.byte()
	n := r.byte()
	m.procs = m.procs[:0]
	for i := range m.opt.Jobs {
		m.jobs[i].taught, m.jobs[i].begun = 0, 0
	}
	for i := range n {
		p := &m.pool[i]
		p.node = i
		m.procs = append(m.procs, p)
		size, k := binary.Uvarint(r.b)
		p.raw = r.b[k : k+int(size)]
		rest := r.b[k+int(size):]
		r.process(p, p.raw)
		r.b = rest
	}
	r.rows()
	if len(r.b) != 0 {
		panic("explore: a state has bytes left over")
	}
	m.loaded = append(m.loaded[:0], m.procs...)
	m.asBooks, m.asLeft = m.jobs, m.left
}

// again makes m the state that was loaded last, after a move away from it.
func (m *machine) again() {
	if m.moved {
		m.store.Rewind(m.rows, m.instant(base))
	}
	m.now, m.bad, m.moved = base, nil, false
	m.procs = append(m.procs[:0], m.loaded...)
	for _, p := range m.procs {
		if p.dirty {
			m.r.process(p, p.raw)
		}
	}
	m.jobs, m.left = m.asBooks, m.asLeft
}

func (r *reader) byte() int {
	v := r.b[0]
	r.b = r.b[1:]
	return int(v)
}

// flags reads what the function flags has made of as many.
func (r *reader) flags(of ...*bool) {
	n := r.byte()
	for i, f := range of {
		*f = n&(1<<i) != 0
	}
}

// process makes p what raw says.
func (r *reader) process(p *process, raw []byte) {
	p.reset()
	p.raw = raw
	r.p, r.b, r.named = p, raw, false
	r.flags(&p.alive, &p.paused, &p.asked)
	r.owned()
	if p.alive {
		if p.pump == nil {
			p.pump = pump.New(r.m.cfg, p.name, base)
		}
		p.pump.Blank(base)
		p.pump.Walk(r)
		for range r.byte() {
			var run run
			r.Key(&run.key)
			run.lease, run.told = uint8(r.byte()), pump.Reason(r.byte())
			p.runs = append(p.runs, run)
		}
		r.book(&p.book)
	}
	for range r.byte() {
		r.call()
	}
	if len(r.b) != 0 {
		panic("explore: a process has bytes left over")
	}
}

func (r *reader) owned() {
	for range r.byte() {
		i, k, claim := r.byte(), r.byte(), uint64(r.byte())
		o := &r.owners[i]
		if k == 0 {
			o.p, o.claim = r.p, claim
			continue
		}
		o.ends[k-1].p, o.ends[k-1].claim = r.p, claim
		r.p.ends[i] |= 1 << (k - 1)
	}
}

// call reads a call. Requests and answers are made anew: pumps and stores keep
// parts of them.
func (r *reader) call() {
	var c call
	fatal := false
	r.Op(&c.op)
	c.kind = pump.Kind(r.byte())
	r.flags(&c.late, &c.answered, &c.heard, &c.refused, &fatal)
	if c.refused && !fatal {
		c.failed = store.FaultConnection
	}
	replied := c.answered && !c.refused
	cfg := &r.m.cfg
	switch c.kind {
	case pump.Claiming:
		r.claim(&c, replied)
	case pump.Renewing:
		r.renew(&c, replied)
	case pump.Reporting:
		r.report(&c, replied)
	case pump.Sweeping:
		req := &store.Sweep{Queues: []string{queueName}, Max: cfg.SweepBatch}
		r.flags(&req.Any)
		c.req = req
		if replied {
			c.reply = &store.Swept{At: r.m.Now(), Disposed: make([]store.Lapse, r.byte())}
		}
	}
	r.p.calls = append(r.p.calls, c)
}

func (r *reader) claim(c *call, replied bool) {
	cfg := &r.m.cfg
	req := &store.Claim{
		Worker: r.p.name, Queues: []store.Quota{{Queue: queueName, Most: cfg.ClaimBatch}},
		Lease: cfg.LeaseDuration, Terms: cfg.Terms,
	}
	c.req = req
	r.Number(&req.Number)
	r.Since(&c.since)
	if !replied {
		req.Max = r.byte()
		return
	}
	reply := &store.Claimed{At: r.m.Now()}
	r.flags(&reply.HasNext)
	reply.Next = time.Duration(r.byte()) * Tick
	n := r.byte()
	for range n {
		l := store.Lease{Name: jobName, Queue: queueName}
		r.Key(&l.Key)
		l.Base = r.byte()
		v := r.byte()
		lease := uint8(v >> 2)
		r.mark(r.m.jobOf(l.Key.Job), lease, v)
		reply.Leases = append(reply.Leases, l)
		c.leases = append(c.leases, lease)
	}
	c.reply = reply
}

// mark books what marksOf said of a lease.
func (r *reader) mark(i int, lease uint8, marks int) {
	j := &r.m.jobs[i]
	j.taught |= uint16(marks&1) << lease
	j.begun |= uint16(marks>>1&1) << lease
}

func (r *reader) renew(c *call, replied bool) {
	req := &store.Renew{Worker: r.p.name, Lease: r.m.cfg.LeaseDuration}
	c.req = req
	r.Since(&c.since)
	n := r.byte()
	for range n {
		var row store.RenewRow
		r.Key(&row.Key)
		req.Rows = append(req.Rows, row)
		c.leases = append(c.leases, uint8(r.byte()))
	}
	if !replied {
		return
	}
	reply := &store.Renewed{At: r.m.Now()}
	for range n {
		v := r.byte()
		reply.Rows = append(reply.Rows, store.RenewAnswer{Status: store.RenewStatus(v >> 1), Cancel: v&1 != 0})
	}
	c.reply = reply
}

func (r *reader) report(c *call, replied bool) {
	req := &store.Report{Worker: r.p.name}
	c.req = req
	n := r.byte()
	for range n {
		var row store.ReportRow
		r.Key(&row.Key)
		r.Outcome(&row.Outcome)
		req.Rows = append(req.Rows, row)
		c.leases = append(c.leases, uint8(r.byte()))
	}
	if !replied {
		return
	}
	reply := &store.Reported{At: r.m.Now()}
	for range n {
		status, already, to := r.byte(), r.byte(), r.byte()
		reply.Rows = append(reply.Rows, store.ReportAnswer{Status: store.ReportStatus(status), Already: store.EndKind(already), To: store.State(to)})
	}
	c.reply = reply
}

func (r *reader) rows() {
	m := r.m
	m.rows = m.rows[:0]
	for i := range m.opt.Jobs {
		j, old, o := &m.jobs[i], m.row(i), &r.owners[i]
		row := store.Job{
			ID: j.id, Seq: old.Seq, Name: jobName, Queue: queueName,
			State: store.State(r.byte()), Ends: m.ends[i][:0],
		}
		if row.State == 0 { // it has ended, and nobody has to do with it
			row.State, j.grants, j.cancel = store.Succeeded, 0, false
			m.rows = append(m.rows, row)
			continue
		}
		j.grants = uint8(r.byte())
		r.flags(&j.cancel, &row.CancelRequested)
		row.Attempt, row.Base = r.byte(), r.byte()
		switch row.State {
		case store.Scheduled:
			row.Due = r.instant()
		case store.Executing:
			row.LeaseUntil = r.instant()
			r.mark(i, j.grants, r.byte())
			row.LeaseFor, row.Ceiling, row.RetryDelay = m.cfg.LeaseDuration, m.cfg.Terms.Default.MaxAttempts, Tick
			row.Worker = "nobody"
			if o.p != nil {
				row.Worker, row.Claim = o.p.name, o.claim
			}
		case store.Awaiting, store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined:
		}
		for k := range r.byte() {
			e := store.End{Attempt: k + 1, Kind: store.EndKind(r.byte()), Lease: m.cfg.LeaseDuration}
			if owner := &o.ends[k]; owner.p != nil {
				e.Worker, e.Claim = owner.p.name, owner.claim
			}
			row.Ends = append(row.Ends, e)
		}
		m.ends[i] = row.Ends
		m.rows = append(m.rows, row)
	}
	m.store.Rewind(m.rows, m.Now())
}

func (r *reader) instant() store.Instant {
	v := r.byte()
	if v >= 128 {
		return r.m.Now().Add(time.Duration(v-128) * Tick)
	}
	return r.m.Now() - store.Instant(128-v)
}

func (r *reader) book(b *book) {
	r.flags(&b.stood, &b.fatal)
	if r.p.pump.Ended() {
		b.phase, b.limit = draining, base
		return
	}
	b.phase = phase(r.byte())
	r.Due(&b.limit)
	v := r.byte()
	b.shown, b.marks = uint8(v>>4), uint8(v&15)
	for k := range b.lanes {
		l := &b.lanes[k]
		r.Op(&l.op)
		if l.op != 0 {
			r.Due(&l.giveUp)
		} else {
			r.Due(&l.hold)
		}
	}
	r.Number(&b.number)
	r.flags(&b.closed, &b.open, &b.urgent)
	if b.open {
		r.Since(&b.first)
	}
	r.Due(&b.sweepDue)
	r.Due(&b.pollDue)
	for range r.byte() {
		var h hold
		r.Key(&h.key)
		h.lease = uint8(r.byte())
		r.flags(&h.running, &h.lost, &h.cancel, &h.timedOut, &h.abandoned, &h.engine, &h.optional, &h.inReport)
		if !h.lost {
			r.Since(&h.sent)
		}
		h.told = pump.Reason(r.byte())
		r.Due(&h.timeoutAt)
		r.Due(&h.abandonAt)
		h.owed, h.sentLost = store.EndKind(r.byte()), uint8(r.byte())
		r.Due(&h.again)
		b.holds = append(b.holds, h)
	}
}
