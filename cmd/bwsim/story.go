package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"backwave/sim"
)

// tail is how many lines of the story are told before a violation.
const tail = 20

// condense puts renewals that follow each other into one line per lease: a
// handler of twenty minutes renews sixty times.
func condense(lines []sim.Line) []sim.Line {
	type renewals struct {
		who, lease string
		at         int // in out
		n          int
		last       time.Duration
	}
	var out []sim.Line
	var open []renewals
	shut := func() {
		for _, r := range open {
			if r.n > 1 {
				out[r.at].Text = fmt.Sprintf("renews %s … %d times, last at %s", r.lease, r.n, clock(r.last))
			}
		}
		open = open[:0]
	}
	for _, l := range lines {
		lease, ok := renewed(l.Text)
		if !ok {
			shut()
			out = append(out, l)
			continue
		}
		i := slices.IndexFunc(open, func(r renewals) bool { return r.who == l.Who && r.lease == lease })
		if i < 0 {
			open = append(open, renewals{l.Who, lease, len(out), 1, l.At})
			out = append(out, l)
			continue
		}
		open[i].n++
		open[i].last = l.At
	}
	shut()
	return out
}

// renewed returns the lease of a line that tells of its renewal.
func renewed(text string) (lease string, ok bool) {
	rest, ok := strings.CutPrefix(text, "renews ")
	if !ok {
		return "", false
	}
	lease, _, ok = strings.Cut(rest, " until ")
	return lease, ok
}

// verdictWho stands in a story for whoever saw a violation.
const verdictWho = "checker"

// withViolations tells the first violation of each invariant at its place in
// the story.
func (o *outcome) withViolations(lines []sim.Line) []sim.Line {
	out := slices.Clone(lines)
	for _, b := range o.breaches() {
		out = append(out, sim.Line{At: time.Duration(b.At), Who: verdictWho, Text: fmt.Sprintf("VIOLATION of %s: %s", b.Invariant, o.names(b.Message))})
	}
	slices.SortStableFunc(out, func(a, b sim.Line) int { return int(a.At - b.At) })
	return out
}

// before returns the last lines told before, or at, the first violation.
func (o *outcome) before(lines []sim.Line) []sim.Line {
	first := o.res.Virtual
	for _, v := range o.violations() {
		first = min(first, time.Duration(v.At))
	}
	n := slices.IndexFunc(lines, func(l sim.Line) bool { return l.At > first })
	if n < 0 || o.stack != "" { // a crash has no time: it came after all that was told
		n = len(lines)
	}
	return lines[max(0, n-tail):n]
}

// told prints lines of a story: when, who, what.
func (s *screen) told(lines []sim.Line) {
	width := 0
	for _, l := range lines {
		width = max(width, len(l.Who))
	}
	for _, l := range lines {
		text := l.Text
		who := fmt.Sprintf("%-*s", width, l.Who)
		switch {
		case l.Who == verdictWho:
			who, text = s.paint(red, who), s.paint(red, text)
		case loud(text):
			who, text = s.paint(cyan, who), s.paint(yellow, text)
		default:
			who = s.paint(cyan, who)
		}
		s.printf("%s  %s  %s\n", s.paint(dim, fmt.Sprintf("%10s", clock(l.At))), who, text)
	}
}

// loud reports whether a line tells of something gone wrong: those have a word
// in capitals.
func loud(text string) bool {
	for w := range strings.FieldsSeq(text) {
		if len(w) > 3 && strings.ToUpper(w) == w && strings.ToLower(w) != w {
			return true
		}
	}
	return false
}
