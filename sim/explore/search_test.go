package explore

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// counts is what must not depend on who searches.
type counts struct {
	Verdict       Verdict
	States, Moves uint64
	Depth         int
	Widest        uint64
	Seen          Situations
}

func counted(s *Search, v Verdict) counts {
	p := s.Progress()
	return counts{v, p.States, p.Moves, p.Depth, s.Widest(), s.Situations()}
}

func searched(t *testing.T, o Options, workers int) counts {
	t.Helper()
	s := New(o)
	return counted(s, s.Run(Limits{Workers: workers}))
}

// row is a line of the table of worlds in docs/exploring.md.
var row = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|[^|]*\\| ([0-9,]+) \\| ([0-9,]+) \\| ([0-9]+) \\|")

// The small worlds hold, and are as large as docs/exploring.md says.
func TestWorldsAreAsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/exploring.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		documented[m[1]] = m[2:]
	}
	for _, p := range Presets() {
		want := documented[p.Name]
		if want == nil {
			t.Errorf("%s: no row in docs/exploring.md", p.Name)
			continue
		}
		number := func(i int) (n uint64) {
			n, _ = strconv.ParseUint(strings.ReplaceAll(want[i], ",", ""), 10, 64)
			return n
		}
		if number(0) > 50_000 {
			continue // too large for here
		}
		got := searched(t, p.Options, 1)
		if got.Verdict != Exhausted || got.States != number(0) || got.Moves != number(1) || uint64(got.Depth-1) != number(2) {
			t.Errorf("%s: %+v, documented as %s states, %s moves, depth %s", p.Name, got, want[0], want[1], want[2])
		}
	}
}

func TestWorkersFindTheSame(t *testing.T) {
	o := Options{Nodes: 2, Jobs: 1, Faults: 1, Kinds: Crash | Late, Fused: true}
	want := searched(t, o, 1)
	for _, workers := range []int{2, 5} {
		if got := searched(t, o, workers); got != want {
			t.Errorf("%d workers: %+v, one: %+v", workers, got, want)
		}
	}
}

// A search that is stopped, saved and resumed, again and again, comes to the
// same end.
func TestResumedSearchesFindTheSame(t *testing.T) {
	o := Options{Nodes: 1, Jobs: 1, Faults: 1}
	want := searched(t, o, 1)
	s := New(o)
	stops := 0
	for {
		asked := 0
		v := s.Run(Limits{Workers: 2, Stop: func() bool { asked++; return asked > 3 }})
		if v != Stopped {
			if got := counted(s, v); got != want {
				t.Errorf("resumed %d times: %+v, in one go: %+v", stops, got, want)
			}
			break
		}
		stops++
		var b bytes.Buffer
		if err := s.Save(&b, "program"); err != nil {
			t.Fatal(err)
		}
		if _, err := Resume(bytes.NewReader(b.Bytes()), "another"); err == nil {
			t.Fatal("another program can resume")
		}
		if _, err := Resume(bytes.NewReader(b.Bytes()[:b.Len()-1]), "program"); err == nil && len(s.todo)+len(s.next) > 0 {
			t.Fatal("what was cut off can be resumed")
		}
		next, err := Resume(&b, "program")
		if err != nil {
			t.Fatal(err)
		}
		s = next
	}
	if stops < 5 {
		t.Errorf("stopped %d times only, so little is shown", stops)
	}
}

func TestLimits(t *testing.T) {
	o := Options{Nodes: 2, Jobs: 1, Faults: 1}
	if v := New(o).Run(Limits{Depth: 5}); v != DeepEnough {
		t.Errorf("with a bound on depth: %v", v)
	}
	if v := New(o).Run(Limits{Memory: 100_000}); v != OutOfRoom {
		t.Errorf("with a bound on memory: %v", v)
	}
}

// A trace leads from the first state to the very state from which it was asked
// for, in as many moves as the search took, and ends with the move.
func TestTracesLeadThere(t *testing.T) {
	o := Options{Nodes: 2, Jobs: 1, Faults: 1, Kinds: Crash | Pause | Drain, Fused: true}.Resolved()
	s := New(o)
	m := newMachine(o)
	for depth := range 20 {
		var state []byte
		s.todo[0].each(func(b []byte) {
			if state == nil || bytes.Compare(b, state) < 0 {
				state = bytes.Clone(b)
			}
		})
		from := fingerprint(state)
		m.load(state)
		last := len(m.moves(nil)) - 1
		s.bad = &breach{from: from, move: last, what: Violation{"test", "nothing is wrong"}}
		way, err := s.way()
		if err != nil {
			t.Fatal(err)
		}
		if len(way) != depth {
			t.Fatalf("a state of level %d is reached in %d moves", depth, len(way))
		}
		p := newPlayer(newMachine(o))
		for _, to := range way {
			if !p.follow(to) {
				t.Fatal("the way cannot be followed")
			}
		}
		if !bytes.Equal(p.state, state) {
			t.Fatalf("the way leads to another state")
		}
		s.bad = nil
		if v := s.Run(Limits{Depth: depth + 1}); v != DeepEnough {
			t.Fatal(v)
		}
	}
}

// A violation is told with the names of nodes, and the same by any workers.
func TestViolationsAreTold(t *testing.T) {
	lie := Options{Nodes: 2, Jobs: 1, Faults: 1, Kinds: Crash, Fused: true}.Resolved()
	tell := func(workers int) *Trace {
		s := New(lie)
		s.lie = true
		if v := s.Run(Limits{Workers: workers}); v != Violated {
			t.Fatalf("a world in which jobs have an attempt more than they should: %v", v)
		}
		trace, err := s.Trace()
		if err != nil {
			t.Fatal(err)
		}
		return trace
	}
	one, three := tell(1), tell(3)
	if one.Invariant != "ceiling" || len(one.Lines) < 10 {
		t.Errorf("found %q after %d lines", one.Invariant, len(one.Lines))
	}
	if !reflect.DeepEqual(one, three) {
		t.Errorf("one worker tells\n%+v\nthree\n%+v", one, three)
	}
}

func TestSetKeepsTheSmallest(t *testing.T) {
	var s set
	if !s.add(7<<8, 900<<8, 3) || s.add(7<<8, 800<<8, 3) || s.add(7<<8, 700<<8, 4) {
		t.Error("a state is new once")
	}
	if from, ok := s.from(7 << 8); !ok || from != 800<<8 {
		t.Errorf("it came from %d, want the smallest of its level", from>>8)
	}
	for i := range uint64(100_000) {
		s.add(fingerprint([]byte{byte(i), byte(i >> 8), byte(i >> 16)}), 1, 1)
	}
	if from, ok := s.from(7 << 8); !ok || from != 800<<8 {
		t.Error("forgotten as the set grew")
	}
	if w, ok := s.whole(7 << 8); !ok || w != 7<<8 {
		t.Error("it cannot be found without its last byte")
	}
}
