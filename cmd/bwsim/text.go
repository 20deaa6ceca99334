package main

import (
	"fmt"
	"slices"
	"strings"

	"backwave/checker"
	"backwave/sim"
)

// textReport prints for people.
type textReport struct {
	s       *screen
	quiet   bool
	checks  int  // invariants
	width   int  // of names
	gap     bool // a blank line is due before the next run
	printed bool // something
}

func (r *textReport) run(o *outcome) {
	s := r.s
	held := o.res.Verdict == sim.Held && !o.differs()
	if r.quiet && held {
		return
	}
	roomy := !held || o.whole
	if r.gap || (roomy && r.printed) {
		s.printf("\n")
	}
	r.gap, r.printed = roomy, true
	if o.whole && !r.quiet {
		r.tell(o)
	}
	s.printf("%s %s\n", r.verdict(o), r.judged(o))
	for _, b := range o.breaches() {
		r.breach(o, b)
	}
	if !held && len(o.story) > 0 && (!o.whole || r.quiet) {
		s.printf("  the last of the story before it:\n")
		s.told(condense(o.before(o.story)))
	}
	if o.stack != "" {
		s.printf("  %s\n", strings.ReplaceAll(strings.TrimSpace(o.stack), "\n", "\n  "))
	}
	r.differ(o)
	if !held {
		s.printf("  to repeat it: %s\n", s.paint(bold, o.repeat))
	}
	if len(o.files) > 0 {
		s.printf("  written: %s\n", strings.Join(o.files, ", "))
	}
}

// tell prints the whole story, as far as it was told before a crash.
func (r *textReport) tell(o *outcome) {
	s := r.s
	s.printf("%s\n", s.paint(bold, fmt.Sprintf("%s, seed %d", o.sc.Name, o.seed)))
	for line := range strings.Lines(o.sc.Story) {
		s.printf("  %s\n", s.paint(dim, strings.TrimSpace(line)))
	}
	s.printf("\n")
	s.told(o.withViolations(condense(o.story)))
	s.printf("\n")
}

func (r *textReport) verdict(o *outcome) string {
	colour := map[sim.Verdict]string{sim.Held: green, sim.Violated: red, sim.Undecided: yellow}[o.res.Verdict]
	word := string(o.res.Verdict)
	if o.res.Verdict != sim.Held {
		word = strings.ToUpper(word)
	}
	return r.s.paint(colour, fmt.Sprintf("%-9s", word))
}

// judged says in one line what was looked at.
func (r *textReport) judged(o *outcome) string {
	name := fmt.Sprintf("%-*s  seed %d  ", r.width, o.sc.Name, o.seed)
	if o.stack != "" {
		return name + "the world crashed"
	}
	words := []string{
		count(r.checks, "invariant"), linearWords(o), count(len(o.res.Jobs), "job"),
		count(int(o.res.Events), "event"), clock(o.res.Virtual) + " virtual", "trace " + hash(o.res.TraceHash),
	}
	if live := liveWords(o); live != "" {
		words = slices.Insert(words, 2, live)
	}
	return name + strings.Join(words, ", ")
}

// liveWords says how soon the jobs that can finish did, and how soon they had to
// by the plan; "" if that is not promised.
func liveWords(o *outcome) string {
	l := &o.res.Live
	if l.Why != "" || l.Bound == 0 {
		return ""
	}
	since := "the last trouble"
	if o.sc.Level == sim.Pristine {
		since = "when it was due"
	}
	return fmt.Sprintf("%s finished within %s of %s (%s allowed)", count(l.Judged, "job"), round(max(0, l.Took)), since, round(l.Bound))
}

// linearWords says what the linearizability check has shown.
func linearWords(o *outcome) string {
	l := &o.res.Linear
	switch {
	case !o.linear:
		return "linearizability not checked"
	case l.BlackBox == checker.Violated || l.Bounded == checker.Violated:
		return fmt.Sprintf("not linearizable (black-box %s, bounded %s)", l.BlackBox, l.Bounded)
	case l.Undecided > 0:
		return fmt.Sprintf("linearizability undecided for %d of %s", l.Undecided, count(l.Jobs, "job"))
	case l.NotAttempted > 0:
		return fmt.Sprintf("linearizable (bounded; black-box for %d of %s)", l.Jobs-l.NotAttempted, count(l.Jobs, "job"))
	}
	return "linearizable (black-box and bounded)"
}

func (r *textReport) breach(o *outcome, b breach) {
	s := r.s
	what := "violates"
	if b.expected {
		what = "violates, as expected,"
	}
	where := ""
	if b.Event > 0 {
		where = fmt.Sprintf(" (event %s)", grouped(b.Event))
	}
	s.printf("  %s %s at %s%s\n", what, s.paint(bold, b.Invariant), clock(o.at(b.Violation)), where)
	if text := sentence(b.Invariant); text != "" {
		s.printf("    rule:  %s\n", text)
	}
	s.printf("    found: %s\n", o.names(b.Message))
	if b.more > 0 {
		s.printf("    and %s like it\n", grouped(uint64(b.more)))
	}
}

func (r *textReport) differ(o *outcome) {
	if o.second != "" {
		r.s.printf("  %s: made again for its story, the run had trace hash %s, not %s\n", r.s.paint(red, "NOT DETERMINISTIC"), o.second, hash(o.res.TraceHash))
	}
	if o.twin != "" && o.twin != hash(o.res.TraceHash) {
		r.s.printf("  %s: trace hash %s here, %s in the twin\n", r.s.paint(red, "NOT DETERMINISTIC"), hash(o.res.TraceHash), o.twin)
	}
}

func (r *textReport) end(t *totals) error {
	if t.asked == 1 && t.runs == 1 && !r.quiet {
		return nil
	}
	s := r.s
	if r.gap {
		s.printf("\n")
	}
	what := []string{s.paint(green, fmt.Sprintf("%d held", t.held))}
	if t.violated > 0 {
		what = append(what, s.paint(red, fmt.Sprintf("%d violated", t.violated)))
	}
	if t.undecided > 0 {
		what = append(what, s.paint(yellow, fmt.Sprintf("%d undecided", t.undecided)))
	}
	switch {
	case t.differ > 0:
		what = append(what, s.paint(red, fmt.Sprintf("%d not deterministic", t.differ)))
	case t.compared:
		what = append(what, "each the same in its twin")
	}
	runs := count(t.runs, "run")
	if t.runs < t.asked {
		runs = fmt.Sprintf("%d of %s", t.runs, count(t.asked, "run"))
	}
	s.printf("%s: %s; %s, %s virtual\n", runs, strings.Join(what, ", "), count(int(t.events), "event"), clock(t.virtual))
	return nil
}
