package explore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"backwave/store"
)

// cannot is what the canonical form has no place for. If the product itself
// makes it, explore has to learn it; a planted bug may do so, and is caught.
type cannot struct{ what string }

func refuseToWrite(format string, args ...any) { panic(cannot{fmt.Sprintf(format, args...)}) }

// The bytes of a time: how many ticks ahead it is, above these.
const (
	writtenNever = 0
	writtenPast  = 1
	writtenNow   = 2
)

// writer is a Walker that writes a process in canonical form.
type writer struct {
	m     *machine
	p     *process
	b     []byte
	named bool
	parts [][]byte   // scratch
	ends  []int      // scratch
	spare []byte     // scratch
	past  ranks      // scratch
	live  []*process // scratch
}

// save appends the canonical form of the state to out.
func (m *machine) save(out []byte) []byte {
	w := &m.w
	w.live, m.touched = w.live[:0], 0
	for _, p := range m.procs {
		if !p.alive && len(p.calls) == 0 {
			continue
		}
		if p.raw == nil || p.dirty || m.moved {
			m.gather(p)
			p.blob = w.process(p, p.blob[:0])
		} else {
			p.blob = append(p.blob[:0], p.raw...)
		}
		m.touched |= p.touches
		w.live = append(w.live, p)
	}
	slices.SortStableFunc(w.live, func(a, b *process) int { return bytes.Compare(a.blob, b.blob) })
	out = append(out, byte(m.left), byte(len(w.live)))
	for _, p := range w.live {
		out = binary.AppendUvarint(out, uint64(len(p.blob)))
		out = append(out, p.blob...)
	}
	w.b = out
	w.rows()
	return w.b
}

func (w *writer) byte(v int) { w.b = append(w.b, byte(v)) }

func (w *writer) process(p *process, out []byte) []byte {
	w.p, w.b, w.named = p, out, false
	w.byte(flags(p.alive, p.paused, p.asked))
	w.owned()
	if p.alive {
		p.pump.Walk(w)
		w.byte(len(p.runs))
		for i := range p.runs {
			w.Key(&p.runs[i].key)
			w.byte(int(p.runs[i].lease))
			w.byte(int(p.runs[i].told))
		}
		w.book(&p.book)
	}
	w.calls()
	return w.b
}

func flags(of ...bool) (n int) {
	for i, f := range of {
		if f {
			n |= 1 << i
		}
	}
	return n
}

// owned writes which leases and recorded ends are the worker's. So rows need no
// names, and processes can be sorted.
func (w *writer) owned() {
	m, p := w.m, w.p
	at := len(w.b)
	w.byte(0) // how many
	p.ends = [maxJobs]uint16{}
	for i := range m.opt.Jobs {
		row := m.row(i)
		if row.State == store.Executing && row.Worker == p.name {
			w.b = append(w.b, byte(i), 0, p.numbers.of(row.Claim))
			w.b[at]++
		}
		for k := range row.Ends {
			if e := &row.Ends[k]; e.Worker == p.name && p.mayReport(row.ID, e) {
				w.b = append(w.b, byte(i), byte(k)+1, p.numbers.of(e.Claim))
				w.b[at]++
				p.ends[i] |= 1 << k
			}
		}
	}
}

// calls writes the calls in an order of their own.
func (w *writer) calls() {
	w.byte(len(w.p.calls))
	start := len(w.b)
	w.parts = w.parts[:0]
	ends := w.ends[:0]
	for i := range w.p.calls {
		w.call(&w.p.calls[i])
		ends = append(ends, len(w.b))
	}
	w.ends = ends
	if len(ends) < 2 {
		return
	}
	w.spare = append(w.spare[:0], w.b[start:]...)
	at := 0
	for _, end := range ends {
		w.parts = append(w.parts, w.spare[at:end-start])
		at = end - start
	}
	slices.SortStableFunc(w.parts, bytes.Compare)
	w.b = w.b[:start]
	for _, part := range w.parts {
		w.b = append(w.b, part...)
	}
}

func (w *writer) call(c *call) {
	w.Op(&c.op)
	w.byte(int(c.kind))
	w.byte(flags(c.late, c.answered, c.heard, c.refused, c.failed == store.FaultFatal))
	switch req := c.req.(type) {
	case *store.Claim:
		w.claim(c, req)
	case *store.Renew:
		w.Since(&c.since)
		w.byte(len(req.Rows))
		for k := range req.Rows {
			w.Key(&req.Rows[k].Key)
			w.Bytes(&req.Rows[k].Progress)
			w.byte(int(c.leases[k]))
		}
		if r, ok := c.reply.(*store.Renewed); ok {
			for k := range r.Rows {
				w.byte(int(r.Rows[k].Status)<<1 | flags(r.Rows[k].Cancel))
			}
		}
	case *store.Report:
		w.byte(len(req.Rows))
		for k := range req.Rows {
			w.Key(&req.Rows[k].Key)
			w.Outcome(&req.Rows[k].Outcome)
			w.byte(int(c.leases[k]))
		}
		if r, ok := c.reply.(*store.Reported); ok {
			for k := range r.Rows {
				w.byte(int(r.Rows[k].Status))
				w.byte(int(r.Rows[k].Already))
				w.byte(int(r.Rows[k].To))
			}
		}
	case *store.Sweep:
		w.byte(flags(req.Any))
		if r, ok := c.reply.(*store.Swept); ok {
			w.byte(len(r.Disposed))
		}
	case *store.Enqueue, *store.Do:
		refuseToWrite("a pump sent a %T", req)
	}
	w.same(c)
}

func (w *writer) claim(c *call, req *store.Claim) {
	w.Number(&req.Number)
	w.Since(&c.since)
	r, ok := c.reply.(*store.Claimed)
	if !ok {
		w.byte(req.Max)
		return
	}
	w.byte(flags(r.HasNext))
	w.span(r.Next)
	w.byte(len(r.Leases))
	for k := range r.Leases {
		w.Key(&r.Leases[k].Key)
		w.byte(r.Leases[k].Base)
		w.byte(int(c.leases[k])<<2 | w.m.marksOf(w.m.jobOf(r.Leases[k].Key.Job), c.leases[k]))
	}
}

// same checks that a request is what the reader will make of it.
func (w *writer) same(c *call) {
	cfg := &w.m.cfg
	ok := true
	switch req := c.req.(type) {
	case *store.Claim:
		ok = req.Worker == w.p.name && req.Lease == cfg.LeaseDuration && len(req.Queues) == 1 && req.Queues[0].Queue == queueName && req.Queues[0].Most == cfg.ClaimBatch && req.Terms == cfg.Terms
	case *store.Renew:
		ok = req.Worker == w.p.name && req.Lease == cfg.LeaseDuration
	case *store.Report:
		ok = req.Worker == w.p.name
	case *store.Sweep:
		ok = req.Max == cfg.SweepBatch && len(req.Queues) == 1 && req.Queues[0] == queueName
	case *store.Enqueue, *store.Do:
	}
	if !ok {
		refuseToWrite("a %s that differs from what its pump was configured to send", c.kind)
	}
}
