package shrink

import (
	"fmt"

	"backwave/sim"
	"backwave/sim/scenario"
)

// Size is how much there is in a scenario.
type Size struct {
	Nodes   int `json:"nodes"`
	Groups  int `json:"groups"`
	Jobs    int `json:"jobs"` // those of a count one by one
	Faults  int `json:"faults"`
	Actions int `json:"actions"` // of people
}

// SizeOf counts what is in sc.
func SizeOf(sc *sim.Scenario) Size {
	z := Size{Nodes: len(sc.Nodes), Groups: len(sc.Groups)}
	for i := range sc.Jobs {
		z.Jobs += max(1, sc.Jobs[i].Count)
	}
	for _, f := range sc.Timeline {
		if scenario.People(f) {
			z.Actions++
		} else {
			z.Faults++
		}
	}
	return z
}

// String prints z for people.
func (z Size) String() string {
	return fmt.Sprintf("%s, %s, %s, %s", plural(z.Nodes, "node"), plural(z.Jobs, "job"), plural(z.Faults, "fault"), plural(z.Actions, "action"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
