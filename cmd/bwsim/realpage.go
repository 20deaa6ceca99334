//go:build unix

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"backwave/internal/nemesis"
	"backwave/sim/timeline"
)

// shadeOf says how a page shades each kind of fault.
var shadeOf = map[nemesis.Kind]string{
	nemesis.Kill: "down", nemesis.Terminate: "down", nemesis.Freeze: "pause",
	nemesis.Cut: "partition", nemesis.Partition: "partition", nemesis.LoseCalls: "partition", nemesis.LoseReply: "partition", nemesis.Slow: "slow",
	nemesis.RestartFast: "down", nemesis.RestartImmediate: "down", nemesis.Crash: "down", nemesis.Stall: "pause", nemesis.ReadOnly: "outage",
	nemesis.HoldLock: "hold",
}

// shade adds to a page of recorded calls what the run knows besides: which
// process was whose, and what was done to whom.
func (o *realOutcome) shade(page *timeline.Page) {
	if len(o.Log.Records()) == 0 {
		return
	}
	start := o.Log.Records()[0].At
	at := func(t time.Time) int64 { return max(0, t.UnixNano()-start) }
	o.lanes(page)
	page.Notes = append(page.Notes, "What was done to whom is known, though: it is shaded. To the client it was done out of sight, see the events.")
	for i := range o.Done {
		d := &o.Done[i]
		who := strings.TrimPrefix(d.Target, "connection of ")
		node := slices.Index(page.Nodes, who)
		switch {
		case node >= 0:
		case d.Kind.Target() == "server" || d.Kind.Target() == "file":
			node = timeline.TheStore
		default:
			node = timeline.People
		}
		text := fmt.Sprintf("%s: %s for %v", d.Target, d.Kind, d.Ended.Sub(d.Began).Round(time.Millisecond))
		page.Events = append(page.Events, timeline.Event{At: at(d.Began), Node: node, Job: timeline.None, Text: text})
		if node != timeline.People {
			page.Shades = append(page.Shades, timeline.Shade{Kind: shadeOf[d.Kind], Node: node, Job: timeline.None, From: at(d.Began), To: at(d.Ended), Text: text})
		}
	}
	for _, f := range o.Findings {
		job := timeline.None
		for i := range page.Jobs {
			if page.Jobs[i].ID == f.Job {
				job = i
			}
		}
		if f.Check != "linearizable" { // those are there already
			page.Violations = append(page.Violations, timeline.Violation{Invariant: f.Check, At: page.Length, Job: job, Message: f.Message})
			page.Verdict = "violated"
		}
	}
	for _, s := range page.Shades {
		page.Length = max(page.Length, s.To)
	}
	slices.SortStableFunc(page.Events, func(a, b timeline.Event) int { return int(max(-1, min(1, a.At-b.At))) })
	slices.SortStableFunc(page.Shades, func(a, b timeline.Shade) int { return int(max(-1, min(1, a.From-b.From))) })
}

// lanes gives each worker one lane, whichever process it was at the time: pages
// of recorded calls know processes only.
func (o *realOutcome) lanes(page *timeline.Page) {
	var names []string
	for _, p := range o.Processes {
		if !slices.Contains(names, p.Node) {
			names = append(names, p.Node)
		}
	}
	move := make([]int, len(page.Nodes))
	starts := make([]int, len(page.Nodes))
	for i, name := range page.Nodes {
		_, pid, _ := strings.Cut(name, "/")
		node := name
		for _, p := range o.Processes {
			if strconv.Itoa(p.PID) == pid || name == p.Node { // sweeps are made in the name of the worker
				node, starts[i] = p.Node, p.Number
			}
		}
		move[i] = slices.Index(names, node)
		if move[i] < 0 {
			move[i] = len(names)
			names = append(names, node)
		}
	}
	lane := func(n *int) {
		if *n >= 0 {
			*n = move[*n]
		}
	}
	for i := range page.Workers {
		page.Workers[i].Process = max(1, starts[page.Workers[i].Node])
		lane(&page.Workers[i].Node)
	}
	for i := range page.Events {
		lane(&page.Events[i].Node)
	}
	for i := range page.Shades {
		lane(&page.Shades[i].Node)
	}
	for i := range page.Clocks {
		lane(&page.Clocks[i].Node)
	}
	page.Nodes = names
}
