package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"backwave/engine"
	"backwave/store"
)

// summary is what became of the jobs.
type summary struct {
	Exit      int                         `json:"exit"`
	Jobs      map[string]int              `json:"jobs"`      // by state; states without jobs are left out
	Failed    []failedJob                 `json:"failed"`    // dead-lettered and quarantined ones
	Abandoned []string                    `json:"abandoned"` // tokens of attempts left running
	Halted    map[string]engine.HaltState `json:"halted"`    // groups wholly halted
}

type failedJob struct {
	ID       store.JobID `json:"id"`
	Name     string      `json:"name"`
	Queue    string      `json:"queue"`
	State    store.State `json:"state"`
	Attempts int         `json:"attempts"`
	Error    string      `json:"error"`
}

// states is the order in which a person reads them.
var states = [...]store.State{store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined, store.Scheduled, store.Awaiting, store.Executing}

// summary looks at every job of the store.
func (w *worker) summary(exit int) *summary {
	s := &summary{Exit: exit, Jobs: map[string]int{}, Failed: []failedJob{}, Abandoned: []string{}, Halted: w.engine.Health().HaltedGroups()}
	for _, q := range w.queues {
		jobs, _ := w.store.Jobs(context.Background(), q, nil, math.MaxInt) // the memory store refuses nothing but ended contexts
		for _, j := range jobs {
			s.Jobs[j.State.String()]++
			if j.State == store.DeadLettered || j.State == store.Quarantined {
				s.Failed = append(s.Failed, failedJob{j.ID, j.Name, j.Queue, j.State, j.Attempt, j.LastErr})
			}
		}
	}
	for _, a := range w.abandoned {
		s.Abandoned = append(s.Abandoned, a.Token.String())
	}
	return s
}

func (s *summary) write(to io.Writer, format string) error {
	if format == "json" {
		e := json.NewEncoder(to)
		e.SetEscapeHTML(false)
		return e.Encode(s)
	}
	var counts []string
	for _, state := range states {
		if n := s.Jobs[state.String()]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %v", n, state))
		}
	}
	if len(counts) == 0 {
		counts = []string{"none"}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "jobs: %s\n", strings.Join(counts, ", "))
	for _, j := range s.Failed {
		fmt.Fprintf(&b, "failed: %v#%d %s (queue %s) is %v: %s\n", j.ID, j.Attempts, j.Name, j.Queue, j.State, strings.ReplaceAll(j.Error, "\n", "\n  "))
	}
	for _, t := range s.Abandoned {
		fmt.Fprintf(&b, "left running: %s\n", t)
	}
	_, err := io.WriteString(to, b.String())
	return err
}
