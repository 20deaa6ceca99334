package mutants

import "backwave/internal/mutant"

// inKinds are bugs that hardly show but under one kind of fault, for which see
// Needs.
func inKinds() []mutant.Mutant {
	const pump, memory, rules = "engine/pump/", "store/memory/", "store/rules/"
	return []mutant.Mutant{
		{Name: "answer-before-deadlines", File: pump + "pump.go", Func: "(*Pump).Step", Old: "out = p.deadlines(out)\n\tif p.phase < stopped {\n\t\tout = p.event(ev, out)\n\t}", New: "out = p.event(ev, out)\n\tif p.phase < stopped {\n\t\tout = p.deadlines(out)\n\t}", Breaks: "a node that was frozen hears of other things before it learns what it has lost"},
		{Name: "damage-not-seen", File: pump + "claim.go", Func: "(*Pump).accept", Old: "case l.Damage != \"\":", New: "case false:", Breaks: "a handler starts on a row that could not be read"},
		{Name: "leases-not-cut", File: memory + "sweep.go", Func: "(*Store).sweep", Old: "s.cut(now, q)", New: "_ = q", Breaks: "a lease that was stamped by a clock far ahead lasts until then"},
		{Name: "vanished-row-renewed", File: memory + "renew.go", Func: "(*Store).renewRow", Old: "case !ok:\n\t\treturn store.RenewAnswer{Status: store.RenewLost}", New: "case !ok:\n\t\treturn store.RenewAnswer{Status: store.RenewOK, ExpiresAt: s.clock.Now().Add(r.Lease)}", Breaks: "the lease of a job that is gone is renewed"},
		{Name: "id-free-after-a-while", File: memory + "enqueue.go", Func: "(*Store).enqueueRow", Old: "if slot, ok := s.ids[n.ID]; ok {", New: "if slot, ok := s.ids[n.ID]; ok && !(s.rows[slot].State.Terminal() && len(s.rows[slot].Ends) > 0 && now.Sub(s.rows[slot].Finished) > 4*s.rows[slot].LeaseFor) {", Breaks: "the id of a job that ended four leases ago can be used again"},
		{Name: "renewal-by-key-alone", File: rules + "claim.go", Func: "Renew", Old: "!Holds(j, r.Worker, row.Key, now)", New: "!Holds(j, j.Worker, row.Key, now)", Breaks: "whoever knows the key of a lease renews it"},
		{Name: "instant-leaves-no-end", File: rules + "end.go", Func: "end", Old: "rec := store.End{", New: "if now == j.Due { j.State = e.to; if e.to == store.Scheduled { j.Due = now.Add(e.delay) } else { j.Finished = now }; return }; rec := store.End{", Breaks: "an attempt that ends at the very instant at which it was due leaves no end"},
		{Name: "loss-in-doubt-ignored", File: pump + "renew.go", Func: "(*Pump).renewed", Old: "if !p.held.at(i).apart() {", New: "if h := p.held.at(i); !h.apart() && h.doubtUntil == 0 {", Breaks: "a renewal that is refused while a view is in doubt leaves it in doubt"},
		{Name: "margin-too-small", File: pump + "config.go", Func: "(*Config).view", Old: "c.LeaseDuration/50", New: "c.LeaseDuration/500", Breaks: "a node with a slow clock believes in a lease that is over"},
	}
}
