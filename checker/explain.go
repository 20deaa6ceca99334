package checker

import (
	"fmt"
	"slices"
	"strings"

	"backwave/history"
	"backwave/store"
)

// Explanation says why the calls on a job could not have taken effect one at a
// time.
type Explanation struct {
	Job     store.JobID
	Order   []ExplainedCall // the longest sequence that could have taken effect, in order
	Next    ExplainedCall   // the first call that then could not
	Because string          // where the job stood, and what of it speaks against Next
	Open    []string        // calls without an answer, which may have happened at any time, or never
}

// ExplainedCall is a call and its answer in words.
type ExplainedCall struct {
	Call uint64 // its id in the history
	Text string
}

// Explain tells, in lines for people, what FindExplanation finds; "" if it finds
// nothing.
func Explain(h *history.Log, id store.JobID, opts LinearOptions) string {
	if e, ok := FindExplanation(h, id, opts); ok {
		return e.String()
	}
	return ""
}

// FindExplanation finds out why the calls on a job could not have taken effect
// one at a time. It explains the bounded verdict, or the black-box one if only
// that is violated; ok is false if neither is.
func FindExplanation(h *history.Log, id store.JobID, opts LinearOptions) (e Explanation, ok bool) {
	l := gather(h, opts.withDefaults())
	j := l.jobByID[id]
	if j == nil {
		return e, false
	}
	for _, v := range []verdictSide{bounded, blackBox} {
		if v == blackBox && !l.attempts(j) {
			continue
		}
		for _, ops := range l.lines(j, v) {
			m := l.model(j, v, l.opts.Steps)
			if m.search(ops) == Violated {
				return l.stuck(j, v, ops).explanation(), true
			}
		}
	}
	return e, false
}

// story is how far the calls on a job make sense.
type story struct {
	m      *model
	ops    []op
	order  []int      // ops that could take effect, in this order
	states []jobState // where the job may stand then
	next   *op        // could not have had its answer
}

// stuck finds the story of ops, which no order explains.
func (l *linear) stuck(j *jobStory, v verdictSide, ops []op) story {
	m := l.model(j, v, min(explainSteps, l.opts.Steps))
	t := story{m: m, ops: ops, order: m.longest(ops)}
	m.budget = m.steps + len(ops)*maxStates
	m.over = false
	at := newSet([]jobState{{}})
	for _, i := range t.order {
		if next := m.step(at, &ops[i]); next != nil {
			at = next
		}
	}
	t.states = at.list
	for i := range ops {
		if !slices.Contains(t.order, i) && (t.next == nil || ops[i].ret < t.next.ret) {
			t.next = &ops[i]
		}
	}
	return t
}

// finding is the story of ops in one sentence.
func (l *linear) finding(j *jobStory, v verdictSide, ops []op) *Finding {
	t := l.stuck(j, v, ops)
	return &Finding{
		Invariant: "linearizable", Job: j.id, At: t.next.time, Call: t.next.call,
		Message: fmt.Sprintf("job %v: %s, but %s", j.id, l.say(t.next), t.m.where(t.states, t.next)),
	}
}

// explanation is the story in words.
func (t story) explanation() Explanation {
	e := Explanation{Job: t.m.job.id, Next: ExplainedCall{t.next.call, t.m.say(t.next)}, Because: t.m.where(t.states, t.next)}
	for _, i := range t.order {
		e.Order = append(e.Order, ExplainedCall{t.ops[i].call, t.m.say(&t.ops[i])})
	}
	for i := range t.m.view.open {
		e.Open = append(e.Open, t.m.sayPending(&t.m.view.open[i]))
	}
	for i := range t.m.view.lost {
		e.Open = append(e.Open, t.m.sayPending(&t.m.view.lost[i]))
	}
	return e
}

// String tells e in lines for people.
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "job %v: these calls could have taken effect in this order:\n", e.Job)
	for _, c := range e.Order {
		fmt.Fprintf(&b, "  call %d: %s\n", c.Call, c.Text)
	}
	fmt.Fprintf(&b, "then this one could not:\n  call %d: %s\n", e.Next.Call, e.Next.Text)
	fmt.Fprintf(&b, "because %s\n", e.Because)
	for _, text := range e.Open {
		fmt.Fprintf(&b, "without an answer, sent before it or after: %s\n", text)
	}
	return b.String()
}

// clock prints an instant as a time of day, as the rest of a story does.
func clock(t store.Instant) string {
	if t == noInstant {
		return "an unknown time"
	}
	return t.Time().Format("15:04:05.999999")
}

func (l *linear) name(worker int32) string {
	if worker == hidden {
		return "an unknown worker"
	}
	return l.names[worker]
}

// say puts a call and its answer into words.
func (l *linear) say(o *op) string {
	lease := ""
	if o.kind == opClaim || o.kind == opRenew || o.kind == opReport || o.kind == opLapse || o.kind == opMalformed && o.attempt > 0 {
		lease = fmt.Sprintf("attempt %d of claim %d", o.attempt, o.number)
	}
	at := " at " + clock(o.at)
	switch o.kind {
	case opEnqueue:
		return fmt.Sprintf("an enqueue was told %v%s", store.EnqueueStatus(o.status), at)
	case opClaim:
		return fmt.Sprintf("worker %s was given %s%s, until %s", l.name(o.worker), lease, at, clock(o.expires))
	case opRenew:
		more := ""
		if store.RenewStatus(o.status) == store.RenewOK {
			more = fmt.Sprintf(", until %s, cancel asked: %t", clock(o.expires), o.cancel)
		}
		return fmt.Sprintf("worker %s was told %v to its renewal of %s%s%s", l.name(o.worker), store.RenewStatus(o.status), lease, at, more)
	case opReport:
		return fmt.Sprintf("worker %s was told %s to its report of %v for %s%s", l.name(o.worker), reportAnswer(o), o.outcomeKind(), lease, at)
	case opLapse:
		return fmt.Sprintf("a sweep disposed of %s of worker %s%s, which it said had ended at %s, and the job went to %v", lease, l.name(o.worker), at, clock(o.expires), o.to)
	case opCancel:
		return fmt.Sprintf("a cancel (force: %t) was told %v (repeat: %t)%s", o.force, store.DoResult(o.status), o.repeat, at)
	case opRequeue:
		return fmt.Sprintf("a requeue was told %v%s", store.DoResult(o.status), at)
	case opMalformed:
		return fmt.Sprintf("a call (%s) %s%s", lease, o.mistake, at)
	}
	return "an unknown call"
}

func reportAnswer(o *op) string {
	s := store.ReportStatus(o.status)
	switch s {
	case store.ReportApplied:
		return fmt.Sprintf("%v (the job went to %v)", s, o.to)
	case store.ReportAlready:
		return fmt.Sprintf("%v (%v)", s, o.already)
	case store.ReportStale, store.ReportBusy, store.ReportRejected:
	}
	return s.String()
}

func (o *op) outcomeKind() store.EndKind {
	if o.outcome == nil {
		return 0
	}
	return o.outcome.Kind()
}

// sayPending puts a call without an answer into words.
func (l *linear) sayPending(p *pending) string {
	switch p.kind {
	case opEnqueue:
		return "an enqueue"
	case opRenew:
		return fmt.Sprintf("a renewal by %s of attempt %d of claim %d", l.name(p.worker), p.attempt, p.number)
	case opReport:
		return fmt.Sprintf("a report by %s of %v for attempt %d of claim %d", l.name(p.worker), p.outcome.Kind(), p.attempt, p.number)
	case opCancel:
		return fmt.Sprintf("a cancel (force: %t)", p.force)
	case opRequeue:
		return "a requeue"
	case opClaim, opLapse, opMalformed:
	}
	return "an unknown call"
}

// where says where the job stood, what of it speaks against o, and which other
// ways there were.
func (m *model) where(states []jobState, o *op) string {
	s := &states[0]
	text := m.describe(s)
	if why := m.against(s, o); why != "" {
		text = why + "; " + text
	}
	if len(states) > 1 {
		text += fmt.Sprintf(" (or in one of %d other states, none of which allows it)", len(states)-1)
	}
	return text
}

// describe puts a state into words.
func (m *model) describe(s *jobState) string {
	var b strings.Builder
	if s.state == 0 {
		return "the job did not exist"
	}
	fmt.Fprintf(&b, "the job was %v", s.state)
	if s.state == store.Scheduled && s.due != noInstant {
		fmt.Fprintf(&b, ", due at %s at the earliest", clock(s.due))
	}
	if s.loose {
		b.WriteString(", at least")
	}
	if s.state == store.Executing {
		fmt.Fprintf(&b, ", attempt %d leased to %s by claim %d until %s", s.attempt, m.name(s.worker), s.number, clock(s.until))
	} else if s.attempt > 0 {
		fmt.Fprintf(&b, ", after attempt %d", s.attempt)
	}
	if s.base > 0 {
		fmt.Fprintf(&b, ", %d attempts not counting", s.base)
	}
	if s.cancel {
		b.WriteString(", cancel asked")
	}
	if e := s.ends; e != nil {
		fmt.Fprintf(&b, "; attempt %d of %s ended as %v at %s", e.attempt, m.name(e.worker), e.kind, clock(e.at))
	}
	return b.String()
}

// against names the first thing in s that speaks against o, "" if nothing
// stands out.
func (m *model) against(s *jobState, o *op) string {
	if len(m.job.rows) == 0 {
		return "the job was never enqueued"
	}
	positive := o.kind == opRenew && store.RenewStatus(o.status) == store.RenewOK || o.kind == opReport && store.ReportStatus(o.status) == store.ReportApplied
	switch {
	case o.kind == opMalformed:
		return "no store may answer so"
	case o.kind == opClaim && s.state == store.Scheduled && o.at < s.due:
		return "the job was not due yet"
	case o.kind == opClaim && s.state == store.Scheduled && o.attempt != s.attempt+1:
		return fmt.Sprintf("the next attempt was %d", s.attempt+1)
	case o.kind == opClaim && s.state == store.Executing:
		return "another lease was in force"
	case (positive || o.kind == opLapse) && s.ends.of(o.attempt) != nil:
		return fmt.Sprintf("attempt %d had ended as %v", o.attempt, s.ends.of(o.attempt).kind)
	case positive && s.state == store.Executing && (s.worker != o.worker || s.number != o.number || s.attempt != o.attempt):
		return "the lease was another's"
	case positive && s.state == store.Executing && !m.mayLive(s, o):
		return fmt.Sprintf("the lease had ended at %s", clock(s.until))
	case o.kind == opLapse && s.state == store.Executing && o.at < s.until:
		return fmt.Sprintf("the lease ran until %s", clock(s.until))
	case (o.kind == opReport || o.kind == opLapse) && s.state == store.Executing:
		if a, b := m.next(s, endKindOf(o)); o.to != a && o.to != b && o.to != 0 {
			return fmt.Sprintf("the job had to go to %v", a)
		}
	}
	return ""
}

func endKindOf(o *op) store.EndKind {
	if o.kind == opLapse {
		return store.EndLapse
	}
	return o.outcomeKind()
}
