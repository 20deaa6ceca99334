package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"backwave/engine"
	"backwave/store"
)

const (
	demoQueue = "demo"
	demoJobs  = 8
	demoLimit = 40 * time.Second // more than it ever takes; then it has failed
)

// demo shows what happens to jobs when one worker is killed and another is
// frozen: real processes on a real store.
type demo struct {
	out   io.Writer
	store store.Store
	dsn   string
	lease time.Duration
	work  time.Duration // how long a job takes

	began   time.Time
	workers []*demoWorker
	names   map[string]string // of jobs, by id
	ids     []store.JobID
	told    map[store.JobID]int // ends that were told of
	events  chan demoEvent

	killed, frozen strike
	thawed         bool
	stale          int // outcomes refused
}

// strike is what is done to a worker in the middle of a job.
type strike struct {
	worker *demoWorker // nil: not chosen yet
	job    string
	at     time.Time
	done   bool
}

// due reports, once, that it is time.
func (s *strike) due() bool {
	if s.worker == nil || s.done || time.Now().Before(s.at) {
		return false
	}
	s.done = true
	return true
}

// demoEvent is a line of a worker's log.
type demoEvent struct {
	worker  *demoWorker
	Msg     string `json:"msg"`
	Job     string `json:"job"` // id, or id#attempt
	Attempt int    `json:"attempt"`
}

// demoWorker is one process.
type demoWorker struct {
	name string
	cmd  *exec.Cmd
}

func (a *app) demoCommand() *cobra.Command {
	var keep, fast bool
	dsn := ""
	c := &cobra.Command{
		Use:   "demo",
		Short: "Watch three workers lose one to SIGKILL and one to a long freeze, and no job",
		Long: `Start three worker processes on a temporary SQLite file, give them jobs that take
a while, kill one with SIGKILL in the middle of a job, freeze another with SIGSTOP
until its lease has lapsed, and tell what happens. The end is a table of every
attempt. It takes about 15 seconds and changes nothing outside its temporary
folder. With --store it runs on a store of yours, in queue "` + demoQueue + `".`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.demo(dsn, keep, fast) },
	}
	c.Flags().BoolVar(&keep, "keep", false, "leave the temporary file, and say where it is")
	c.Flags().BoolVar(&fast, "fast", false, "shorter jobs and leases")
	c.Flags().StringVar(&dsn, "store", "", "run on the store of this `DSN` instead")
	return c
}

func (a *app) demo(dsn string, keep, fast bool) error {
	if !canFreeze {
		return usageError("demo: this system has no SIGSTOP")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	d := &demo{out: a.stdout, dsn: dsn, lease: 3 * time.Second, work: 1800 * time.Millisecond, names: map[string]string{}, told: map[store.JobID]int{}, events: make(chan demoEvent, 64)}
	if fast {
		d.lease, d.work = time.Second, 600*time.Millisecond
	}
	if dsn == "" {
		dir, err := os.MkdirTemp("", "bwworker-demo-")
		if err != nil {
			return &exitError{exitFailed, fmt.Errorf("bwworker: demo: %w", err)}
		}
		d.dsn = "sqlite:" + filepath.Join(dir, "demo.db")
		if keep {
			defer func() { fmt.Fprintf(a.stdout, "\nThe file is kept: bwworker jobs ls --store %s\n", d.dsn) }()
		} else {
			defer func() { _ = os.RemoveAll(dir) }()
		}
	}
	a.stderr.hideDSN(d.dsn)
	s, err := reach(ctx, a.open, target{dsn: d.dsn}, 0, nil)
	if err != nil {
		return err
	}
	defer s.close()
	if s.local {
		return usageError("demo: its processes cannot share %s", d.dsn)
	}
	d.store = s
	defer d.endWorkers()
	if err := d.run(ctx); err != nil {
		return &exitError{exitFailed, fmt.Errorf("bwworker: demo: %w", err)}
	}
	return nil
}

func (d *demo) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, demoLimit)
	defer cancel()
	d.began = time.Now()
	d.say("three workers, one job at a time each; a lease lasts %v, a job takes %v", d.lease, d.work)
	if err := d.enqueue(ctx); err != nil {
		return err
	}
	for _, name := range []string{"A", "B", "C"} {
		if err := d.start(name); err != nil {
			return err
		}
	}
	look := time.NewTicker(40 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("ended before its jobs were done: %w", context.Cause(ctx))
		case e := <-d.events:
			d.heard(e)
		case <-look.C:
			over, err := d.look(ctx)
			if err != nil {
				return err
			}
			if over {
				d.endWorkers()
				return d.table(ctx)
			}
		}
	}
}

// say tells one thing, with the seconds since the beginning.
func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, "%6.2fs  %s\n", time.Since(d.began).Seconds(), fmt.Sprintf(format, args...))
}

func (d *demo) enqueue(ctx context.Context) error {
	client := engine.NewClient(engine.ClientConfig{Store: d.store})
	for i := range demoJobs {
		r, err := client.Enqueue(ctx, demoQueue, map[string]int64{"micros": d.work.Microseconds()}, engine.Queue(demoQueue))
		if err != nil {
			return err
		}
		d.ids = append(d.ids, r.ID)
		d.names[r.ID.String()] = fmt.Sprintf("job %d", i+1)
	}
	d.say("%d jobs are enqueued", demoJobs)
	return nil
}

// start starts a worker process and listens to its log.
func (d *demo) start(name string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	w := &demoWorker{name: name, cmd: exec.Command(self, "demo-worker", "--name", name, "--store", d.dsn, "--lease", d.lease.String())}
	log, err := w.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	w.cmd.Stderr = os.Stderr
	if err := w.cmd.Start(); err != nil {
		return err
	}
	d.workers = append(d.workers, w)
	d.say("worker %s is process %d", name, w.cmd.Process.Pid)
	go func() {
		for lines := bufio.NewScanner(log); lines.Scan(); {
			e := demoEvent{worker: w}
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				d.events <- e
			}
		}
	}()
	return nil
}

// heard takes in what a worker says, and chooses whom to strike.
func (d *demo) heard(e demoEvent) {
	id, attempt, _ := strings.Cut(e.Job, "#")
	job := d.names[id]
	switch e.Msg {
	case demoStarted:
		d.say("worker %s starts %s, attempt %d", e.worker.name, job, e.Attempt)
		next := strike{worker: e.worker, job: job, at: time.Now().Add(d.work / 2)}
		if d.killed.worker == nil {
			d.killed = next
		} else if d.frozen.worker == nil && e.worker != d.killed.worker {
			d.frozen = next
		}
	case demoFinished:
		d.say("worker %s has finished %s, attempt %d", e.worker.name, job, e.Attempt)
	case demoDropped:
		d.stale++
		d.say("worker %s reported %s, attempt %s: REFUSED as stale, its lease had lapsed", e.worker.name, job, attempt)
	}
}

// strikeNow kills, freezes and wakes when it is time.
func (d *demo) strikeNow() {
	if k := &d.killed; k.due() {
		d.say("worker %s is KILLED with SIGKILL, in the middle of %s", k.worker.name, k.job)
		_ = k.worker.cmd.Process.Kill()
	}
	f := &d.frozen
	if f.due() {
		d.say("worker %s is FROZEN with SIGSTOP, in the middle of %s", f.worker.name, f.job)
		_ = freeze(f.worker.cmd.Process)
	}
	if f.done && !d.thawed && time.Since(f.at) > 2*d.lease {
		d.thawed = true
		d.say("worker %s is WOKEN with SIGCONT; it does not know that it slept", f.worker.name)
		_ = thaw(f.worker.cmd.Process)
	}
}

// look tells of what the store has recorded since the last look, and reports
// whether all is over.
func (d *demo) look(ctx context.Context) (over bool, err error) {
	d.strikeNow()
	over = d.thawed && d.stale > 0
	for _, id := range d.ids {
		j, err := d.store.Job(ctx, id)
		if err != nil {
			if store.FaultOf(err).Transient() {
				return false, nil // next time
			}
			return false, err
		}
		for _, e := range j.Ends[min(d.told[id], len(j.Ends)):] {
			d.recorded(id, e)
		}
		d.told[id] = len(j.Ends)
		over = over && j.State.Terminal()
	}
	return over, nil
}

func (d *demo) recorded(id store.JobID, e store.End) {
	job := d.names[id.String()]
	if e.Kind == store.EndLapse {
		d.say("the lease of %s lapsed: a sweep has recorded the end of attempt %d, of worker %s, and put the job back", job, e.Attempt, demoName(e.Worker))
		return
	}
	d.say("%s is recorded: %s, attempt %d, by worker %s", job, e.To, e.Attempt, demoName(e.Worker))
}

// demoName returns the letter of a worker out of its identity, which has the
// name of its group in it.
func demoName(worker string) string {
	if parts := strings.Split(worker, "/"); len(parts) > 2 {
		return parts[2]
	}
	return worker
}

// endWorkers ends all processes and waits for them.
func (d *demo) endWorkers() {
	for _, w := range d.workers {
		_ = thaw(w.cmd.Process)
		_ = w.cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, w := range d.workers {
		_ = w.cmd.Wait()
	}
	d.workers = nil
}

// table prints every attempt, and judges.
func (d *demo) table(ctx context.Context) error {
	fmt.Fprintf(d.out, "\n%-7s %8s  %-7s %-9s %s\n", "job", "attempt", "worker", "ended as", "then the job was")
	attempts, lapses, wrong := 0, 0, []string(nil)
	for _, id := range d.ids {
		j, err := d.store.Job(ctx, id)
		if err != nil {
			return err
		}
		name, successes := d.names[id.String()], 0
		for _, e := range j.Ends {
			fmt.Fprintf(d.out, "%-7s %8d  %-7s %-9s %s\n", name, e.Attempt, demoName(e.Worker), e.Kind, e.To)
			attempts++
			if e.Kind == store.EndSuccess {
				successes++
			}
			if e.Kind == store.EndLapse {
				lapses++
			}
		}
		if j.State != store.Succeeded || successes != 1 || len(j.Ends) != j.Attempt {
			wrong = append(wrong, fmt.Sprintf("%s is %s after %d attempts with %d ends, %d of them a success", name, j.State, j.Attempt, len(j.Ends), successes))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("not every job was recorded exactly once: %s", strings.Join(wrong, "; "))
	}
	fmt.Fprintf(d.out, "\nEvery job was recorded exactly once: %d jobs, %d successes. It took %d attempts; %d lapsed with their leases, and a late outcome was refused %s.\n", len(d.ids), len(d.ids), attempts, lapses, times(d.stale))
	return nil
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
