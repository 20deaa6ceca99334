package timeline

import (
	"fmt"
	"strings"
	"time"

	"backwave/sim"
)

// struck books a fault, or what people do, as it begins or ends.
func (c *Collector) struck(s sim.SawFault) {
	if s.Before.Store != s.After.Store || bends(s.Fault) {
		c.readings(s.At, s.Before)
		c.readings(s.At, s.After)
	}
	if !s.Begin {
		for _, i := range c.shades[s.Index] {
			c.page.Shades[i].To = s.At
		}
		if n := len(c.shades[s.Index]); n > 0 {
			sh := c.page.Shades[c.shades[s.Index][n-1]]
			c.tell(s.At, sh.Node, sh.Job, "over: %s", sh.Text)
		}
		delete(c.shades, s.Index)
		return
	}
	from := len(c.page.Shades)
	lasts := c.shade(s.At, s.Fault)
	for i := from; i < len(c.page.Shades); i++ {
		sh := &c.page.Shades[i]
		if lasts {
			sh.To = None
			c.shades[s.Index] = append(c.shades[s.Index], i)
		}
		if i == from {
			c.tell(s.At, sh.Node, sh.Job, "%s", sh.Text).Bad = sh.Node != People
		}
	}
}

// bends reports whether f changes how a clock goes.
func bends(f sim.Fault) bool {
	switch f.(type) {
	case sim.Step, sim.Drift, sim.Freeze, sim.Suspend:
		return true
	}
	return false
}

// shade draws a fault that begins at at. It reports whether the fault lasts.
func (c *Collector) shade(at int64, f sim.Fault) (lasts bool) {
	on := func(kind string, nodes []string, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		for _, n := range c.among(nodes) {
			c.page.Shades = append(c.page.Shades, Shade{Kind: kind, Node: n, Job: None, From: at, To: at, Text: text})
		}
	}
	row := func(kind, job string, format string, args ...any) {
		for i := range c.page.Jobs {
			if c.page.Jobs[i].Name == job {
				c.page.Shades = append(c.page.Shades, Shade{Kind: kind, Node: TheStore, Job: i, From: at, To: at, Text: fmt.Sprintf(format, args...)})
			}
		}
	}
	atStore := []string{"store"}
	switch f := f.(type) {
	case sim.Crash:
		on("mark", []string{f.Node}, "CRASH of %s", f.Node)
	case sim.Start:
		on("mark", []string{f.Node}, "start of %s", f.Node)
	case sim.Drain:
		on("mark", []string{f.Node}, "%s is asked to drain", f.Node)
	case sim.Pause:
		c.stillBy(f.Node, "%s STANDS STILL for %v", f.Node, f.For)
	case sim.Suspend:
		c.stillBy(f.Node, "%s is SUSPENDED for %v", f.Node, f.For)
	case sim.Step:
		on("mark", []string{f.Node}, "clock of %s steps by %v", f.Node, f.By)
	case sim.Drift:
		on("mark", []string{f.Node}, "clocks of %s drift by %d ppm", f.Node, f.PPM)
	case sim.Freeze:
		on("mark", []string{f.Node}, "clock of %s stands still for %v", f.Node, f.For)
	case sim.Partition:
		on("partition", f.Nodes, "CUT OFF from the store%s", lostWords(f.Lost))
		return true
	case sim.Slow:
		on("slow", f.Nodes, "the network is slower by %v", f.By)
		return f.For > 0
	case sim.StoreError:
		on("error", atStore, "the store answers %s with errors: %s", callsWords(f), f.Class)
		return true
	case sim.Outage:
		on("outage", atStore, "the store answers NOBODY%s", forWords(f.For))
		return true
	case sim.Stall:
		on("stall", atStore, "the store STALLS%s", forWords(f.For))
		return true
	case sim.Restart:
		on("outage", atStore, "the store goes DOWN for a restart%s", forWords(f.For))
		return true
	case sim.Damage:
		row("mark", f.Job, "the row of %s can no longer be read", f.Job)
	case sim.Hold:
		row("hold", f.Job, "somebody holds the row of %s", f.Job)
		return true
	case sim.Cancel:
		row("people", f.Job, "an operator cancels %s%s", f.Job, forced(f.Force))
	case sim.Requeue:
		row("people", f.Job, "an operator requeues %s", f.Job)
	case sim.EnqueueAgain:
		row("people", f.Job, "%s is enqueued once more", f.Job)
	case sim.PauseQueue:
		on("mark", atStore, "an operator pauses queue %s", f.Queue)
	case sim.ResumeQueue:
		on("mark", atStore, "an operator resumes queue %s", f.Queue)
	default: // a kind that is younger than this page
		on("mark", atStore, "%s", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", f), "sim.")))
	}
	return false
}

// still books a node that stands still, whatever the reason.
func (c *Collector) still(s sim.SawStill) {
	node := c.node(s.Node)
	if i, ok := c.stands[s.Node]; ok && !s.Begin {
		c.page.Shades[i].To = s.At
		delete(c.stands, s.Node)
		c.tell(s.At, node, None, "%s goes on", s.Node)
		return
	}
	c.stands[s.Node] = len(c.page.Shades)
	c.page.Shades = append(c.page.Shades, Shade{Kind: "pause", Node: node, Job: None, From: s.At, To: None, Text: s.Node + " STANDS STILL"})
	c.tell(s.At, node, None, "%s STANDS STILL", s.Node).Bad = true
}

// stillBy says why a node has just begun to stand still.
func (c *Collector) stillBy(node, format string, args ...any) {
	if i, ok := c.stands[node]; ok {
		c.page.Shades[i].Text = fmt.Sprintf(format, args...)
	}
}

// among returns the indices of nodes by name, of all nodes for none.
func (c *Collector) among(names []string) (out []int) {
	if len(names) == 0 {
		for i := range c.sc.Nodes {
			out = append(out, i)
		}
	}
	for _, n := range names {
		if i, ok := c.nodes[n]; ok {
			out = append(out, i)
		} else if n == "store" {
			out = append(out, TheStore)
		}
	}
	return out
}

func lostWords(lost string) string {
	if lost == "" || lost == "both" {
		return ""
	}
	return " (" + lost + " are lost)"
}

func callsWords(f sim.StoreError) string {
	words := "all calls"
	if len(f.Calls) > 0 {
		words = fmt.Sprint(f.Calls)
	}
	if len(f.Nodes) > 0 {
		words += fmt.Sprintf(" of %v", f.Nodes)
	}
	return words
}

func forWords(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf(" for %v", d)
}

func forced(force bool) string {
	if force {
		return " by force"
	}
	return ""
}
