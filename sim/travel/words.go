package travel

import (
	"fmt"
	"slices"
	"strings"

	"backwave/sim"
	"backwave/sim/scenario"
)

// mostNamed is how many jobs of one call are named.
const mostNamed = 5

// What says what m is, in a few words.
func (m *Moment) What(sc *sim.Scenario) string {
	if m.Kind == "fault" {
		return Label(m.Fault) + " " + m.unlabelled(sc)
	}
	return m.unlabelled(sc)
}

// unlabelled is What without the label of a fault.
func (m *Moment) unlabelled(sc *sim.Scenario) string {
	text := m.what(sc)
	if m.Idle {
		text += " (nothing comes of it now)"
	}
	var sent []string
	for _, f := range m.Facts {
		if f.Kind == "call" && !slices.Contains(sent, f.Call) {
			sent = append(sent, f.Call)
		}
	}
	if len(sent) > 0 {
		text += "; sends " + strings.Join(sent, ", ")
	}
	return text
}

func (m *Moment) what(sc *sim.Scenario) string {
	about := Names(m.Subject)
	switch m.Kind {
	case "apply":
		return with(m.Call+" by "+m.sender()+" reaches the store", about)
	case "reply":
		return with("the answer to the "+m.Call+" reaches "+m.sender(), about)
	case "return":
		return with("the handler's time on "+m.Node+" is up", about)
	case "progress":
		return with("the handler reports progress on "+m.Node, about)
	case "handler":
		return with("the handler goes on on "+m.Node, about)
	case "outside":
		return with("a call to the world outside, or its answer, arrives", about)
	case "wake":
		return m.Worker + " wakes"
	case "hint":
		return m.Worker + " gets a hint"
	case "boot":
		return m.Node + " boots"
	case "exit":
		return m.Node + " has waited for its handlers"
	case "enqueue":
		return "the client's turn to enqueue " + about
	case "probe":
		return "somebody looks at the health of " + m.Node
	case "fault":
		word := "ends: "
		if m.Begin {
			word = "begins: "
		}
		return word + scenario.EntryText(sc.Timeline[m.Fault])
	}
	return ""
}

func (m *Moment) sender() string {
	switch {
	case m.Worker != "":
		return m.Worker
	case m.Call == "enqueue":
		return "a client"
	}
	return "an operator"
}

func with(what, about string) string {
	if about == "" {
		return what
	}
	return what + ": " + about
}

// Names lists jobs and attempts as stories name them, a few of many.
func Names(list []sim.Subject) string {
	var out []string
	for i, s := range list {
		if i == mostNamed && len(list) > mostNamed+1 {
			out = append(out, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		out = append(out, Name(s))
	}
	return strings.Join(out, " ")
}

// Name returns j7, or j7#2 of an attempt.
func Name(s sim.Subject) string {
	if s.Attempt == 0 {
		return s.Job
	}
	return fmt.Sprintf("%s#%d", s.Job, s.Attempt)
}

// Label names entry i, from 0, of a timeline: f1 is the first.
func Label(i int) string { return fmt.Sprintf("f%d", i+1) }
