package explore

import (
	"encoding/binary"
	"fmt"
	"sync"        //det:ok workers share a level; what they find does not depend on who finds it
	"sync/atomic" //det:ok counters for whoever watches
)

// blockSize is about how many bytes of states a worker takes at once. Between
// two of them it looks whether it shall stop.
const blockSize = 128 << 10

// block is states, each after its length.
type block []byte

// Search visits the states of one world. Its methods must not be called
// concurrently, but for Progress.
type Search struct {
	opt   Options
	found set

	level     int // moves from the first state to those of todo
	todo      []block
	next      []block // found on the level under way
	states    atomic.Uint64
	moves     atomic.Uint64
	levelNow  atomic.Int64
	waiting   atomic.Int64 // states of todo that nobody has taken
	nextCount atomic.Int64
	frontier  atomic.Int64 // bytes of todo and next
	table     atomic.Int64 // bytes of found, as last looked at
	peak      atomic.Int64 // most that frontier and table have been together
	seen      Situations
	widest    uint64

	mu  sync.Mutex
	bad *breach

	lie bool // for tests: the pumps ask for an attempt more than the invariants allow
}

// machine returns one for a worker, or for a story.
func (s *Search) machine() *machine {
	o := s.opt
	if s.lie {
		o.Attempts++
	}
	m := newMachine(o)
	m.opt = s.opt
	return m
}

// breach is a violation, and the move that shows it.
type breach struct {
	from uint64 // the state before
	move int
	what Violation
}

// Progress is how far a search is.
type Progress struct {
	States   uint64 // found so far
	Moves    uint64 // taken so far: transitions
	Depth    int    // moves from the first state to those being visited
	Waiting  uint64 // of this level, still to be visited
	Frontier uint64 // of the next level, found so far
	Memory   int64  // bytes of what was found and is still to be visited
	Peak     int64  // the most it has been
}

// Verdict is how a search ended.
type Verdict string

// The verdicts.
const (
	Exhausted  Verdict = "exhausted" // every state was visited, and all held
	Violated   Verdict = "violated"
	Stopped    Verdict = "stopped"       // somebody asked for it
	OutOfRoom  Verdict = "out of memory" // the bound was reached
	DeepEnough Verdict = "deep enough"   // the bound on depth was reached
)

// Limits bound a search. A zero field sets no bound.
type Limits struct {
	Workers int         // default 1
	Memory  int64       // bytes of what was found and is still to be visited
	Depth   int         // moves from the first state
	Stop    func() bool // asked often, by any worker
}

// New returns a search that has found the first state. o must be valid.
func New(o Options) *Search {
	s := &Search{opt: o.Resolved()}
	m := newMachine(s.opt)
	m.begin()
	first := m.save(nil)
	if m.bad != nil {
		s.bad = &breach{what: *m.bad}
	}
	s.found.add(fingerprint(first), 0, 0)
	s.states.Store(1)
	s.todo = []block{appendState(nil, first)}
	s.waiting.Store(1)
	s.widest = 1
	return s
}

func appendState(b block, state []byte) block {
	b = binary.AppendUvarint(b, uint64(len(state)))
	return append(b, state...)
}

// each visits the states of b.
func (b block) each(visit func(state []byte)) {
	for len(b) > 0 {
		n, k := binary.Uvarint(b)
		visit(b[k : k+int(n)])
		b = b[k+int(n):]
	}
}

func (b block) count() (n int64) {
	b.each(func([]byte) { n++ })
	return n
}

// Options returns the world that is searched, defaults filled in.
func (s *Search) Options() Options { return s.opt }

// Progress returns how far the search is. It may be called at any time.
func (s *Search) Progress() Progress {
	return Progress{
		States: s.states.Load(), Moves: s.moves.Load(), Depth: int(s.levelNow.Load()),
		Waiting: uint64(max(0, s.waiting.Load())), Frontier: uint64(s.nextCount.Load()),
		Memory: s.frontier.Load() + s.table.Load(), Peak: s.peak.Load(),
	}
}

// Situations returns what the search has come upon so far.
func (s *Search) Situations() Situations { return s.seen }

// Widest returns the most states that one level had.
func (s *Search) Widest() uint64 { return s.widest }

// Run searches on, level by level, until all was visited, something does not
// hold or a limit is reached. A level on which something does not hold is
// finished first, so that what is found does not depend on the workers. After
// a verdict that is due to a limit the search can be saved, or run on.
func (s *Search) Run(l Limits) Verdict {
	for {
		switch {
		case s.bad != nil:
			return Violated
		case len(s.todo) == 0 && len(s.next) == 0:
			return Exhausted
		case l.Depth > 0 && s.level >= l.Depth:
			return DeepEnough
		}
		if v := s.runLevel(&l); v != "" {
			return v
		}
		s.level++
		s.levelNow.Store(int64(s.level))
		s.todo, s.next = s.next, nil
		s.waiting.Store(s.nextCount.Swap(0))
		s.widest = max(s.widest, uint64(s.waiting.Load()))
	}
}

// runLevel visits what is to do on this level, and returns a verdict if a limit
// came first.
func (s *Search) runLevel(l *Limits) (v Verdict) {
	var all sync.WaitGroup
	for range max(1, l.Workers) {
		all.Add(1)
		go func() { //det:ok levels end together, and are sets
			defer all.Done()
			w := worker{s: s, m: s.machine()}
			w.run(l, &v)
		}()
	}
	all.Wait()
	s.table.Store(s.found.bytes())
	return v
}

// worker is one goroutine's part in a level.
type worker struct {
	s     *Search
	m     *machine
	moves []move
	out   block
	state []byte // scratch
	taken uint64
}

func (w *worker) run(l *Limits, v *Verdict) {
	s := w.s
	for {
		b, ok := s.take(l, v)
		if !ok {
			break
		}
		b.each(w.visit)
		s.moves.Add(w.taken)
		w.taken = 0
		s.frontier.Add(-int64(cap(b)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.put()
	s.seen |= w.m.seen
}

// take returns states that nobody has visited yet.
func (s *Search) take(l *Limits, v *Verdict) (block, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *v != "" || len(s.todo) == 0 {
		return nil, false
	}
	s.table.Store(s.found.bytes())
	memory := s.frontier.Load() + s.table.Load()
	s.peak.Store(max(s.peak.Load(), memory))
	switch {
	case l.Stop != nil && l.Stop():
		*v = Stopped
		return nil, false
	case l.Memory > 0 && memory > l.Memory:
		*v = OutOfRoom
		return nil, false
	}
	n := len(s.todo) - 1
	b := s.todo[n]
	s.todo[n] = nil
	s.todo = s.todo[:n]
	s.waiting.Add(-b.count())
	return b, true
}

// put hands over what the worker has found. s.mu is held.
func (w *worker) put() {
	if len(w.out) == 0 {
		return
	}
	w.s.next = append(w.s.next, w.out)
	w.out = nil
}

// visit takes every move that the state allows.
func (w *worker) visit(state []byte) {
	m, s := w.m, w.s
	m.load(state)
	w.moves = m.moves(w.moves[:0])
	from := fingerprint(state)
	for i, mv := range w.moves {
		if i > 0 {
			m.again()
		}
		w.taken++
		w.state = m.try(mv, w.state[:0])
		if m.bad != nil {
			s.violated(breach{from, i, *m.bad})
			continue
		}
		if to := fingerprint(w.state); s.found.add(to, from, s.level+1) {
			w.keep()
		}
	}
}

// keep puts a new state among those to be visited on the next level.
func (w *worker) keep() {
	s := w.s
	if w.out == nil {
		w.out = make(block, 0, blockSize)
		s.frontier.Add(blockSize)
	}
	w.out = appendState(w.out, w.state)
	s.states.Add(1)
	s.nextCount.Add(1)
	if len(w.out) > blockSize-1024 {
		s.mu.Lock()
		w.put()
		s.mu.Unlock()
	}
}

// violated notes a violation. Of several on a level, the one that comes first
// in an order of its own stands.
func (s *Search) violated(b breach) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bad == nil || b.from < s.bad.from || b.from == s.bad.from && b.move < s.bad.move {
		s.bad = &b
	}
}

// try takes a move and returns the state after it, appended to out. A panic is
// a violation.
func (m *machine) try(mv move, out []byte) (state []byte) {
	defer func() {
		if v := recover(); v != nil {
			state = out
			if c, ok := v.(cannot); ok {
				m.breach("crash", "the world came to something that it has no form for: %s", c.what)
				return
			}
			m.breach("crash", "panic: %v", v)
		}
	}()
	m.take(mv)
	if m.bad != nil {
		return out
	}
	return m.save(out)
}

// String prints p for people.
func (p Progress) String() string {
	return fmt.Sprintf("depth %d, %d states, %d waiting, %d found for the next level", p.Depth, p.States, p.Waiting, p.Frontier)
}
