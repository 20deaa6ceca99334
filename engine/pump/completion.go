package pump

import "backwave/store"

// completion is what is known of a success that the handler itself records,
// inside a transaction of its own.
type completion uint8

const (
	untried completion = iota
	open               // its statement is about to be sent, or was, and nobody knows how the transaction ended
	undone             // rolled back
	landed             // committed
)

// notCommitted is what is reported for a handler that returns nil after a
// completion. If the transaction was committed all the same, the store says so
// and changes nothing.
const notCommitted = "completion not committed"

// apart reports whether the lease of h is left alone: its row is locked by the
// handler's own transaction, or has moved on with it.
func (h *held) apart() bool { return h.completion == open || h.completion == landed }

// over reports whether h has no lease any more.
func (h *held) over() bool { return h.lost || h.completion == landed }

func (p *Pump) completing(ev Completing) {
	h := p.held.lookup(ev.Key)
	if h != nil && h.running && h.completion != landed {
		h.completion = open
	}
}

func (p *Pump) completed(ev Completed, out []Action) []Action {
	i, ok := p.held.find(ev.Key)
	if !ok {
		return out
	}
	h := p.held.at(i)
	if !h.running || h.completion == untried {
		return out
	}
	switch ev.End {
	case store.CompletionCommitted: // the store has accepted it, whatever the own view said
		h.completion, h.lost = landed, false
	case store.CompletionRolledBack:
		if h.completion != open {
			return out
		}
		h.completion = undone
		if p.viewEnd(h) <= p.now {
			out, _ = p.lose(i, out)
		}
		p.watch(h)
	case store.CompletionUnknown: // still open
	}
	return out
}

// conclude ends what an open completion held up, now that the handler of h has
// returned o, and returns the outcome to be reported: never a success, since
// only its transaction could record that.
func (p *Pump) conclude(h *held, o store.Outcome) store.Outcome {
	switch h.completion {
	case untried:
		return o
	case open:
		h.completion = undone
		h.lost = h.lost || p.viewEnd(h) <= p.now
	case undone, landed:
	}
	if o.Kind() == store.EndSuccess {
		return store.Failure{Error: notCommitted}
	}
	return o
}
