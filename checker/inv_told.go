package checker

import "time"

// rightCause checks told when a handler is told.
func (w *Watch) rightCause(p *pumpBook, h *hold, why Why, node int64) {
	ok := false
	switch why {
	case WhyHalt: // a pump that panics looks at nothing else first
		ok = p.fatal
	case WhyLost:
		ok = h.lost
	case WhyCancel:
		ok = h.cancel && !h.lost
	case WhyDrain:
		ok = p.phase == phaseDraining && !h.lost
	case WhyTimeout:
		ok = h.timedOut && !h.lost
	}
	if ok {
		return
	}
	state := "its own view ends at " + said(p.viewEnd(h))
	if h.lost {
		state = "its lease was lost"
	}
	w.pumpBreach(ruleTold, p, h.key, "told %q at %s, which is not so: %s, cancel asked %t, timed out %t", why, said(node), state, h.cancel, h.timedOut)
}

// toldInTime checks told after a step: whoever had a reason by then has heard
// of one.
func (w *Watch) toldInTime(p *pumpBook, node int64) {
	for i := range p.holds {
		h := &p.holds[i]
		if !h.running || h.told != 0 {
			continue
		}
		why := Why(0)
		switch {
		case h.lost:
			why = WhyLost
		case h.timedOut:
			why = WhyTimeout
		case h.cancel:
			why = WhyCancel
		case p.phase == phaseDraining:
			why = WhyDrain
		default:
			continue
		}
		late := ""
		if end := h.sent + p.view; h.lost && end <= node {
			late = "; its own view ended at " + said(end) + ", " + time.Duration(node-end).String() + " before"
		}
		w.pumpBreach(ruleTold, p, h.key, "was not told %q by the step at %s%s", why, said(node), late)
	}
}

// toldOfHalt checks told in the step that halts a pump.
func (w *Watch) toldOfHalt(p *pumpBook, node int64) {
	for i := range p.holds {
		if h := &p.holds[i]; h.running && h.told == 0 {
			w.pumpBreach(ruleTold, p, h.key, "was not told that its pump fail-stopped at %s", said(node))
		}
	}
}
