package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"backwave/engine/pump"
	"backwave/sim"
)

// Warning is something in a file that is no mistake, and most likely not what
// its author meant.
type Warning struct {
	Line int
	Text string // what is so, and what it leads to
}

// tries is how many seeds a fault has to hit something with.
const tries = 3

// Lint reads a file and says what in it is of no use: parts that nothing
// refers to, faults that hit nothing in any of three runs, promises that cannot
// be judged. Warnings are in the order of their lines. An error is of type
// Errors, as of Parse.
func Lint(file string, src []byte) ([]Warning, error) {
	sc, header, err := ParsePlan(file, src)
	if err != nil {
		return nil, err
	}
	l := &linter{sc: sc, root: (&decoder{file: file}).load(src), served: map[string]bool{}}
	l.groups()
	l.jobs()
	l.runs(header.Seed)
	slices.SortStableFunc(l.out, func(a, b Warning) int { return a.Line - b.Line })
	return l.out, nil
}

type linter struct {
	sc     *sim.Scenario
	root   *node
	served map[string]bool // queues that some node serves
	out    []Warning
}

// warn adds a warning about entry i of a section; i < 0 means the section.
func (l *linter) warn(section string, i int, format string, args ...any) {
	n := l.root.find(section)
	if i >= 0 {
		n = n.items[i]
	}
	l.out = append(l.out, Warning{n.line, fmt.Sprintf(format, args...)})
}

func (l *linter) groups() {
	used := map[string]bool{} // queues with jobs
	for i := range l.sc.Jobs {
		used[l.queue(&l.sc.Jobs[i])] = true
	}
	for i := range l.sc.Groups {
		g := &l.sc.Groups[i]
		if !slices.ContainsFunc(l.sc.Nodes, func(n sim.Node) bool { return runs(n, g.Name) }) {
			l.warn("groups", i, "no node runs group %s", g.Name)
			continue
		}
		for _, q := range g.Config.Queues {
			l.served[q.Name] = true
		}
		if !slices.ContainsFunc(g.Config.Queues, func(q pump.Queue) bool { return used[q.Name] }) {
			l.warn("groups", i, "no job is in a queue that group %s serves", g.Name)
		}
	}
	for i, n := range l.sc.Nodes {
		if n.Start >= l.sc.For {
			l.warn("nodes", i, "node %s starts at %v, when the world is over", n.Name, n.Start)
		}
	}
}

func runs(n sim.Node, group string) bool {
	return len(n.Groups) == 0 || slices.Contains(n.Groups, group)
}

func (l *linter) queue(j *sim.Job) string {
	return cmp.Or(j.Queue, l.sc.Groups[0].Config.Queues[0].Name)
}

func (l *linter) jobs() {
	for i := range l.sc.Jobs {
		if j := &l.sc.Jobs[i]; !l.served[l.queue(j)] {
			l.warn("jobs", i, "job %s is in queue %s, which no node serves", j.ID, l.queue(j))
		}
	}
}

// runs plays the scenario a few times and looks at what had no effect.
func (l *linter) runs(seed uint64) {
	idle := make([]int, len(l.sc.Timeline))
	why := ""
	for i := range uint64(tries) {
		r := sim.Run(l.sc, sim.Options{Seed: cmp.Or(seed, 1) + i})
		for _, k := range r.Idle {
			idle[k]++
		}
		why = r.Live.Why
	}
	for k, n := range idle {
		if n == tries {
			l.warn("timeline", k, "hits nothing: tried with %d seeds", tries)
		}
	}
	if l.sc.Level != sim.Adversarial && why != "" && len(l.sc.Jobs) > 0 {
		l.warn("level", -1, "promises that jobs get done, which cannot be judged: %s", why)
	}
}
