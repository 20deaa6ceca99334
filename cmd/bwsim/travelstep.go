package main

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"

	"backwave/sim"
	"backwave/sim/travel"
)

const stepHelp = `  Enter     the next event
  N         the next N events, such as 20
  c         on to the next event that a --break asks for, else to the end
  b, b N    back by one event, or by N: the run is made again up to there
  d WHAT    dump a node, store, calls, or all
  s         the story so far
  q         quit
`

// stepper goes through a run as it is told by commands.
type stepper struct {
	*traveller
	in     *bufio.Scanner
	prompt bool // somebody sits at a terminal

	skip  uint64 // events before this one are not shown
	steps uint64 // events to show before the next prompt; 0 = up to a breakpoint
	again bool   // the run is to be made again, up to skip
	quit  bool
}

func newStepper(r *traveller, in io.Reader) *stepper {
	f, ok := in.(io.Writer) // a file is both
	return &stepper{traveller: r, in: bufio.NewScanner(in), prompt: ok && terminal(f), skip: max(1, r.to), steps: 1}
}

func (p *stepper) run(ctx context.Context) error {
	s := p.s
	s.printf("%s: h for help\n", s.paint(bold, p.src.sc.Name+", seed "+strconv.FormatUint(p.src.seed, 10)))
	for {
		p.again, p.lines, p.found = false, nil, nil
		o := p.play(ctx, p.visit)
		switch {
		case p.again:
			continue
		case p.quit:
			return nil
		case ctx.Err() != nil:
			return cannot("interrupted at event %s", grouped(o.res.Events))
		case p.skip > o.res.Events:
			return usage("--to %d: the run has %s", p.skip, count(int(o.res.Events), "event"))
		case o.stack != "":
			return p.crashed(o)
		}
		s.printf("the run ends here: %s, %s\n", o.res.Verdict, count(int(o.res.Events), "event"))
		if o.res.Verdict == sim.Violated {
			for _, b := range o.breaches() {
				s.printf("  violates %s at %s: %s\n", s.paint(bold, b.Invariant), clock(o.at(b.Violation)), o.names(b.Message))
			}
		}
		return nil
	}
}

// visit shows an event, and takes commands if that is where it was to stop.
func (p *stepper) visit(m *travel.Moment) bool {
	if m.Number < p.skip {
		return true
	}
	stop := p.steps == 0 && p.broken(m)
	if p.steps > 0 || stop {
		p.s.printf("%s\n", p.head(m))
	}
	p.s.told(m.Lines)
	for _, v := range m.Violations {
		p.s.printf("%s\n", p.s.paint(red, "VIOLATION of "+v.Invariant+": "+v.Message))
	}
	if p.steps > 1 {
		p.steps--
		return true
	}
	return p.steps == 0 && !stop || p.obey(m)
}

// obey carries out commands until one moves on, and reports whether this run
// does.
func (p *stepper) obey(m *travel.Moment) bool {
	for {
		p.ask()
		if !p.in.Scan() {
			p.quit = true
			return false
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(p.in.Text()), " ")
		rest = strings.TrimSpace(rest)
		n, err := strconv.ParseUint(word, 10, 64)
		switch {
		case word == "":
			p.steps = 1
			return true
		case err == nil && n > 0:
			p.steps = n
			return true
		case word == "c":
			p.steps = 0
			return true
		case word == "b":
			if p.goBack(m, rest) {
				return false
			}
		case word == "d":
			if err := p.dumpable(rest); err != nil {
				p.s.printf("d %s: %v\n", rest, err)
				continue
			}
			p.dumped(m.State(), []string{rest})
		case word == "s":
			p.story()
		case word == "q":
			p.quit = true
			return false
		case word == "h":
			p.s.printf("%s", stepHelp)
		default:
			p.s.printf("%q is no command; h for help\n", word)
		}
	}
}

// ask shows what was printed so far, and a prompt if somebody is there.
func (p *stepper) ask() {
	if p.prompt {
		p.s.printf("> ")
	}
	p.s.flush()
}

// goBack makes the run start again, up to some events before m.
func (p *stepper) goBack(m *travel.Moment, by string) bool {
	n := uint64(1)
	if by != "" {
		var err error
		if n, err = strconv.ParseUint(by, 10, 64); err != nil || n < 1 {
			p.s.printf("b %s: want a number of events\n", by)
			return false
		}
	}
	if n >= m.Number {
		p.s.printf("b %d: this is event %d\n", n, m.Number)
		return false
	}
	p.skip, p.steps, p.again = m.Number-n, 1, true
	return true
}
