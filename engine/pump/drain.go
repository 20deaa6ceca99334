package pump

// drain begins to stop: claims end at once. With a FinishTimeout the handlers
// go on under renewed leases until it ends.
func (p *Pump) drain(out []Action) []Action {
	if p.phase != serving {
		return out
	}
	if p.cfg.FinishTimeout <= 0 {
		return p.release(out)
	}
	p.phase = finishing
	p.limit = p.now.Add(p.cfg.FinishTimeout)
	return out
}

// release tells every running handler to stop. From here on only what had
// returned before is reported, and only those leases are renewed.
func (p *Pump) release(out []Action) []Action {
	p.phase = draining
	p.limit = p.now.Add(p.cfg.ShutdownTimeout)
	for i := range p.held.len() {
		out = p.tell(p.held.at(i), Draining, out)
	}
	p.beat, _ = p.oldest()
	return out
}

// settle ends a drain once nothing is left to deliver.
func (p *Pump) settle(out []Action) []Action {
	switch p.phase {
	case finishing:
		if p.held.len() > 0 || p.lanes[Claiming].op != 0 {
			return out
		}
	case draining:
		if p.waiting > 0 || p.lanes[Claiming].op != 0 || p.releasing() {
			return out
		}
	case serving, stopped, halted:
		return out
	}
	return p.stop(out)
}

// releasing reports whether a lease waits to be given back when its handler
// returns.
func (p *Pump) releasing() bool {
	if !p.cfg.ReleaseOnDrain {
		return false
	}
	for i := range p.held.len() {
		if h := p.held.at(i); h.running && !h.over() {
			return true
		}
	}
	return false
}

func (p *Pump) stop(out []Action) []Action {
	p.phase = stopped
	return append(out, Stopped{})
}
