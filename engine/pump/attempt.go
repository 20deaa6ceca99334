package pump

import "backwave/store"

// viewEnd returns when the pump must take h for lost. A view that ends at
// exactly now is over: the boundary belongs to the next owner.
func (p *Pump) viewEnd(h *held) Time {
	if h.apart() {
		return Never
	}
	return max(h.sent.Add(p.cfg.view()), h.doubtUntil)
}

// attention returns when h next needs the pump without any event.
func (p *Pump) attention(h *held) Time {
	t := Never
	if !h.lost {
		t = p.viewEnd(h)
	}
	if h.running {
		t = min(t, h.timeoutAt)
	}
	if !h.abandoned {
		t = min(t, h.abandonAt)
	}
	return t
}

// attend looks at every attempt whose time has come, in the order of keys.
func (p *Pump) attend(out []Action) []Action {
	p.soon = Never
	for i := 0; i < p.held.len(); i++ {
		h := p.held.at(i)
		if !h.lost && p.viewEnd(h) <= p.now {
			gone := false
			if out, gone = p.lose(i, out); gone {
				i--
				continue
			}
		}
		if h.running && h.timeoutAt <= p.now {
			h.timeoutAt = Never
			out = p.tell(h, TimedOut, out)
			h.abandonAt = min(h.abandonAt, p.now.Add(p.cfg.AbandonAfter))
		}
		if !h.abandoned && h.abandonAt <= p.now {
			h.abandoned = true
			if h.running && !h.over() {
				out = append(out, Abandoned{Key: h.key})
			}
		}
		p.soon = min(p.soon, p.attention(h))
	}
	return out
}

// tell ends the context of a running handler; the first reason stands.
func (p *Pump) tell(h *held, why Reason, out []Action) []Action {
	if !h.running || h.told != 0 {
		return out
	}
	h.told = why
	return append(out, Cancel{Key: h.key, Why: why})
}

// lose takes the lease at position i for lost and reports whether the attempt
// is thereby done with. A running handler is told. Of outcomes only a success
// may still be sent, once: the store decides whether it comes too late.
func (p *Pump) lose(i int, out []Action) ([]Action, bool) {
	h := p.held.at(i)
	h.lost = true
	h.doubtUntil = 0
	switch {
	case h.running:
		return p.tell(h, LeaseLost, out), false
	case h.inReport: // its answer decides
		return out, false
	case h.outcome.Kind() == store.EndSuccess && !h.lastTry:
		h.lastTry = true
		return out, false
	}
	return p.drop(i, out), true
}

// drop gives up the outcome at position i, and says so unless what the attempt
// came to was recorded by its own transaction.
func (p *Pump) drop(i int, out []Action) []Action {
	if h := p.held.at(i); h.completion != landed {
		out = append(out, Dropped{Key: h.key, Kind: h.outcome.Kind()})
	}
	p.done(i)
	return out
}

// done forgets the attempt at position i, which has an outcome.
func (p *Pump) done(i int) {
	p.waiting--
	p.held.remove(i)
}

// returned frees the slot of a handler and decides what becomes of its outcome.
func (p *Pump) returned(ev Returned, out []Action) []Action {
	i, ok := p.held.find(ev.Key)
	if !ok || !p.held.at(i).running || ev.Outcome == nil {
		return out
	}
	h := p.held.at(i)
	h.running = false
	p.running--
	outcome := p.conclude(h, ev.Outcome)
	if p.phase == draining {
		// Nothing is reported for a handler that the drain has interrupted,
		// not even its success: the lease lapses, or is given back.
		if !p.cfg.ReleaseOnDrain || h.over() {
			p.held.remove(i)
			return out
		}
		outcome = store.Released{}
	}
	if h.lost && outcome.Kind() != store.EndSuccess {
		p.held.remove(i)
		return append(out, Dropped{Key: ev.Key, Kind: outcome.Kind()})
	}
	h.lastTry = h.lost
	p.ready(h, outcome)
	return out
}

// ready makes outcome part of the next report.
func (p *Pump) ready(h *held, outcome store.Outcome) {
	h.outcome = outcome
	h.abandoned, h.abandonAt, h.timeoutAt = false, Never, Never
	p.waiting++
	p.lanes[Reporting].due = p.now
	p.watch(h)
}

// watch makes sure that the pump wakes up for h.
func (p *Pump) watch(h *held) {
	p.soon = min(p.soon, p.attention(h))
	if p.renewable(h) {
		p.beat = min(p.beat, h.sent.Add(p.cfg.HeartbeatInterval))
	}
}
