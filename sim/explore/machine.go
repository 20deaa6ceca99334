package explore

import (
	"encoding/binary"
	"fmt"

	"backwave/engine/pump"
	"backwave/store"
	"backwave/store/memory"
)

// base is now in every state that is worked on: states keep relative times.
const base = pump.Time(1000 * int64(Tick))

// epoch is the store's instant when node time is 0.
const epoch = store.Instant(1_750_000_000_000_000)

// machine holds one state, spread out so that it can take a move. A worker of
// the search has one and loads state after state into it.
type machine struct {
	opt  Options
	cfg  pump.Config
	now  pump.Time
	left int // of the budget of faults

	store *memory.Store
	jobs  [maxJobs]job
	rows  []store.Job // scratch, for Rewind
	ends  [maxJobs][]store.End

	procs []*process // in the order of the state
	pool  [maxProcs]process

	thorough bool // no move is hasty; for tests

	acts  []pump.Action
	bad   *Violation
	seen  Situations
	story func(who, text string) // nil while exploring
	ticks int                    // since the world began; only kept for stories

	touched uint8 // a bit for each job that a process has to do with; made by save

	// What load has made, for again.
	loaded  []*process
	asBooks [maxJobs]job
	asLeft  int
	moved   bool // the store has changed something, or time has passed

	w writer
	r reader
}

// job is what the invariants know of one job, beside its row.
type job struct {
	id     store.JobID
	name   string
	grants uint8  // claims that took it: the serial of its latest lease
	cancel bool   // an operator's cancel was accepted
	taught uint16 // a bit for each lease that its process was answered
	begun  uint16 // a bit for each lease whose handler was started
}

// process is one start of one node's process. One that has died is kept while
// calls of it are under way.
type process struct {
	name   string // its worker, which says nothing but its place in the pool
	node   int    // for stories: the canonical form knows no names
	start  int    // for stories: which start of its node
	alive  bool
	paused bool
	asked  bool // to stop
	pump   *pump.Pump
	runs   []run
	calls  []call
	book   book

	ops     []pump.Op        // calls that the pump waits for, in the order of its lanes
	numbers ranks            // of its claims
	keys    []store.LeaseKey // what it has to do with
	touches uint8            // the same, as a bit for each job
	ends    [maxJobs]uint16  // a bit for each recorded end that a report of its may ask for
	raw     []byte           // as it was read; nil if it was not
	dirty   bool             // raw does not hold any longer
	blob    []byte
}

// run is a handler that has not returned.
type run struct {
	key   store.LeaseKey
	lease uint8 // serial of the lease it was started on; 0 = none
	told  pump.Reason
}

// call is a request under way, or its answer.
type call struct {
	op       pump.Op
	kind     pump.Kind
	late     bool // it may take any time
	answered bool
	heard    bool // its twin was answered before: nobody listens any more
	failed   store.Fault
	refused  bool      // it is answered by an error: failed
	since    pump.Time // what leases count from that it brings or prolongs
	req      store.Request
	reply    store.Reply
	leases   []uint8 // serials behind the rows of the request, or of the leases of the reply to a claim
}

// Now implements memory.Clock.
func (m *machine) Now() store.Instant { return m.instant(m.now) }

func (m *machine) instant(t pump.Time) store.Instant { return epoch + store.Instant(int64(t)/1000) }

// newMachine returns a machine that holds the initial state of o.
func newMachine(o Options) *machine {
	m := &machine{opt: o, cfg: o.config(), now: base, left: o.Faults}
	m.store = memory.New(m)
	req := &store.Enqueue{}
	for i := range o.Jobs {
		j := &m.jobs[i]
		binary.BigEndian.PutUint64(j.id[8:], uint64(i)+1)
		j.name = fmt.Sprintf("j%d", i+1)
		req.Jobs = append(req.Jobs, store.NewJob{ID: j.id, Name: jobName, Queue: queueName})
	}
	if _, err := m.store.Apply(req); err != nil {
		panic(err) // the jobs are ours
	}
	for i := range m.pool {
		m.pool[i].name = fmt.Sprintf("w%d", i)
	}
	m.w.m, m.r.m = m, m
	return m
}

// begin starts all nodes, and is the first state.
func (m *machine) begin() {
	for n := range m.opt.Nodes {
		m.boot(n, 1)
	}
}

// jobs of the world, by their index.
func (m *machine) jobOf(id store.JobID) int { return int(id[15]) - 1 }

// row returns the row of job i, to be read only.
func (m *machine) row(i int) *store.Job {
	j, ok := m.store.Lookup(m.jobs[i].id)
	if !ok {
		panic("explore: a job is gone")
	}
	return j
}

// process returns the process of a worker, nil if it is gone.
func (m *machine) process(worker string) *process {
	for _, p := range m.procs {
		if p.name == worker {
			return p
		}
	}
	return nil
}

// add takes a process out of the pool.
func (m *machine) add() *process {
	for i := range m.pool {
		p := &m.pool[i]
		if m.process(p.name) == nil {
			p.reset()
			m.procs = append(m.procs, p)
			return p
		}
	}
	panic("explore: no room for another process")
}

func (p *process) reset() {
	p.alive, p.paused, p.asked = false, false, false
	p.runs, p.calls = p.runs[:0], p.calls[:0]
	p.book.reset()
	p.raw, p.dirty, p.touches, p.ends = nil, false, 0, [maxJobs]uint16{}
}

// boot starts a process of node n.
func (m *machine) boot(n, start int) {
	p := m.add()
	p.node, p.start, p.alive = n, start, true
	// All pumps are made under one name, since the phase of their sweeps is a
	// hash of it; then each gets its own.
	p.pump = pump.New(m.cfg, "w", m.now)
	p.pump.Walk(&christening{name: p.name})
	p.book.begin(m)
	m.tell(p, "starts, process %d", start)
	m.step(p, pump.Woken{})
}

// christening is a Walker that gives a new pump a name, and no sweeps of any
// queue: every node serves the only one.
type christening struct {
	gatherer
	name string
}

// Text implements pump.Walker; the worker is the first text of a pump.
func (c *christening) Text(s *string) {
	if c.name != "" {
		*s, c.name = c.name, ""
	}
}

// AnyDue implements pump.Walker.
func (c *christening) AnyDue(t *pump.Time) { *t = pump.Never }

// step makes the pump of p take a step, carries out what it wants as the shell
// does, and lets the invariants look.
func (m *machine) step(p *process, ev pump.Event) {
	m.acts = p.pump.Step(m.now, ev, m.acts[:0])
	for _, a := range m.acts {
		switch a := a.(type) {
		case pump.Call:
			m.send(p, a)
		case pump.Start:
			m.start(p, a.Lease)
		case pump.Cancel:
			m.stop(p, a.Key, a.Why)
		case pump.Degraded:
			p.book.shown |= 1 << a.Kind
			m.tell(p, "is degraded: %s meets %s", a.Kind, a.Text)
		case pump.Recovered:
			p.book.shown &^= 1 << a.Kind
			m.tell(p, "has recovered: %s works again", a.Kind)
		case pump.Halted:
			p.book.shown, p.book.stood = 0, true
			m.tell(p, "FAIL-STOPS: %s", a.Cause)
		case pump.Stopped:
			m.seen |= sawDrained
			m.tell(p, "has drained")
		case pump.Dropped:
			m.seen |= sawDropped
			m.tell(p, "drops the %s of %s: its lease is over", a.Kind, m.key(a.Key))
		case pump.Abandoned:
			m.seen |= sawAbandoned
			m.tell(p, "gives up on %s, which ignores that it was told to stop", m.key(a.Key))
		}
	}
	m.stepped(p)
	m.leave(p)
}

// leave ends a process that was asked to stop, once its pump has drained and
// its handlers have returned.
func (m *machine) leave(p *process) {
	if p.asked && p.pump.Ended() && !p.pump.Halted() && len(p.runs) == 0 {
		m.tell(p, "exits: drained")
		m.die(p)
	}
}

// die takes away what a process has in memory. Requests that it sent are still
// under way.
func (m *machine) die(p *process) {
	p.alive, p.paused, p.asked = false, false, false
	p.runs = p.runs[:0]
	kept := p.calls[:0]
	for _, c := range p.calls {
		if !c.answered {
			kept = append(kept, c)
		}
	}
	p.calls = kept
	p.book.reset()
}

func (m *machine) send(p *process, a pump.Call) {
	p.calls = append(p.calls, call{op: a.Op, kind: a.Kind, req: a.Req, since: m.now})
	c := &p.calls[len(p.calls)-1]
	m.tellSent(p, c)
	m.sent(p, c)
}

func (m *machine) start(p *process, l store.Lease) {
	h := p.book.find(l.Key)
	r := run{key: l.Key}
	if h != nil {
		r.lease = h.lease
	}
	p.runs = append(p.runs, r)
	m.tell(p, "starts %s, attempt %d", m.nameOf(l.Key), l.Key.Attempt)
	m.started(p, l.Key)
}

func (m *machine) stop(p *process, key store.LeaseKey, why pump.Reason) {
	for i := range p.runs {
		if p.runs[i].key == key && p.runs[i].told == 0 {
			p.runs[i].told = why
			m.tell(p, "tells %s, attempt %d, to stop: %s", m.nameOf(key), key.Attempt, why)
		}
	}
	m.told(p, key, why)
}
