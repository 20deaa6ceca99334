package simtest

import (
	"cmp"
	"fmt"
	"math/bits"
	"time"

	"pgregory.net/rapid"

	"backwave/sim"
)

// maxFaults is the most faults of a timeline that is drawn.
const maxFaults = 5

// scouted is what a run without further faults shows of where they can hit.
type scouted struct {
	busy  time.Duration  // until all jobs had ended
	calls int            // most that one attempt made
	made  map[string]int // the same by name of the handler
}

// scout plays the scenario as it is.
func (s *setting) scout() {
	o := s.play(nil, sim.Options{})
	for i := range o.res.Jobs {
		s.seen.busy = max(s.seen.busy, o.res.Jobs[i].Ended)
	}
	s.seen.made = o.made
	for i := range s.sim.Jobs {
		s.seen.calls = max(s.seen.calls, o.made[handlerOf(&s.sim.Jobs[i])])
	}
}

// deeds are what can happen to a call of a handler, the simplest first.
var deeds = []string{"lose-reply", "crash-after", "crash", "lose-request", "refuse", "pause", "delay-request", "pause-after", "delay-reply"}

// maxSingles bounds the timelines of one fault that are not left to chance.
const maxSingles = 100

// singles returns timelines of one fault: what can happen to each call in the
// first attempt of each handler, and to nodes and store in the midst of work.
func (s *setting) singles() []sim.Fault {
	out := s.inCalls()
	at, lease := s.seen.busy/2, s.lease
	for i := range s.sim.Nodes {
		n := s.sim.Nodes[i].Name
		out = append(out, sim.Crash{At: at, Node: n, Restart: lease / 10}, sim.Pause{At: at, Node: n, For: 2 * lease},
			sim.Partition{At: at, For: 2 * lease, Nodes: []string{n}}, sim.Drain{At: at, Node: n, Restart: lease / 10})
	}
	out = append(out, sim.Outage{At: at, For: 2 * lease})
	return out[:min(len(out), maxSingles)]
}

// inCalls returns those that happen to calls of handlers.
func (s *setting) inCalls() (out []sim.Fault) {
	for _, do := range deeds {
		for nth := range s.seen.calls {
			seen := map[string]bool{}
			for i := range s.sim.Jobs {
				j := &s.sim.Jobs[i]
				name := handlerOf(j)
				if seen[name] || nth >= s.seen.made[name] {
					continue
				}
				seen[name] = true
				f := sim.OnHandler{Job: first(j), Attempt: 1, Nth: nth + 1, Do: do}
				switch do {
				case "crash", "crash-after":
					f.By = s.lease / 10
				case "pause", "pause-after", "delay-request", "delay-reply":
					f.By = 2 * s.lease
				}
				out = append(out, f)
			}
		}
	}
	return out
}

// draw draws a timeline. All that goes wrong heals, and nothing in it is what
// people do. The kinds stand in the order in which they are easy to understand,
// for rapid shrinks towards the first.
func (s *setting) draw(t *rapid.T) []sim.Fault {
	kinds := []func(*rapid.T) sim.Fault{s.onHandler, s.onHandler, s.onHandler, s.onHandler, s.onReport, s.crash, s.pause, s.partition, s.drain, s.onCall, s.outage}
	one := rapid.Custom(func(t *rapid.T) sim.Fault {
		return choose(t, "kind", kinds)(t)
	})
	return rapid.SliceOfN(one, 1, maxFaults).Draw(t, "faults")
}

// choose draws one of a list, all about as likely: rapid's own choices prefer
// the first. It shrinks towards that.
func choose[T any](t *rapid.T, what string, of []T) T {
	if len(of) == 1 {
		return of[0]
	}
	n, width := 0, bits.Len(uint(len(of)))+1
	for range width {
		n *= 2
		if rapid.Bool().Draw(t, what) {
			n++
		}
	}
	return of[n*len(of)>>width]
}

// upTo draws a number from 1 to n, all as likely.
func upTo(t *rapid.T, what string, n int) int {
	list := make([]int, n)
	for i := range list {
		list[i] = i + 1
	}
	return choose(t, what, list)
}

// onHandler hits a call of a handler.
func (s *setting) onHandler(t *rapid.T) sim.Fault {
	f := sim.OnHandler{
		Job:     s.job(t),
		Attempt: choose(t, "attempt", []int{1, 1, 1, 2}),
		Nth:     upTo(t, "nth", max(1, s.seen.calls)),
		Do:      choose(t, "do", deeds),
	}
	switch f.Do {
	case "pause", "pause-after", "delay-reply", "delay-request":
		f.By = s.long(t)
	case "crash", "crash-after":
		f.By = s.short(t)
	}
	return f
}

// onReport hits a report: what a handler came to is known to its node alone.
func (s *setting) onReport(t *rapid.T) sim.Fault {
	return s.call(t, "report", len(s.sim.Jobs))
}

// onCall hits another call of a pump.
func (s *setting) onCall(t *rapid.T) sim.Fault {
	return s.call(t, choose(t, "call", []string{"claim", "renew", "sweep"}), 8)
}

func (s *setting) call(t *rapid.T, kind string, most int) sim.OnCall {
	f := sim.OnCall{
		Call: kind,
		Pump: sim.Address{Node: s.node(t)},
		Nth:  upTo(t, "nth", most),
		Do:   choose(t, "do", []string{"lose-reply", "lose-request", "delay-reply", "delay-request", "double"}),
	}
	switch f.Do {
	case "delay-reply", "delay-request", "double":
		f.By = s.long(t)
	}
	return f
}

func (s *setting) crash(t *rapid.T) sim.Fault {
	return sim.Crash{Node: s.node(t), At: s.when(t), Restart: s.short(t)}
}

func (s *setting) pause(t *rapid.T) sim.Fault {
	return sim.Pause{Node: s.node(t), At: s.when(t), For: s.long(t)}
}

func (s *setting) partition(t *rapid.T) sim.Fault {
	return sim.Partition{Nodes: []string{s.node(t)}, At: s.when(t), For: s.long(t), Lost: choose(t, "lost", []string{"replies", "both", "requests"})}
}

func (s *setting) drain(t *rapid.T) sim.Fault {
	return sim.Drain{Node: s.node(t), At: s.when(t), Restart: s.short(t)}
}

func (s *setting) outage(t *rapid.T) sim.Fault {
	return sim.Outage{At: s.when(t), For: s.long(t)}
}

func (s *setting) job(t *rapid.T) string {
	j := choose(t, "job", s.sim.Jobs)
	if j.Count <= 1 {
		return j.ID
	}
	return fmt.Sprintf("%s-%d", j.ID, upTo(t, "of", j.Count))
}

// handlerOf is the name of the handler of j.
func handlerOf(j *sim.Job) string { return cmp.Or(j.Name, "work") }

// first is the name of the first of the jobs that j stands for.
func first(j *sim.Job) string {
	if j.Count <= 1 {
		return j.ID
	}
	return j.ID + "-1"
}

func (s *setting) node(t *rapid.T) string {
	return choose(t, "node", s.sim.Nodes).Name
}

// when is while there is something to do, or a lease after that: faults make
// it take longer.
func (s *setting) when(t *rapid.T) time.Duration {
	most := choose(t, "until", []time.Duration{s.seen.busy, s.seen.busy + s.lease})
	return time.Duration(rapid.Int64Range(0, min(most, s.sim.For/2).Milliseconds()).Draw(t, "at")) * time.Millisecond
}

// long is how long something takes that goes wrong, by what matters: whether a
// lease is lost meanwhile, and whether another attempt gets done. The lengths
// that break most come first.
func (s *setting) long(t *rapid.T) time.Duration {
	lease := s.lease
	return choose(t, "long", []time.Duration{2 * lease, 3 * lease, lease, lease / 2, lease / 10})
}

// short is how long a node is down.
func (s *setting) short(t *rapid.T) time.Duration {
	lease := s.lease
	return choose(t, "short", []time.Duration{lease / 10, lease, 2 * lease})
}
