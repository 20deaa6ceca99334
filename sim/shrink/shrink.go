// Package shrink makes a failing plan small: it takes away and weakens one
// thing after another for as long as the run still has the same finding, until
// no single thing can go any more.
//
// The search is a list of passes over a plan, each a list of edits. An edit is
// kept if the changed plan still fails in the same way, else forgotten. Nothing
// is drawn and nothing is timed: the same plan and budget give the same result,
// whatever else the machine does.
package shrink

import (
	"crypto/sha256"
	"slices"
	"time"

	"backwave/sim"
	"backwave/sim/scenario"
)

// Plan is a world and its seed.
type Plan struct {
	Scenario *sim.Scenario
	Seed     uint64
}

// Verdict is what a run has shown.
type Verdict struct {
	Fails bool          // in the way that is looked for
	At    time.Duration // true time of the first violation of that kind
}

// Options say how to shrink.
type Options struct {
	// Try runs plans, at most Width of them, and says of each whether it fails
	// in the way that is looked for. It may run them all at once. What it says
	// must depend on the plan alone.
	Try func([]Plan) []Verdict
	// Width is how many plans Try gets at once. It changes how long shrinking
	// takes, nothing else. Default 1.
	Width int
	// Budget is how many runs may be made. Default 20,000.
	Budget int
	// Stop ends the search early when it says true; nil = never.
	Stop func() bool
	// Progress is told how far the search is, after every call of Try; nil =
	// nobody.
	Progress func(Progress)
}

// DefaultBudget is the budget if none is given.
const DefaultBudget = 20_000

// Progress is how far a search is.
type Progress struct {
	Steps int    // runs made so far
	Pass  string // what is being tried, such as "drop jobs"
	Size  Size   // of the smallest plan so far
}

// Result is what came of a search.
type Result struct {
	Plan     Plan // the smallest that still fails; the one given if nothing could go
	Steps    int  // runs made. Runs that a wider search made ahead, for nothing, do not count
	Rounds   int  // over all passes
	Accepted int  // edits that were kept
	// Minimal says that the last round tried every edit of Plan, among them all
	// single removals and weakenings, and that none failed in the same way. If
	// it is false the budget was spent before.
	Minimal bool
	Last    int // sound edits of that last round; 0 if there was none
}

// Shrink makes start small. start must fail in the way that o.Try looks for,
// which is the first thing that is tried; the result is false if it does not.
func Shrink(start Plan, o Options) (Result, bool) {
	if o.Width < 1 {
		o.Width = 1
	}
	if o.Budget < 1 {
		o.Budget = DefaultBudget
	}
	s := &search{o: o, refused: map[[sha256.Size]byte]bool{}}
	first := o.Try([]Plan{start})[0]
	s.res.Steps = 1
	if !first.Fails {
		return Result{Plan: start, Steps: 1}, false
	}
	s.accept(Plan{clone(start.Scenario), start.Seed}, first)
	s.spelledOut()
	s.run()
	s.res.Plan = s.plan
	return s.res, true
}

// search is one search.
type search struct {
	o       Options
	plan    Plan // the smallest so far
	text    string
	at      time.Duration // when it fails
	pass    string
	refused map[[sha256.Size]byte]bool // plans that do not fail, by the hash of their text
	made    int                        // sound edits in this round
	res     Result
}

// run makes rounds over all passes until one changes nothing: that one has
// tried every edit of the plan as it is.
func (s *search) run() {
	for changed := true; changed; {
		changed = false
		s.res.Rounds++
		s.made = 0
		for _, p := range passes {
			s.pass = p.name
			for at := 0; ; {
				i, ok := s.first(p.edits(s), at)
				if s.spent() {
					return
				}
				if !ok {
					break
				}
				at, changed = i, true // the edits before it have been tried
			}
		}
	}
	s.res.Minimal, s.res.Last = true, s.made
}

func (s *search) spent() bool {
	return s.res.Steps >= s.o.Budget || s.o.Stop != nil && s.o.Stop()
}

// candidate is a plan to be tried, made by the i-th edit of a pass.
type candidate struct {
	i    int
	plan Plan
	text string
}

// first tries edits from the at-th on, in their order, and keeps the first that
// still fails. It returns its place.
func (s *search) first(edits []edit, at int) (int, bool) {
	var batch []candidate
	for i := at; i < len(edits); i++ {
		c, ok := s.make(edits[i])
		if ok && !slices.ContainsFunc(batch, func(b candidate) bool { return b.text == c.text }) {
			c.i = i
			batch = append(batch, c)
		}
		if len(batch) == s.o.Width || i == len(edits)-1 {
			if k, ok := s.try(batch); ok {
				return batch[k].i, true
			}
			batch = nil
		}
		if s.spent() {
			break
		}
	}
	return 0, false
}

// make applies an edit. It reports false if that changes nothing, gives no
// sound scenario, or was tried before.
func (s *search) make(e edit) (candidate, bool) {
	c := candidate{plan: Plan{clone(s.plan.Scenario), s.plan.Seed}}
	e(&c.plan)
	tidy(c.plan.Scenario)
	c.text = textOf(c.plan)
	if c.text == s.text {
		return c, false
	}
	if s.refused[sha256.Sum256([]byte(c.text))] {
		s.made++
		return c, false
	}
	read, err := scenario.Parse("candidate", []byte(c.text))
	if err != nil {
		return c, false
	}
	s.made++
	c.plan.Scenario = withCode(read, c.plan.Scenario) // what is run is what can be written
	return c, true
}

// try runs a batch and keeps the first plan of it that still fails. Those
// behind that one count for nothing: a narrower search would not have run them.
func (s *search) try(batch []candidate) (int, bool) {
	batch = batch[:min(len(batch), s.o.Budget-s.res.Steps)]
	if len(batch) == 0 {
		return 0, false
	}
	plans := make([]Plan, len(batch))
	for i := range batch {
		plans[i] = batch[i].plan
	}
	verdicts := s.o.Try(plans)
	defer s.progress()
	for i, v := range verdicts {
		s.res.Steps++
		if v.Fails {
			s.res.Accepted++
			s.accept(batch[i].plan, v)
			return i, true
		}
		s.refused[sha256.Sum256([]byte(batch[i].text))] = true
	}
	return 0, false
}

func (s *search) accept(p Plan, v Verdict) {
	s.plan, s.text, s.at = p, textOf(p), v.At
}

func (s *search) progress() {
	if s.o.Progress != nil {
		s.o.Progress(Progress{Steps: s.res.Steps, Pass: s.pass, Size: SizeOf(s.plan.Scenario)})
	}
}

// textOf is the plan as a file has it.
func textOf(p Plan) string {
	return string(scenario.Format(p.Scenario, scenario.Header{Version: scenario.Version, Seed: p.Seed}))
}
