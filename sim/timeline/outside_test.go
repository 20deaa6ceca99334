package timeline

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/engine"
	"backwave/engine/pump"
	"backwave/sim"
)

// callers are handlers that call the bank, wait a second, and call the ledger.
type callers struct{}

func (callers) Begin(*sim.View)       {}
func (callers) Payload(string) []byte { return nil }
func (callers) Look() []sim.Alarm     { return nil }
func (callers) End() []sim.Alarm      { return nil }

func (callers) Start(sim.Attempt) sim.Coroutine {
	call := func(to, text, answer string) sim.Need {
		return sim.NeedCall{To: to, Text: text, Patience: 5 * time.Second, Do: func() (time.Duration, string) { return 0, answer }}
	}
	return &caller{needs: []sim.Need{
		call("bank.example", "POST /charges", "201 Created"),
		sim.NeedSleep{For: time.Second},
		call("ledger", "write a +1", "written"),
	}}
}

// caller is one of them at work. It goes on after an error, unless it is told
// to stop.
type caller struct {
	needs []sim.Need
	told  bool
}

func (c *caller) Resume(error) sim.Need {
	if c.told || len(c.needs) == 0 {
		return sim.NeedEnd{Result: engine.Result{}}
	}
	n := c.needs[0]
	c.needs = c.needs[1:]
	return n
}

func (c *caller) Cancel(pump.Reason) bool {
	c.told = true
	return true
}

func (c *caller) Drop() {}

// called runs callers in a world in which one thing goes wrong. Being watched
// must not change it, and two pages of it must be the same.
func called(t *testing.T, fault string) *Page {
	t.Helper()
	sc := parse(t, `
name: callers
level: adversarial
for: 2m
groups: [{name: default, queues: [q], lease: 30s}]
nodes: [{name: n1}]
jobs: [{id: j1, queue: q}]
timeline:
  `+fault)
	var pages []*Page
	for range 2 {
		c := NewCollector(sc)
		res := sim.Run(sc, sim.Options{Seed: 1, Observe: c.Observe, Handlers: callers{}})
		if alone := sim.Run(sc, sim.Options{Seed: 1, Handlers: callers{}}); alone.TraceHash != res.TraceHash || alone.Events != res.Events || alone.Verdict != res.Verdict {
			t.Errorf("%s: the run has trace hash %x if it is watched, %x if not", fault, res.TraceHash, alone.TraceHash)
		}
		pages = append(pages, c.Page(res))
	}
	if !bytes.Equal(written(t, pages[0]), written(t, pages[1])) {
		t.Errorf("%s: two pages of one run differ", fault)
	}
	return pages[0]
}

// became says what became of a call.
func became(p *Page, o *Outside) string {
	r := p.Runs[o.Run]
	out := []string{fmt.Sprintf("%s#%d.%d to %s:", p.Jobs[r.Job].Name, r.Attempt, o.Nth, p.Others[o.To])}
	for _, step := range []struct {
		at   int64
		what string
	}{{o.Left, "left"}, {o.Arrived, "arrived"}, {o.Lost, "lost"}, {o.Answered, "answered"}, {o.GivenUp, "given up"}, {o.Late, "late"}} {
		switch {
		case step.at == None:
		case step.at < o.Left:
			out = append(out, step.what+" too early")
		default:
			out = append(out, step.what)
		}
	}
	if o.Refused {
		out = append(out, "refused")
	}
	for _, words := range []string{o.Answer, o.Why, o.Hit} {
		if words != "" {
			out = append(out, "("+words+")")
		}
	}
	return strings.Join(out, " ")
}

// What becomes of a call to the world outside is on the page, in all its ways.
func TestOutside(t *testing.T) {
	const (
		bank   = "j1#1.1 to bank.example: left arrived answered (201 Created)"
		ledger = "j1#1.3 to ledger: left arrived answered (written)"
		bank2  = "j1#2.1 to bank.example: left arrived answered (201 Created)"
		second = "j1#2.3 to ledger: left arrived answered (written)"
	)
	for _, c := range []struct {
		fault string
		want  []string
		bad   []string // events that somebody should look at
	}{
		{"[]", []string{bank, ledger}, nil},
		{
			"- {on-handler: j1, nth: 1, do: lose-reply}",
			[]string{"j1#1.1 to bank.example: left arrived lost given up (201 Created) (no answer for 5s) (lose-reply)", ledger},
			[]string{"LOST: the answer to the call of j1#1 to bank.example", "j1#1 gives up on bank.example: no answer for 5s"},
		},
		{
			"- {on-handler: j1, nth: 3, do: lose-request}",
			[]string{bank, "j1#1.3 to ledger: left lost given up (no answer for 5s) (lose-request)"},
			[]string{"LOST: the call of j1#1 to ledger", "j1#1 gives up on ledger: no answer for 5s"},
		},
		{
			"- {on-handler: j1, nth: 1, do: refuse}",
			[]string{"j1#1.1 to bank.example: left arrived answered refused (refuse)", ledger},
			[]string{"bank.example REFUSES POST /charges of j1#1"},
		},
		{
			"- {on-handler: j1, nth: 1, do: delay-reply, by: 20s}",
			[]string{"j1#1.1 to bank.example: left arrived given up late (201 Created) (no answer for 5s) (delay-reply 20s)", ledger},
			[]string{"j1#1 gives up on bank.example: no answer for 5s", "LATE: bank.example answers j1#1, and nobody waits for it"},
		},
		{
			"- {on-handler: j1, nth: 3, do: crash, by: 1s}",
			[]string{bank, bank2, second},
			nil,
		},
		{
			"- {on-handler: j1, nth: 3, do: crash-after, by: 1s}",
			[]string{bank, "j1#1.3 to ledger: left arrived (written) (crash-after 1s)", bank2, second},
			nil,
		},
		{
			"- {on-handler: j1, nth: 1, do: pause-after, by: 1s}",
			[]string{"j1#1.1 to bank.example: left arrived answered (201 Created) (pause-after 1s)", ledger},
			[]string{"n1 STANDS STILL"},
		},
		{
			"- {on-handler: j1, nth: 1, do: delay-request, by: 4s}\n  - {at: 2s, drain: n1}",
			[]string{"j1#1.1 to bank.example: left arrived given up late (201 Created) (it is told to stop) (delay-request 4s)"},
			[]string{"n1 tells j1#1 to stop: draining", "n1 is asked to drain", "j1#1 gives up on bank.example: it is told to stop", "LATE: bank.example answers j1#1, and nobody waits for it"},
		},
	} {
		p := called(t, c.fault)
		var got, bad []string
		for i := range p.Outside {
			got = append(got, became(p, &p.Outside[i]))
		}
		for _, e := range p.Events {
			if e.Bad {
				bad = append(bad, e.Text)
			}
			if e.Outside > 0 {
				if r := p.Runs[p.Outside[e.Outside-1].Run]; r.Job != e.Job || r.Attempt != e.Attempt || p.Workers[r.Worker].Node != e.Node {
					t.Errorf("%s: %q is told of job %d, attempt %d, node %d; the call is one of %+v", c.fault, e.Text, e.Job, e.Attempt, e.Node, r)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.fault, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		if !slices.Equal(bad, c.bad) {
			t.Errorf("%s: to be looked at\n%s\nwant\n%s", c.fault, strings.Join(bad, "\n"), strings.Join(c.bad, "\n"))
		}
	}
}
