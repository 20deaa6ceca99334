package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"backwave/engine"
	"backwave/store"
)

// enqueueOptions are the flags of bwworker enqueue.
type enqueueOptions struct {
	access
	queue       string
	in          time.Duration
	at          string
	id          string
	unique      string
	maxAttempts int
	count       int
	from        string
}

const enqueueHelp = `Add a job, or the jobs of a file. PAYLOAD is JSON; - reads it from standard
input. Without an id a new one is made; with one the command may be repeated.
If a job that has not ended holds the unique key nothing is added, and the
output names the holder.

Of each job the output tells id, name, queue, and whether another holds its key.

Exit codes: 0 done, 1 failed, 2 bad usage or input (nothing was added), 3 the
store cannot be reached or used.`

// maxCount bounds --count, since every job is in memory at once.
const maxCount = 1_000_000

func (a *app) enqueueCommand() *cobra.Command {
	o := &enqueueOptions{}
	c := &cobra.Command{
		Use:   "enqueue NAME [PAYLOAD|-]",
		Short: "Add jobs",
		Long:  enqueueHelp,
		Example: `  bwworker enqueue send-email '{"to": "a@b"}' --queue emails --in 5m --unique welcome-a
  bwworker enqueue --from jobs.jsonl`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			jobs, err := a.newJobs(o, args, c.Flags().Changed)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			return a.use(&o.access, c.Flags().Changed, func(ctx context.Context, st *opened) error {
				return a.enqueue(ctx, st, o, jobs)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.queue, "queue", "default", "queue of the job, or of jobs of --from that name none")
	f.DurationVar(&o.in, "in", 0, "how long from now the job is due")
	f.StringVar(&o.at, "at", "", "`TIME` when the job is due, such as 2030-01-31T08:00:00Z")
	f.StringVar(&o.id, "id", "", "the job's id, a `UUID`")
	f.StringVar(&o.unique, "unique", "", "`KEY` that no other job that has not ended may hold")
	f.IntVar(&o.maxAttempts, "max-attempts", 0, "attempts of the job; 0 is what its group says")
	f.IntVar(&o.count, "count", 1, "how many such jobs")
	f.StringVar(&o.from, "from", "", "add the jobs of `FILE`, one JSON object a line; - is standard input")
	f.StringVar(&o.record, "record", "", recordUsage)
	o.flags(c)
	return c
}

// newJobs makes jobs of the command line, or of the file that it names.
func (a *app) newJobs(o *enqueueOptions, args []string, given func(flag string) bool) ([]engine.NewJob, error) {
	if o.from != "" {
		for _, flag := range []string{"in", "at", "id", "unique", "max-attempts", "count"} {
			if given(flag) {
				return nil, fmt.Errorf("bwworker: --%s is beside --from, whose lines say such things", flag)
			}
		}
		if len(args) > 0 {
			return nil, errors.New("bwworker: a name is beside --from, want one of them")
		}
		name, text, err := a.readInput(o.from)
		if err != nil {
			return nil, fmt.Errorf("bwworker: jobs: %w", err)
		}
		return readJobs(name, text, nil, o.queue)
	}
	if len(args) == 0 {
		return nil, errors.New("bwworker: the job's NAME is missing")
	}
	options, err := o.options(given)
	j := engine.NewJob{Name: args[0], Options: options}
	if len(args) == 2 {
		text := []byte(args[1])
		if args[1] == "-" {
			var e error
			if text, e = io.ReadAll(a.stdin); e != nil {
				err = errors.Join(err, fmt.Errorf("bwworker: payload: %w", e))
			}
		}
		if !json.Valid(text) {
			err = errors.Join(err, fmt.Errorf("bwworker: the payload %s is not JSON; text wants quotes within quotes: '\"text\"'", short(text)))
		}
		j.Args = json.RawMessage(text)
	}
	jobs := make([]engine.NewJob, max(0, min(o.count, maxCount)))
	for i := range jobs {
		jobs[i] = j
	}
	return jobs, err
}

// options reads the flags about the job; the error joins every mistake.
func (o *enqueueOptions) options(given func(flag string) bool) (out []engine.EnqueueOption, err error) {
	bad := func(format string, args ...any) { err = errors.Join(err, fmt.Errorf("bwworker: "+format, args...)) }
	out = append(out, engine.Queue(o.queue), engine.Unique(o.unique), engine.MaxAttempts(o.maxAttempts))
	if given("in") && given("at") {
		bad("--at is beside --in, want one of them")
	}
	if given("in") {
		if o.in < 0 {
			bad("--in is %v, want at least 0s", o.in)
		}
		out = append(out, engine.In(o.in))
	}
	if given("at") {
		t, e := time.Parse(time.RFC3339, o.at)
		if e != nil {
			bad("--at is %q, want a time such as 2030-01-31T08:00:00Z", o.at)
		}
		out = append(out, engine.At(t))
	}
	if given("id") {
		id, e := store.ParseJobID(o.id)
		if e != nil || id.IsZero() {
			bad("--id is %q, want a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057", o.id)
		}
		out = append(out, engine.ID(id))
	}
	if o.count < 1 || o.count > maxCount {
		bad("--count is %d, want 1 to %d", o.count, maxCount)
	}
	if o.count > 1 && (given("id") || given("unique")) {
		bad("--count is beside --id or --unique, which only one job can have")
	}
	return out, err
}

// readInput reads a file, or standard input if that is meant.
func (a *app) readInput(file string) (name string, text []byte, err error) {
	if file == "-" {
		text, err = io.ReadAll(a.stdin)
		return "standard input", text, err
	}
	text, err = os.ReadFile(file)
	return file, text, err
}

// enqueuedJob is what the output tells of one job.
type enqueuedJob struct {
	ID       store.JobID `json:"id"`
	Name     string      `json:"name"`
	Queue    string      `json:"queue"`
	Existing bool        `json:"existing"`
}

// enqueue adds the jobs and tells of those that were added, even if others
// were not.
func (a *app) enqueue(ctx context.Context, st store.Store, o *enqueueOptions, jobs []engine.NewJob) error {
	client := engine.NewClient(engine.ClientConfig{Store: st, Queue: o.queue})
	receipts, failed := client.EnqueueMany(ctx, jobs)
	p := newPrinter(a.stdout, o.format, "ID", "NAME", "QUEUE", "")
	for i, r := range receipts {
		row := store.NewJob{Queue: o.queue}
		for _, option := range jobs[i].Options {
			option(&row)
		}
		if r.ID.IsZero() {
			continue // the error speaks of it
		}
		note := ""
		if r.Existing {
			note = "holds the key; nothing was added"
		}
		p.row(enqueuedJob{r.ID, jobs[i].Name, row.Queue, r.Existing}, r.ID.String(), jobs[i].Name, row.Queue, note)
	}
	return errors.Join(failed, p.flush())
}
