package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// benchOptions are the flags of bwworker bench.
type benchOptions struct {
	access
	jobs   int
	length time.Duration
	rate   int
	pumps  int
	pool   int
	batch  int
}

const benchHelp = `Measure what a store of yours does on this machine: jobs enqueued in bulk, drained
by handlers that do nothing, and, at a modest rate, how long a job waits until
its handler starts. It takes about ten seconds.

Your jobs are not touched: on PostgreSQL it works in a schema of its own, for
which the role needs CREATE on the database, and with SQLite in a folder of its
own beside the file. It removes what it has made, also after Ctrl-C.

` + benchCaution + `

Exit codes: 0 done, 1 failed or interrupted, 2 bad usage, 3 the store cannot be
reached or used.`

// benchCaution keeps figures from being taken for more than they are.
const benchCaution = `The figures describe this machine, its store and what else runs on it just now.
They are worth comparing with another run on the same machine, and with nothing
else.`

// The bounds of what one run of bench may be asked for.
const (
	mostBenchJobs = 10_000_000
	mostBenchRate = 10_000
)

// benchPatience is how long the steps may take beside the time asked for.
const benchPatience = 10 * time.Minute

func (a *app) benchCommand() *cobra.Command {
	o := &benchOptions{access: access{timeout: benchPatience}}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure what a store does on this machine, apart from your jobs",
		Long:  benchHelp,
		Example: `  bwworker bench
  bwworker bench --store postgres://app@db/prod --pumps 4 --format json >> bench.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return &exitError{exitUsage, err}
			}
			return a.bench(o, c.Flags().Changed)
		},
	}
	f := c.Flags()
	f.IntVar(&o.jobs, "jobs", 20_000, "jobs that are enqueued in bulk, and drained")
	f.DurationVar(&o.length, "for", 5*time.Second, "how long start latency is measured")
	f.IntVar(&o.rate, "rate", 100, "jobs a second meanwhile")
	f.IntVar(&o.pumps, "pumps", 1, "pumps of the worker")
	f.IntVar(&o.pool, "pool", 1000, "handlers at once, per pump")
	f.IntVar(&o.batch, "batch", 500, "jobs of one claim or report, at most")
	o.storeFlags(c)
	return c
}

// check finds mistakes in the numbers, all of them. What the engine bounds it
// says itself.
func (o *benchOptions) check() (err error) {
	for _, f := range []struct {
		flag      string
		have, max int
	}{{"jobs", o.jobs, mostBenchJobs}, {"rate", o.rate, mostBenchRate}, {"pumps", o.pumps, math.MaxInt}, {"pool", o.pool, math.MaxInt}, {"batch", o.batch, math.MaxInt}} {
		switch {
		case f.have < 1:
			err = errors.Join(err, fmt.Errorf("bwworker: --%s is %d, want at least 1", f.flag, f.have))
		case f.have > f.max:
			err = errors.Join(err, fmt.Errorf("bwworker: --%s is %d, want at most %d", f.flag, f.have, f.max))
		}
	}
	if o.length < time.Second {
		err = errors.Join(err, fmt.Errorf("bwworker: --for is %v, want at least 1s", o.length))
	}
	return err
}

// bench measures on a store of its own, and removes it whatever happens.
func (a *app) bench(o *benchOptions, given func(flag string) bool) (err error) {
	s, err := a.settings(&o.access, given)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	a.stderr.hideDSN(s.store)
	a.stderr.hideDSN(s.direct)
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(signals, o.length+benchPatience)
	defer cancel()
	own, err := newScratch(s.target(o.pumps))
	if err != nil {
		return &exitError{exitFailed, fmt.Errorf("bwworker: bench: %w", err)}
	}
	made := false
	defer func() {
		if e := own.remove(); e != nil && made {
			err = orLost(err, fmt.Errorf("bwworker: bench: %s is left behind, remove it: %w", own.what, e))
		}
	}()
	st, err := reach(ctx, a.open, own.target, s.wait, slog.New(logHandler(&s, a.stderr)))
	if err != nil {
		return err
	}
	defer st.close()
	made = true
	if !st.local {
		fmt.Fprintf(a.stderr, "bench: in %s, which is removed at the end\n", own.what)
	}
	b, err := newBenchmark(st.Store, o, a.stderr)
	if err != nil {
		return usageError("bench: %w", err)
	}
	figures, err := b.run(ctx)
	switch {
	case signals.Err() != nil:
		return &exitError{exitFailed, errors.New("bwworker: bench: interrupted")}
	case err != nil:
		return storeError(fmt.Errorf("bench: %w", err))
	}
	return o.print(a.stdout, a.stderr, own.kind, figures)
}

// figure is what one step has measured.
type figure struct {
	Step    string  `json:"step"` // enqueue, drain, start
	Jobs    int     `json:"jobs"`
	Seconds float64 `json:"seconds"`
	Rate    float64 `json:"jobs_per_second"`
	P50     float64 `json:"p50_ms,omitempty"` // of start only
	P99     float64 `json:"p99_ms,omitempty"`
	Max     float64 `json:"max_ms,omitempty"`
}

// benchSetup is what the figures were measured with.
type benchSetup struct {
	Step  string `json:"step"` // setup
	Store string `json:"store"`
	CPUs  int    `json:"cpus"`
	Pumps int    `json:"pumps"`
	Pool  int    `json:"pool"`
	Batch int    `json:"batch"`
}

// print prints the figures, and what they are worth.
func (o *benchOptions) print(stdout, stderr io.Writer, kind string, figures []figure) error {
	setup := benchSetup{"setup", kind, runtime.GOMAXPROCS(0), o.pumps, o.pool, o.batch}
	caution := stderr
	p := newPrinter(stdout, o.format, "STEP", "JOBS", "SECONDS", "JOBS/S", "P50 MS", "P99 MS", "MAX MS")
	if o.format == "json" {
		p.row(setup)
	} else {
		caution = stdout
		fmt.Fprintf(stdout, "%s, %d CPUs, pumps %d, pool %d, batch %d\n\n", setup.Store, setup.CPUs, setup.Pumps, setup.Pool, setup.Batch)
	}
	for _, f := range figures {
		cells := []string{f.Step, strconv.Itoa(f.Jobs), fixed(f.Seconds, 2), fixed(f.Rate, 0)}
		if f.Max > 0 {
			cells = append(cells, fixed(f.P50, 2), fixed(f.P99, 2), fixed(f.Max, 2))
		}
		p.row(f, cells...)
	}
	err := p.flush()
	if err == nil {
		_, err = fmt.Fprintf(caution, "\n%s\n", strings.TrimSpace(benchCaution))
	}
	if err != nil {
		return &exitError{exitFailed, err}
	}
	return nil
}

func fixed(x float64, digits int) string { return strconv.FormatFloat(x, 'f', digits, 64) }
