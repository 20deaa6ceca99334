package timeline

import (
	"fmt"
	"slices"
	"time"

	"backwave/checker"
	"backwave/engine/pump"
	"backwave/sim"
	"backwave/store"
)

// Collector makes a page of what an observer of a world is told.
type Collector struct {
	*draft
	sc     *sim.Scenario
	pumps  []pumpSeen       // by PumpID
	runs   map[holder]int   // handlers at work
	shades map[int][]int    // faults under way: index in the timeline → their shades
	nth    map[pumpCall]int // calls made so far
	up     map[string]int   // process that a node runs; 0 = down
	died   map[string]int   // shade of the node that is down
	stands map[string]int   // shade of the node that stands still
	outs   map[int]int      // calls to the world outside, by number
	epoch  int64            // ns that a right clock shows at the start
}

// pumpSeen is a pump and where it runs.
type pumpSeen struct {
	worker int
	node   string
	group  string
	number int
	views  []viewSeen // what it believes
}

// viewSeen is an own view and its place in the page.
type viewSeen struct {
	key store.LeaseKey
	at  int
}

// pumpCall names the calls of one kind by one pump over all starts of its node.
type pumpCall struct {
	node, group string
	number      int
	kind        checker.CallKind
}

// NewCollector returns the collector of one run of sc.
func NewCollector(sc *sim.Scenario) *Collector {
	c := &Collector{
		draft: newDraft(), sc: sc, runs: map[holder]int{}, shades: map[int][]int{},
		nth: map[pumpCall]int{}, up: map[string]int{}, died: map[string]int{}, stands: map[string]int{}, outs: map[int]int{},
	}
	c.page.Title, c.page.Story = sc.Name, sc.Story
	for i := range sc.Nodes {
		c.node(sc.Nodes[i].Name)
	}
	return c
}

// Observe takes what happened; it is made for sim.Options.Observe.
func (c *Collector) Observe(s sim.Seen) {
	switch s := s.(type) {
	case sim.SawJob:
		i := c.job(s.Job)
		c.page.Jobs[i].Name, c.page.Jobs[i].Queue = s.Name, s.Queue
	case sim.SawBoot:
		c.booted(s)
	case sim.SawDeath:
		c.ended(s)
	case sim.SawSent:
		c.left(s)
	case sim.SawApplied:
		c.applied(s)
	case sim.SawAnswered:
		c.answered(s)
	case sim.SawLost:
		c.lost(s)
	case sim.SawStarted:
		c.started(s)
	case sim.SawTold:
		c.told(s)
	case sim.SawReturned:
		c.returned(s)
	case sim.SawViews:
		c.believes(s)
	case sim.SawNote:
		c.noted(s)
	case sim.SawFault:
		c.struck(s)
	case sim.SawStill:
		c.still(s)
	case sim.SawForgot:
		c.forgot(s)
	case sim.SawNodeTime:
		c.point(c.node(s.Node), "node time of "+s.Node, s.At, s.Ahead)
	case sim.SawClocks:
		c.epoch = int64(s.Epoch) * 1000
		c.readings(s.At, s.SeenClocks)
	case sim.SawOutsideLeft:
		c.outsideLeft(s)
	case sim.SawOutsideArrived:
		c.outsideArrived(s)
	case sim.SawOutsideRefused:
		c.outsideRefused(s)
	case sim.SawOutsideLost:
		c.outsideLost(s)
	case sim.SawOutsideAnswered:
		c.outsideAnswered(s)
	case sim.SawOutsideGivenUp:
		c.outsideGivenUp(s)
	}
}

func (c *Collector) booted(s sim.SawBoot) {
	w := c.worker(s.Worker, s.Node, s.Process)
	for len(c.pumps) <= int(s.Pump) {
		c.pumps = append(c.pumps, pumpSeen{worker: None})
	}
	c.pumps[s.Pump] = pumpSeen{worker: w, node: s.Node, group: s.Group, number: s.Number}
	if c.up[s.Node] == s.Process {
		return
	}
	c.up[s.Node] = s.Process
	c.tell(s.At, c.node(s.Node), None, "%s starts, process %d", s.Node, s.Process)
	if i, ok := c.died[s.Node]; ok {
		c.page.Shades[i].To = s.At
	} else if s.At > 0 {
		c.page.Shades = append(c.page.Shades, Shade{Kind: "down", Node: c.node(s.Node), Job: None, From: 0, To: s.At, Text: "not started yet"})
	}
}

func (c *Collector) ended(s sim.SawDeath) {
	p := c.pumps[s.Pump]
	busy := false
	for i := range c.page.Runs {
		if r := &c.page.Runs[i]; r.Worker == p.worker && r.To == None {
			r.To, r.End, busy = s.At, "dies with its node", true
		}
	}
	c.disbelieve(p.views, s.At, "the node dies")
	c.pumps[s.Pump].views = nil
	if c.up[p.node] == 0 {
		if i := c.died[p.node]; busy && c.page.Shades[i].Text == "down: drained" {
			c.page.Shades[i].Text = "down"
		}
		return
	}
	c.up[p.node] = 0
	text := "down"
	if !busy {
		text = "down: drained"
	}
	c.died[p.node] = len(c.page.Shades)
	c.page.Shades = append(c.page.Shades, Shade{Kind: "down", Node: c.node(p.node), Job: None, From: s.At, To: None, Text: text})
	c.tell(s.At, c.node(p.node), None, "%s is down", p.node)
}

func (c *Collector) started(s sim.SawStarted) {
	w := c.pumps[s.Pump].worker
	c.runs[holder{w, s.Key}] = len(c.page.Runs)
	c.page.Runs = append(c.page.Runs, Run{Job: c.job(s.Key.Job), Attempt: s.Key.Attempt, Worker: w, From: s.At, To: None})
	c.tell(s.At, c.lane(w), c.job(s.Key.Job), "%s starts %s", c.pumps[s.Pump].node, c.attempt(s.Key)).Attempt = s.Key.Attempt
}

func (c *Collector) told(s sim.SawTold) {
	w := c.pumps[s.Pump].worker
	if i, ok := c.runs[holder{w, s.Key}]; ok {
		c.page.Runs[i].Told = append(c.page.Runs[i].Told, Told{At: s.At, Why: s.Why.String()})
	}
	e := c.tell(s.At, c.lane(w), c.job(s.Key.Job), "%s tells %s to stop: %s", c.pumps[s.Pump].node, c.attempt(s.Key), s.Why)
	e.Attempt, e.Bad = s.Key.Attempt, true
}

func (c *Collector) returned(s sim.SawReturned) {
	w := c.pumps[s.Pump].worker
	h := holder{w, s.Key}
	what := "?"
	if s.Outcome != nil {
		what = s.Outcome.Kind().String()
	}
	if i, ok := c.runs[h]; ok {
		c.page.Runs[i].To, c.page.Runs[i].End = s.At, "returns: "+what
		delete(c.runs, h)
	}
	c.tell(s.At, c.lane(w), c.job(s.Key.Job), "%s returns: %s", c.attempt(s.Key), what).Attempt = s.Key.Attempt
}

// believes books what a pump holds for its own from now on.
func (c *Collector) believes(s sim.SawViews) {
	p := &c.pumps[s.Pump]
	old := p.views
	p.views = nil
	for _, v := range s.Views {
		until := min(v.Until, Endless)
		k := slices.IndexFunc(old, func(o viewSeen) bool { return o.key == v.Key })
		if k < 0 {
			p.views = append(p.views, viewSeen{v.Key, len(c.page.Views)})
			c.page.Views = append(c.page.Views, Lease{Job: c.job(v.Key.Job), Attempt: v.Key.Attempt, Claim: v.Key.Claim, Worker: p.worker, From: s.At, To: None, Until: until})
			continue
		}
		p.views = append(p.views, old[k])
		if l := &c.page.Views[old[k].at]; l.Until != until {
			l.Until = until
			l.Renewals = append(l.Renewals, Extend{At: s.At, Until: until})
		}
		old = slices.Delete(old, k, k+1)
	}
	c.disbelieve(old, s.At, "")
}

// disbelieve ends own views.
func (c *Collector) disbelieve(views []viewSeen, at int64, why string) {
	for _, v := range views {
		c.page.Views[v.at].To, c.page.Views[v.at].End = at, why
	}
}

func (c *Collector) noted(s sim.SawNote) {
	p := c.pumps[s.Pump]
	node := c.lane(p.worker)
	switch a := s.Action.(type) {
	case pump.Degraded:
		c.tell(s.At, node, None, "%s is degraded: %s meets %s", p.node, a.Kind, a.Text).Bad = true
	case pump.Recovered:
		c.tell(s.At, node, None, "%s has recovered: %s works again", p.node, a.Kind)
	case pump.Halted:
		c.tell(s.At, node, None, "%s FAIL-STOPS: %s", p.node, a.Cause).Bad = true
		c.page.Shades = append(c.page.Shades, Shade{Kind: "mark", Node: node, Job: None, From: s.At, To: s.At, Text: "fail-stop of " + c.page.Workers[p.worker].Name})
	case pump.Stopped:
		c.tell(s.At, node, None, "%s has drained", p.node)
	case pump.Dropped:
		c.tell(s.At, node, c.job(a.Key.Job), "%s drops the %s of %s: its lease is over", p.node, a.Kind, c.attempt(a.Key)).Attempt = a.Key.Attempt
	case pump.Abandoned:
		e := c.tell(s.At, node, c.job(a.Key.Job), "%s gives up on %s, which ignores that it was told to stop", p.node, c.attempt(a.Key))
		e.Attempt, e.Bad = a.Key.Attempt, true
	case pump.Call, pump.Start, pump.Cancel:
	}
}

// point adds how far a clock is ahead.
func (c *Collector) point(node int, name string, at int64, ahead time.Duration) {
	for i := range c.page.Clocks {
		if k := &c.page.Clocks[i]; k.Name == name {
			if n := len(k.Points); n > 1 && k.Points[n-1].Ahead == int64(ahead) && k.Points[n-2].Ahead == int64(ahead) {
				k.Points[n-1].At = at // level: the end is enough
				return
			}
			k.Points = append(k.Points, Point{At: at, Ahead: int64(ahead)})
			return
		}
	}
	c.page.Clocks = append(c.page.Clocks, Clock{Node: node, Name: name, Points: []Point{{At: at, Ahead: int64(ahead)}}})
}

func (c *Collector) readings(at int64, r sim.SeenClocks) {
	c.point(TheStore, "the store's clock", at, r.Store)
	for i, ahead := range r.Walls {
		c.point(i, fmt.Sprintf("wall clock of %s", c.sc.Nodes[i].Name), at, ahead)
	}
}
