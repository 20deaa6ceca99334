package checker

import "backwave/store"

// haltedRight checks health of a pump that has halted or must have. A drain
// that was over before the fault hears of nothing.
func (w *Watch) haltedRight(p *pumpBook, s Step) {
	switch {
	case p.halted && !s.Halted:
		w.pumpBreach(ruleHealth, p, store.LeaseKey{}, "runs again at %s after it had fail-stopped", said(s.Node))
	case s.Halted && !p.fatal:
		w.pumpBreach(ruleHealth, p, store.LeaseKey{}, "fail-stopped at %s, and no fatal fault had been told to it", said(s.Node))
	case !s.Halted && p.phase == phaseServing:
		w.pumpBreach(ruleHealth, p, store.LeaseKey{}, "did not fail-stop at %s on a fatal fault", said(s.Node))
	}
	if s.Halted && !p.halted {
		p.halted, p.fatal = true, true
		w.toldOfHalt(p, s.Node)
	}
}

// degradedRight checks the degraded marks, which differ from what the calls
// say. A drain may be over, and then nothing changes them any more.
func (w *Watch) degradedRight(p *pumpBook, s Step) {
	if p.phase != phaseServing {
		return
	}
	for k := CallRenew; k <= CallSweep; k++ {
		is, want := s.Degraded>>k&1, p.degraded>>k&1
		switch {
		case is > want:
			w.pumpBreach(ruleHealth, p, store.LeaseKey{}, "is degraded at %s although its last ended %s succeeded, or none failed", said(s.Node), k)
		case is < want:
			w.pumpBreach(ruleHealth, p, store.LeaseKey{}, "is not degraded at %s although its last ended %s failed or was given up", said(s.Node), k)
		}
	}
}
