package checker

import (
	"slices"

	"backwave/store"
)

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

// Shown is what the health of a process says, group by group; names sorted.
type Shown struct {
	Process                   int
	Healthy                   bool
	Halted, Partial, Degraded []string
}

// Shown tells what a process shows of its health, after a step that changed a
// mark of one of its pumps.
func (w *Watch) Shown(s Shown) {
	want := Shown{Process: s.Process, Healthy: true}
	for _, g := range w.groupsOf(s.Process) {
		pumps, halted, degraded := 0, 0, false
		for _, p := range w.pumps {
			if p == nil || p.dead || p.info.Process != s.Process || p.info.Group != g {
				continue
			}
			pumps++
			if p.halted {
				halted++
			} else if p.marks != 0 {
				degraded = true
			}
		}
		switch {
		case halted == pumps:
			want.Halted, want.Healthy = append(want.Halted, g), false
		case halted > 0:
			want.Partial = append(want.Partial, g)
		}
		if degraded {
			want.Degraded = append(want.Degraded, g)
		}
	}
	if s.Healthy != want.Healthy || !slices.Equal(s.Halted, want.Halted) || !slices.Equal(s.Partial, want.Partial) || !slices.Equal(s.Degraded, want.Degraded) {
		w.breach(ruleHealth, nil, "a process shows healthy %t, halted %q, partially halted %q, degraded %q; its pumps say healthy %t, %q, %q, %q",
			s.Healthy, s.Halted, s.Partial, s.Degraded, want.Healthy, want.Halted, want.Partial, want.Degraded)
	}
}

// groupsOf lists the groups of a process that lives, sorted.
func (w *Watch) groupsOf(process int) (out []string) {
	for _, p := range w.pumps {
		if p != nil && !p.dead && p.info.Process == process && !slices.Contains(out, p.info.Group) {
			out = append(out, p.info.Group)
		}
	}
	slices.Sort(out)
	return out
}
