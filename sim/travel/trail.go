package travel

import (
	"slices"
	"time"

	"backwave/sim"
)

// Trail is what is kept of a run to lay it beside another: every event and every
// line of the story.
type Trail struct {
	Events []Event // in order; the first has number 1
	Lines  []sim.Line
	last   []int // by event: how many lines had been told after it
}

// Event is an event in words.
type Event struct {
	At   time.Duration
	What string // kind and what it is about; of a fault without its label, which another edit may move
}

// Follow is a visitor of Run that keeps a trail of a run of sc.
func (t *Trail) Follow(sc *sim.Scenario) func(*Moment) bool {
	return func(m *Moment) bool {
		t.Events = append(t.Events, Event{m.At, m.Kind + "  " + m.unlabelled(sc)})
		t.Lines = append(t.Lines, m.Lines...)
		t.last = append(t.last, len(t.Lines))
		return true
	}
}

// Between returns the lines that the events after number from, up to and with
// number to, have added to the story.
func (t *Trail) Between(from, to uint64) []sim.Line {
	return t.Lines[t.told(from):t.told(to)]
}

// told returns how many lines there were after the event of a number.
func (t *Trail) told(event uint64) int {
	if event == 0 || len(t.last) == 0 {
		return 0
	}
	return t.last[min(event, uint64(len(t.last)))-1]
}

// Part returns the number of the first event that is not the same in both
// trails, or does not do the same, and false if there is none. A trail that has
// no such event has ended before.
func (t *Trail) Part(o *Trail) (uint64, bool) {
	i := 0
	for i < min(len(t.Events), len(o.Events)) && t.same(o, i) {
		i++
	}
	return uint64(i) + 1, i < max(len(t.Events), len(o.Events))
}

// Only returns the lines of the story of t that o does not have.
func (t *Trail) Only(o *Trail) (out []sim.Line) {
	has := map[sim.Line]int{}
	for _, l := range o.Lines {
		has[l]++
	}
	for _, l := range t.Lines {
		if has[l] == 0 {
			out = append(out, l)
			continue
		}
		has[l]--
	}
	return out
}

// same reports whether event i, from 0, is the same in both and did the same.
func (t *Trail) same(o *Trail, i int) bool {
	n := uint64(i)
	return t.Events[i] == o.Events[i] && slices.Equal(t.Between(n, n+1), o.Between(n, n+1))
}
