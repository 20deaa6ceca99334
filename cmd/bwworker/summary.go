package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"backwave/engine"
	"backwave/store"
)

// summary is what became of the jobs.
type summary struct {
	Exit      int                         `json:"exit"`
	Jobs      map[string]int              `json:"jobs"`      // of the served queues, by state; states without jobs are left out; nil: not counted
	Failed    []failedJob                 `json:"failed"`    // ones that were dead-lettered or quarantined in this run
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

// mostFailed is how many failed jobs a summary lists of a queue.
const mostFailed = 1000

var failedStates = []store.State{store.DeadLettered, store.Quarantined}

// look remembers what had failed before the worker came: in a store that
// outlives processes, old failures are not this run's.
func (w *worker) look(ctx context.Context) (err error) {
	w.before = map[store.Token]bool{}
	if w.store.local || !w.counts {
		return nil
	}
	if w.failed, err = w.failures(ctx); err != nil {
		return err
	}
	for _, q := range w.queues {
		jobs, err := w.store.Jobs(ctx, q, failedStates, mostFailed)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			w.before[store.Token{Job: j.ID, Attempt: j.Attempt}] = true
		}
	}
	return nil
}

// failures counts the jobs of the served queues that have failed.
func (w *worker) failures(ctx context.Context) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	views, err := w.store.Queues(ctx)
	for _, v := range views {
		if slices.Contains(w.queues, v.Name) {
			n += v.Jobs[store.DeadLettered] + v.Jobs[store.Quarantined]
		}
	}
	return n, err
}

// summary tells of the jobs in the served queues.
func (w *worker) summary(ctx context.Context, exit int) (*summary, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	s := &summary{Exit: exit, Failed: []failedJob{}, Abandoned: []string{}, Halted: w.engine.Health().HaltedGroups()}
	for _, a := range w.abandoned {
		s.Abandoned = append(s.Abandoned, a.Token.String())
	}
	if !w.counts {
		return s, nil
	}
	views, err := w.store.Queues(ctx)
	if err != nil {
		return s, err
	}
	s.Jobs = map[string]int{}
	for _, v := range views {
		if slices.Contains(w.queues, v.Name) {
			for state, n := range v.Jobs {
				s.Jobs[state.String()] += n
			}
		}
	}
	for _, q := range w.queues {
		jobs, err := w.store.Jobs(ctx, q, failedStates, mostFailed)
		if err != nil {
			return s, err
		}
		for _, j := range jobs {
			if !w.before[store.Token{Job: j.ID, Attempt: j.Attempt}] {
				s.Failed = append(s.Failed, failedJob{j.ID, j.Name, j.Queue, j.State, j.Attempt, j.LastErr})
			}
		}
	}
	return s, nil
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
	switch {
	case s.Jobs == nil:
		counts = []string{"not counted; bwworker queues ls does that"}
	case len(counts) == 0:
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
	_, err := io.WriteString(to, harmless(b.String()))
	return err
}
