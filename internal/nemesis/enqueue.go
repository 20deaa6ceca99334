//go:build unix

package nemesis

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"backwave/clockx"
	"backwave/history"
	"backwave/store"
)

// enqueuer is the client: it adds jobs at an even pace, and does not give up
// when nobody answers.
type enqueuer struct {
	run  *run
	rec  *history.Recorder
	file *os.File
	name string // of the file
	jobs []*asked
}

// asked is a job that was to be enqueued.
type asked struct {
	store.NewJob
	acknowledged bool
}

// How the client calls: a batch of jobs at a time, each call bounded, and
// repeated so often, with the same ids, until it is answered or given up.
const (
	enqueueBatch = 4
	enqueueWait  = time.Second
	enqueueTries = 5
)

func (r *run) newEnqueuer(s *shop) (*enqueuer, error) {
	e := &enqueuer{run: r, name: filepath.Join(r.cfg.Dir, "enqueues.jsonl")}
	var err error
	if e.file, err = os.Create(e.name); err != nil {
		return nil, err
	}
	e.rec = history.NewRecorder(s.Store, history.NewWriter(e.file).Flushed(), client, func() int64 { return clockx.Wall{}.Now().UnixNano() })
	return e, nil
}

func (e *enqueuer) close() { _ = e.file.Close() }

// enqueue adds jobs until there are enough, or the trouble is over.
func (e *enqueuer) enqueue(ctx context.Context) {
	gap := e.run.cfg.For / time.Duration(e.run.cfg.Jobs+1)
	for n := 0; n < e.run.cfg.Jobs; {
		if clockx.Sleep(ctx, clockx.Wall{}, gap*time.Duration(n)-e.run.now().Sub(e.run.report.Began)) != nil {
			return
		}
		batch := 1 + int(chance(e.run.cfg.Seed, "batch", n)%enqueueBatch)
		var jobs []*asked
		for ; batch > 0 && n < e.run.cfg.Jobs; batch-- {
			seed := e.run.cfg.Seed
			id := store.NewJobID(e.run.now().UnixMilli(), chance(seed, "job", 2*n), chance(seed, "job", 2*n+1))
			jobs = append(jobs, &asked{NewJob: store.NewJob{ID: id, Name: names[n%len(names)], Queue: queue}})
			n++
		}
		e.jobs = append(e.jobs, jobs...)
		e.send(ctx, jobs)
		e.run.enqueued.Store(int64(len(e.jobs)))
	}
}

// send sends jobs until each is answered, but not for ever.
func (e *enqueuer) send(ctx context.Context, jobs []*asked) {
	for range enqueueTries {
		q := &store.Enqueue{}
		for _, j := range jobs {
			q.Jobs = append(q.Jobs, j.NewJob)
		}
		call, cancel := clockx.WithTimeout(ctx, clockx.Wall{}, enqueueWait, context.DeadlineExceeded)
		out, err := e.rec.Enqueue(call, q)
		cancel()
		if err != nil && ctx.Err() == nil && store.FaultOf(err) == store.FaultFatal {
			e.run.find(checkHealth, "", "an enqueue met a fault that is not known to pass: %v", err)
		}
		if err == nil {
			jobs = e.answered(jobs, out)
		}
		if len(jobs) == 0 || clockx.Sleep(ctx, clockx.Wall{}, poll) != nil {
			return
		}
	}
}

// answered notes who was acknowledged and returns those that were not.
func (e *enqueuer) answered(jobs []*asked, out *store.Enqueued) (rest []*asked) {
	for i, j := range jobs {
		switch out.Rows[i].Status {
		case store.EnqueueAdded, store.EnqueueDuplicate:
			j.acknowledged = true
		case store.EnqueueBusy:
			rest = append(rest, j)
		case store.EnqueueDiffers, store.EnqueueHeld:
			e.run.find(checkLost, j.ID.String(), "an enqueue was answered with %d, which no other job can be the cause of", out.Rows[i].Status)
		}
	}
	return rest
}

// unfinished counts the jobs that have not ended.
func (s *shop) unfinished(ctx context.Context) (int, error) {
	call, cancel := clockx.WithTimeout(ctx, clockx.Wall{}, enqueueWait, context.DeadlineExceeded)
	defer cancel()
	n, err := s.Unfinished(call, []string{queue})
	if err != nil && store.FaultOf(err) != store.FaultFatal {
		return -1, nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return -1, nil
	}
	return n, err
}
