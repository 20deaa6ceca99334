package checker

import (
	"cmp"
	"slices"

	"github.com/anishathalye/porcupine"
)

// explainSteps bounds the second search that Explain makes; the longest
// sequence it has found by then is as good an explanation as any.
const explainSteps = 20_000

// judge judges one job in one verdict.
func (l *linear) judge(j *jobStory, v verdictSide) (Verdict, *Finding) {
	if len(j.rows) == 0 && l.opts.Midway {
		return Held, nil
	}
	if j.many {
		return Undecided, nil
	}
	all := Held
	for _, ops := range l.lines(j, v) {
		m := l.model(j, v, l.opts.Steps)
		got := m.search(ops)
		l.res.Steps += m.steps
		if got == Violated {
			return Violated, l.finding(j, v, ops)
		}
		all = worse(all, got)
	}
	return all, nil
}

// lines returns the sequences of ops that must each be possible.
func (l *linear) lines(j *jobStory, v verdictSide) [][]op {
	if v == bounded {
		return l.timelines(j.views[v].ops)
	}
	return [][]op{j.views[v].ops}
}

func (l *linear) model(j *jobStory, v verdictSide, budget int) *model {
	return &model{linear: l, job: j, view: &j.views[v], side: &l.side[v], budget: budget}
}

// search looks for an order in which ops could have taken effect.
func (m *model) search(ops []op) Verdict {
	if len(ops) == 0 {
		return Held
	}
	legal := m.witness(ops)
	if !legal {
		m.over = m.steps >= m.budget
		legal = porcupine.CheckOperations(m.spec(), operations(ops))
	}
	switch {
	case legal:
		return Held
	case m.over:
		return Undecided
	}
	return Violated
}

// witness reports whether ops could have taken effect in the order in which
// they most likely did: that of the world if it has told, else that of the
// store's clock. One order that is possible is proof; if this one is not, or
// contradicts who was answered before whom, all are searched. So what is legal
// costs one step a call, however many calls overlapped.
func (m *model) witness(ops []op) bool {
	m.order = m.order[:0]
	told := true
	for i := range ops {
		m.order = append(m.order, &ops[i])
		told = told && ops[i].likely > 0
	}
	slices.SortStableFunc(m.order, func(a, b *op) int {
		if told {
			return cmp.Compare(a.likely, b.likely)
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ret, b.ret))
	})
	at, latest := newSet([]jobState{{}}), int64(0)
	for _, o := range m.order {
		if o.ret < latest {
			return false
		}
		if at = m.step(at, o); at == nil {
			return false
		}
		latest = max(latest, o.sent)
	}
	return true
}

// spec is m in porcupine's terms.
func (m *model) spec() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return newSet([]jobState{{}}) },
		Step: func(state, input, _ any) (bool, any) {
			next := m.step(state.(*stateSet), input.(*op))
			return next != nil, next
		},
		Equal: func(a, b any) bool { return a.(*stateSet).equal(b.(*stateSet)) },
	}
}

// operations is ops in porcupine's terms. Its times are positions, not clock
// readings: it takes intervals as closed, and equal readings for overlaps.
func operations(ops []op) []porcupine.Operation {
	out := make([]porcupine.Operation, len(ops))
	for i := range ops {
		out[i] = porcupine.Operation{Input: &ops[i], Call: 2 * ops[i].sent, Return: 2*ops[i].ret + 1}
	}
	return out
}

// longest returns the longest sequence of ops that could have taken effect, and
// of those as long the first in order, so that an explanation is the same
// every time.
func (m *model) longest(ops []op) []int {
	_, info := porcupine.CheckOperationsVerbose(m.spec(), operations(ops), 0)
	var best []int
	for _, part := range info.PartialLinearizations()[0] {
		if len(part) > len(best) || len(part) == len(best) && slices.Compare(part, best) < 0 {
			best = part
		}
	}
	return best
}
