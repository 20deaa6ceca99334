package explore

// move is one thing that can happen next.
type move struct {
	do   deed
	proc uint8 // index into machine.procs
	at   uint8 // index into its calls or runs, or of a job
}

type deed uint8

const (
	wake    deed = iota // a pump is woken by its timer
	apply               // the store applies a request; fused: and the answer arrives
	deliver             // an answer arrives
	succeed             // a handler returns nil
	fail                // a handler returns an error
	resume              // a node goes on that stood still
	boot                // a node that is down starts a process
	vanish              // a request whose sender has died gets lost
	tick                // time moves on
	// from here on, moves cost one of the budget
	crash
	pause
	lose      // an answer is lost; fused: the request is applied all the same
	delay     // a request takes any time from now on
	delayBack // an answer takes any time; fused: after its request was applied
	double    // a request gets a twin that takes any time
	drain
	cancel
	refuse      // a call is answered by an error that passes, and is not applied
	refuseBadly // the same, with an error that nobody knows
)

// moves lists all that can happen next, in an order that depends on the state
// alone.
func (m *machine) moves(out []move) []move {
	if mv, ok := m.hasty(); ok {
		return append(out, mv)
	}
	still := true // nothing has to happen before time moves on
	for i, p := range m.procs {
		out, still = m.movesOf(uint8(i), p, out, still)
	}
	if m.alive() < m.opt.Nodes {
		out = append(out, move{do: boot})
	}
	if still {
		out = append(out, move{do: tick})
	}
	if m.left > 0 && m.opt.Kinds&Cancel != 0 {
		for i := range m.opt.Jobs {
			if !m.jobs[i].cancel && !m.row(i).State.Terminal() {
				out = append(out, move{do: cancel, at: uint8(i)})
			}
		}
	}
	return out
}

func (m *machine) alive() (n int) {
	for _, p := range m.procs {
		if p.alive {
			n++
		}
	}
	return n
}

func (m *machine) movesOf(i uint8, p *process, out []move, still bool) ([]move, bool) {
	for k := range p.calls {
		out, still = m.movesOfCall(i, p, uint8(k), out, still)
	}
	if !p.alive {
		return out, still
	}
	may := func(kind Kinds) bool { return m.left > 0 && m.opt.Kinds&kind != 0 }
	if may(Crash) {
		out = append(out, move{do: crash, proc: i})
	}
	if p.paused {
		return append(out, move{do: resume, proc: i}), still
	}
	if p.pump.Deadline() <= m.now {
		out, still = append(out, move{do: wake, proc: i}), false
	}
	for k := range p.runs {
		out = append(out, move{succeed, i, uint8(k)}, move{fail, i, uint8(k)})
	}
	if may(Pause) {
		out = append(out, move{do: pause, proc: i})
	}
	if may(Drain) && !p.asked && !p.pump.Ended() {
		out = append(out, move{do: drain, proc: i})
	}
	return out, still
}

func (m *machine) movesOfCall(i uint8, p *process, k uint8, out []move, still bool) ([]move, bool) {
	c := &p.calls[k]
	may := func(kind Kinds) bool { return m.left > 0 && m.opt.Kinds&kind != 0 }
	if c.answered {
		if !p.paused {
			out, still = append(out, move{deliver, i, k}), still && c.late && p.waits(c)
		}
		if may(LostReply) {
			out = append(out, move{lose, i, k})
		}
		if may(Late) && !c.late && p.waits(c) {
			out = append(out, move{delayBack, i, k})
		}
		return out, still
	}
	out, still = append(out, move{apply, i, k}), still && c.late
	if may(Late) && !c.late {
		out = append(out, move{delay, i, k})
	}
	if !p.alive {
		if !c.late {
			out = append(out, move{vanish, i, k})
		}
		return out, still
	}
	if may(Doubled) {
		out = append(out, move{double, i, k})
	}
	if may(Error) {
		out = append(out, move{refuse, i, k})
	}
	if may(Fatal) {
		out = append(out, move{refuseBadly, i, k})
	}
	if m.opt.Fused && may(LostReply) {
		out = append(out, move{lose, i, k})
	}
	if m.opt.Fused && may(Late) && !c.late {
		out = append(out, move{delayBack, i, k})
	}
	return out, still
}

// waits reports whether the pump of p may still listen to the answer to c. One
// that it has given up comes before time moves on, and changes nothing.
func (p *process) waits(c *call) bool { return c.op != staleOp && !c.heard }
