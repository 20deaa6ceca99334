package checker

import "backwave/store"

// completion is what a Watch knows of a success that a handler records itself,
// in a transaction of its own.
type completion struct {
	tried bool // the handler has begun to: from then on a nil of its is no success
	apart bool // its lease is left alone: neither renewed nor over
	done  bool // committed
}

// Completing tells that the handler of an attempt is about to send the
// statement that records its success, as CallComplete.
func (w *Watch) Completing(id PumpID, key store.LeaseKey, node int64) {
	if h := w.runs(id, key, node); h != nil && !h.completion.done {
		h.completion.tried, h.completion.apart = true, true
	}
}

// Completed tells how that transaction ended, as far as the handler knows.
func (w *Watch) Completed(id PumpID, key store.LeaseKey, end store.Completion, node int64) {
	h := w.runs(id, key, node)
	if h == nil || !h.completion.tried {
		return
	}
	switch end {
	case store.CompletionCommitted:
		h.completion.apart, h.completion.done = true, true
		h.lost = false
	case store.CompletionRolledBack:
		if h.completion.done {
			return
		}
		h.completion.apart = false
		p := w.pump(id)
		p.age(h, node)
		p.soon = min(p.soon, node)
	case store.CompletionUnknown: // as before
	}
}

// runs returns the attempt of key if its handler runs on a living pump.
func (w *Watch) runs(id PumpID, key store.LeaseKey, node int64) *hold {
	p := w.alive(id, node)
	if p == nil {
		return nil
	}
	if h := p.find(key); h != nil && h.running {
		return h
	}
	return nil
}

// conclude ends what a completion held up, now that its handler has returned,
// and returns what is owed instead of kind: only the transaction could record a
// success.
func (p *pumpBook) conclude(h *hold, kind store.EndKind, node int64) store.EndKind {
	if !h.completion.tried {
		return kind
	}
	if !h.completion.done {
		h.completion.apart = false
		p.age(h, node)
	}
	if kind == store.EndSuccess {
		return store.EndFailure
	}
	return kind
}
