package mutants

import "backwave/internal/mutant"

// inLiveness are bugs that break no promise of safety: every row stays as it may
// be, and something just never happens, or happens late.
func inLiveness() []mutant.Mutant {
	const dir = "store/memory/"
	return []mutant.Mutant{
		{Name: "resume-forgets-the-waiting", File: dir + "operator.go", Func: "(*Store).pause", Old: "s.queues[q].paused = paused", New: "s.queues[q].paused = paused\n\tfor w := &s.queues[q].waiting; !paused && len(*w) > 0; { s.remove(w, (*w)[0]) }", Breaks: "jobs that waited in a paused queue are never claimed"},
		{Name: "lapsed-not-offered", File: dir + "sweep.go", Func: "(*Store).dispose", Old: "lapse := rules.Lapse(s.change(slot), now)\n\t\ts.settle(slot)", New: "lapse := rules.Lapse(s.change(slot), now)\n\t\ts.settle(slot)\n\t\tif j.State == store.Scheduled { s.remove(&s.queues[q].waiting, slot) }", Breaks: "a job whose lease lapsed is never claimed again"},
		{Name: "held-row-forgotten", File: dir + "claim.go", Func: "(*Store).takeAll", Old: "for _, slot := range s.aside {", New: "for _, slot := range s.aside[:0] {", Breaks: "a job that was held when a claim passed is never claimed again"},
		{Name: "next-due-not-told", File: dir + "claim.go", Func: "(*Store).claim", Old: "q < 0 || s.queues[q].paused || len(s.queues[q].waiting) == 0", New: "q < 0 || s.queues[q].paused || len(s.queues[q].waiting) > 0 || true", Breaks: "a pump with free slots is not told that more jobs are due, and polls at leisure"},
	}
}
