package explore

import (
	"testing"
)

// settled returns the states from which time can move on, among all that o can
// get into.
func settled(t *testing.T, o Options, thorough bool) (out map[string]bool, states int) {
	t.Helper()
	m := newMachine(o.Resolved())
	m.thorough = thorough
	m.begin()
	todo := [][]byte{m.save(nil)}
	all := map[string]bool{string(todo[0]): true}
	out = map[string]bool{}
	for len(todo) > 0 {
		state := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		m.load(state)
		for i, mv := range m.moves(nil) {
			if i > 0 {
				m.again()
			}
			if mv.do == tick {
				out[string(state)] = true
			}
			next := m.try(mv, nil)
			if m.bad != nil {
				t.Fatalf("%+v: %+v", o, *m.bad)
			}
			if !all[string(next)] {
				all[string(next)] = true
				todo = append(todo, next)
			}
		}
	}
	return out, len(all)
}

// The states from which time moves on are the same whether or not hasty moves
// go first.
func TestHasty(t *testing.T) {
	for _, o := range []Options{
		{Nodes: 2, Jobs: 1},
		{Nodes: 2, Jobs: 2, Fused: true},
		{Nodes: 1, Jobs: 2, Faults: 1, Kinds: Late | Doubled, Fused: true},
		{Nodes: 2, Jobs: 1, Faults: 1, Kinds: Crash | Pause, Fused: true},
		{Nodes: 1, Jobs: 1, Faults: 1, Kinds: LostReply | Drain | Error | Fatal | Cancel, Release: true},
	} {
		want, all := settled(t, o, true)
		got, fewer := settled(t, o, false)
		if fewer >= all {
			t.Errorf("%+v: %d states, and %d without hasty moves", o, fewer, all)
		}
		// The same states, told apart by all their bytes and by fingerprints.
		if n := searched(t, o, 1).States; n != uint64(fewer) {
			t.Errorf("%+v: %d states, and %d fingerprints", o, fewer, n)
		}
		if len(want) != len(got) {
			t.Errorf("%+v: %d states from which time moves on, want %d", o, len(got), len(want))
		}
		for s := range want {
			if !got[s] {
				t.Fatalf("%+v: a state is missed", o)
			}
		}
	}
}
