package explore

import (
	"errors"
	"slices"
	"time"
)

// Line is one thing that a person wants to read of a trace.
type Line struct {
	At   time.Duration // since the first state, in whole ticks
	Who  string        // a node, "store", "operator"
	Text string
}

// Trace is a shortest way to a violation.
type Trace struct {
	Violation
	At    time.Duration // since the first state
	Moves int           // from the first state, the one that shows it included
	Lines []Line
}

var errNoWay = errors.New("explore: no way leads to the violation: two states have one fingerprint; search again with another number of faults or jobs")

// Trace returns a shortest trace to the violation that Run has found.
func (s *Search) Trace() (*Trace, error) {
	if s.bad == nil {
		return nil, errors.New("explore: nothing was violated")
	}
	way, err := s.way()
	if err != nil {
		return nil, err
	}
	p := newPlayer(s.machine())
	for _, to := range way {
		if !p.follow(to) {
			return nil, errNoWay
		}
	}
	if s.bad.from != 0 {
		p.last(s.bad.move)
	}
	return &Trace{Violation: *p.m.bad, At: time.Duration(p.m.ticks) * Tick, Moves: len(way) + 1, Lines: p.lines}, nil
}

// way returns the states on the way to the violation, without the first.
func (s *Search) way() (way []uint64, err error) {
	if s.bad.from == 0 {
		return nil, nil
	}
	for at := s.bad.from; ; {
		start, ok := s.found.from(at)
		if !ok || len(way) > s.level+1 {
			return nil, errNoWay
		}
		if start == 0 {
			slices.Reverse(way)
			return way, nil
		}
		way = append(way, at)
		if at, ok = s.found.whole(start); !ok {
			return nil, errNoWay
		}
	}
}

// player walks along a trace and tells it. Unlike states, it knows names and
// how much time has passed.
type player struct {
	m      *machine
	state  []byte
	nodes  []int // of the processes, in the order of the state
	starts []int
	lines  []Line
	moves  []move
}

func newPlayer(m *machine) *player {
	p := &player{m: m}
	p.m.story = p.tell
	p.m.begin()
	p.keep(p.m.save(nil))
	return p
}

func (p *player) tell(who, text string) {
	p.lines = append(p.lines, Line{time.Duration(p.m.ticks) * Tick, who, text})
}

// keep notes a state just saved, and who is who in it.
func (p *player) keep(state []byte) {
	p.state, p.nodes, p.starts = state, p.nodes[:0], p.starts[:0]
	for _, q := range p.m.w.live {
		p.nodes, p.starts = append(p.nodes, q.node), append(p.starts, q.start)
	}
}

// load puts the machine into the state that was kept.
func (p *player) load() {
	p.m.load(p.state)
	for i, q := range p.m.procs {
		q.node, q.start = p.nodes[i], p.starts[i]
	}
}

// follow takes the first move that leads to the state to.
func (p *player) follow(to uint64) bool {
	m := p.m
	p.load()
	p.moves = m.moves(p.moves[:0])
	for _, mv := range p.moves {
		ticks, starts := m.ticks, m.r.starts
		m.story = nil
		p.load()
		state := m.try(mv, nil)
		m.ticks, m.r.starts = ticks, starts
		if m.bad != nil || fingerprint(state) != to {
			continue
		}
		m.story = p.tell
		p.load()
		p.keep(m.try(mv, nil))
		return true
	}
	return false
}

// last takes the move that shows the violation.
func (p *player) last(move int) {
	p.load()
	p.moves = p.m.moves(p.moves[:0])
	mv := p.moves[move]
	p.load()
	p.m.story = p.tell
	p.m.try(mv, nil)
}
