//go:build unix

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"backwave/checker"
	"backwave/history"
	"backwave/store"
)

// verdict is what is needed to judge a run.
type verdict struct {
	run     *run
	asked   map[store.JobID]*asked
	jobs    map[store.JobID]*store.Job
	effects map[store.JobID][]int // attempts of which there is an effect, one for each
	log     *history.Log
}

// judge looks at what the store holds, at the effects, and at what all processes
// have recorded. left is how many jobs had not ended when the healing was over.
func (r *run) judge(ctx context.Context, s *shop, e *enqueuer, left int) error {
	r.tell("judging", r.now(), 0, left)
	v := &verdict{run: r, asked: map[store.JobID]*asked{}, jobs: map[store.JobID]*store.Job{}, effects: map[store.JobID][]int{}}
	for _, j := range e.jobs {
		v.asked[j.ID] = j
	}
	r.report.Jobs = len(e.jobs)
	list, err := s.Jobs(ctx, queue, nil, 2*len(e.jobs)+100)
	if err != nil {
		return err
	}
	for _, j := range list {
		if v.jobs[j.ID] != nil {
			r.find(checkLost, j.ID.String(), "the store has two rows of it, one %s, one %s", v.jobs[j.ID].State, j.State)
		}
		v.jobs[j.ID] = j
	}
	written, err := s.effects(ctx)
	if err != nil {
		return err
	}
	for _, w := range written {
		id, err := store.ParseJobID(w.job)
		if err != nil {
			return err
		}
		v.effects[id] = append(v.effects[id], w.attempt)
	}
	v.rows(e)
	for _, j := range list {
		if v.asked[j.ID] == nil {
			r.find(checkLost, j.ID.String(), "the store has a job that nobody enqueued")
		}
	}
	if left > 0 {
		r.find(checkHealing, "", "%d jobs have not ended %v after the last fault", left, r.report.HealTook.Round(time.Millisecond))
	}
	r.report.ClockSpread = r.clocks.stop()
	if v.log, err = r.histories(e.name); err != nil {
		return err
	}
	v.recorded()
	v.linear()
	return nil
}

// rows judges every job that was to be enqueued.
func (v *verdict) rows(e *enqueuer) {
	rep := v.run.report
	for _, a := range e.jobs {
		if a.acknowledged {
			rep.Acknowledged++
		}
		j := v.jobs[a.ID]
		if j == nil {
			if a.acknowledged {
				v.run.find(checkLost, a.ID.String(), "its enqueue was acknowledged, and the store has no such job")
			}
			if n := len(v.effects[a.ID]); n > 0 {
				v.run.find(checkLost, a.ID.String(), "it has %d effects, and the store has no such job", n)
			}
			continue
		}
		rep.Attempts += j.Attempt
		for _, end := range j.Ends {
			rep.Ends[end.Kind.String()]++
		}
		if !j.State.Terminal() {
			v.run.find(checkHealing, a.ID.String(), "%s has not ended: it is %s after %d attempts", j.Name, j.State, j.Attempt)
			continue
		}
		v.ends(j)
		v.effect(j)
	}
}

// ends judges the recorded ends of a job.
func (v *verdict) ends(j *store.Job) {
	id := j.ID.String()
	if j.EndsCut+len(j.Ends) != j.Attempt {
		v.run.find(checkAccounting, id, "%s has %d attempts and %d recorded ends", j.Name, j.Attempt, j.EndsCut+len(j.Ends))
		return
	}
	for i, end := range j.Ends {
		if want := j.EndsCut + i + 1; end.Attempt != want {
			v.run.find(checkAccounting, id, "%s has an end of attempt %d where that of attempt %d belongs", j.Name, end.Attempt, want)
		}
		if last := i == len(j.Ends)-1; last != (end.Kind == store.EndSuccess) {
			v.run.find(checkAccounting, id, "attempt %d of %d of %s ended as %s", end.Attempt, j.Attempt, j.Name, end.Kind)
		}
	}
	if j.State != store.Succeeded {
		v.run.find(checkAccounting, id, "%s is %s, and no handler of it ever gives up", j.Name, j.State)
	}
}

// effect judges what the handlers of a job that has ended wrote.
func (v *verdict) effect(j *store.Job) {
	rep, got, id := v.run.report, v.effects[j.ID], j.ID.String()
	of := 0 // the attempt that succeeded
	for _, attempt := range got {
		if attempt == j.Attempt {
			of++
		}
	}
	switch j.Name {
	case tx, longTx:
		rep.TxJobs++
		rep.TxWrites += len(got)
		if len(got) != 1 || of != 1 {
			v.run.find(checkTransaction, id, "it succeeded in attempt %d, and what was written is of attempts %v", j.Attempt, got)
		}
	case plain, long:
		rep.PlainJobs++
		if len(got) > 1 {
			rep.PlainDoubled++
		}
		if of == 0 {
			v.run.find(checkPlain, id, "it succeeded in attempt %d, and what was written is of attempts %v", j.Attempt, got)
		}
	default:
		if len(got) > 0 {
			v.run.find(checkPlain, id, "%s writes nothing, and there are effects of attempts %v", j.Name, got)
		}
	}
}

// histories reads and merges what all processes recorded. Every record could
// have been made earlier or later by as much as the clocks have parted.
func (r *run) histories(enqueues string) (*history.Log, error) {
	files := []string{enqueues}
	for _, p := range r.report.Processes {
		files = append(files, p.History)
	}
	var logs []*history.Log
	for _, name := range files {
		f, err := os.Open(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // it ended before it began
		}
		if err != nil {
			return nil, err
		}
		l, _, err := history.Read(f)
		_ = f.Close()
		if errors.Is(err, history.ErrEmpty) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		l.Blur(int64(r.report.ClockSpread))
		logs = append(logs, l)
		r.report.Histories = append(r.report.Histories, name)
	}
	return history.Merge(logs...), nil
}

// linear asks whether the calls make sense.
func (v *verdict) linear() {
	rep := v.run.report
	got := checker.CheckLinear(v.log, linearOptions)
	for _, f := range got.Findings {
		job := ""
		if !f.Job.IsZero() {
			job = f.Job.String()
		}
		v.run.find(checkLinearizable, job, "%s, shown by call %d: %s", f.Invariant, f.Call, f.Message)
	}
	rep.LinearJobs, rep.NotAttempted, rep.Undecided = got.Jobs, got.NotAttempted, got.Undecided
	rep.Linear, rep.Log = got, v.log
}

// linearOptions: handlers do record successes that are no calls.
var linearOptions = checker.LinearOptions{Completions: true, Steps: 1_000_000}
