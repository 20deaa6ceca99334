package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"backwave/engine"
)

// options are the flags of bwworker run.
type options struct {
	config     string
	jobs       string
	untilEmpty bool
	http       string
	format     string
	logFormat  string
	logLevel   slog.Level
}

const runHelp = `Run the worker groups of a configuration file on a memory store, until a signal
or, with --until-empty, until nothing is left to do. Jobs live as long as the
process: what is left in the store when it ends is gone.

A handler is a command. It gets the job's payload on standard input and in its
environment BW_JOB_ID, BW_JOB_NAME, BW_JOB_QUEUE, BW_ATTEMPT, BW_TOKEN and
BW_LEASE_SECONDS. Exit code 0 is a success; any other is a failure, with the end
of its standard error, and the job is tried again as its retry policy says. When
an attempt is to stop, its process group gets SIGTERM and, kill_after later,
SIGKILL.

The configuration file, with the defaults of its fields:

  shutdown_timeout: 30s           # how long a drain waits for handlers
  groups:
    - name: default               # required
      queues: [emails, reports]   # required, served in this order; or by share:
      # weights: {emails: 3, reports: 1}
      pumps: 1                    # independent claim loops
      pool_size: 20               # handlers at once, per pump
      lease_duration: 60s         # how soon after a crash a job runs again
      heartbeat_interval: 20s     # a third of lease_duration
      maintenance_interval: 5s    # between sweeps of lapsed leases
      poll_interval: 1s           # between claims when idle
      max_poll_interval: 1s       # idle polls grow rarer up to this; poll_interval = off
      operation_timeout: 10s      # a sixth of lease_duration, at most 10s
      abandon_after: 5m           # a handler that ignores its end this long is given up
      claim_batch: 500            # jobs of one claim, at most
      report_batch: 500           # outcomes of one report, at most
      sweep_batch: 500            # leases of one sweep, at most
      release_on_drain: false     # give interrupted jobs back instead of letting leases lapse
      finish_timeout: 0s          # how long a drain lets handlers finish first
      retry: {max_attempts: 10, first: 2s, factor: 2, cap: 300s, jitter: 10, no_jitter: false}
      retry_by_name: {}           # the same, by job name
      timeouts: {}                # how long handlers may run, by job name: {send-email: 30s}
  handlers:
    send-email:
      command: [sh, -c, "cat"]    # required: program and arguments
      kill_after: 10s             # from SIGTERM to SIGKILL
      stdout: pass                # to the worker's standard error; or output, or discard

Jobs are JSON objects, one per line; name is required:

  {"name": "send-email", "queue": "emails", "payload": {"to": "a@b"},
   "id": "01890a5d-ac96-774b-bcce-b302099a8057", "unique": "welcome-a",
   "in": "5m", "at": "2030-01-31T08:00:00Z", "max_attempts": 3}
(on one line; in or at, not both). A mistake in any line keeps all from being
enqueued.

The first SIGINT or SIGTERM drains: nothing more is claimed, handlers are asked
to stop, and shutdown_timeout later the worker leaves whatever they do. A second
one ends it at once.

Exit codes:
  0  done
  1  failed: with --until-empty, a job ended dead-lettered or quarantined, or a
     signal came before the queues were empty; or an address cannot be used
  2  bad usage, configuration or jobs; nothing was started
  4  at the end a group was wholly halted
  5  handlers had to be left running (they are then killed), or a second signal came
5 goes before 4, and 4 before 1.`

const runExample = `  bwworker run -c worker.yaml --http 127.0.0.1:8080
  bwworker run -c worker.yaml --jobs jobs.jsonl --until-empty
  generate | bwworker run -c worker.yaml --jobs - --until-empty --format json`

func runCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	o := &options{}
	level := "info"
	c := &cobra.Command{
		Use:     "run -c FILE",
		Short:   "Run worker groups on a memory store",
		Long:    runHelp,
		Example: runExample,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := o.check(level); err != nil {
				return err
			}
			return run(o, stdin, stdout, stderr)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.config, "config", "c", "", "configuration `FILE` (required)")
	f.StringVar(&o.jobs, "jobs", "", "enqueue the jobs in `FILE` first; - is standard input")
	f.BoolVar(&o.untilEmpty, "until-empty", false, "end when no job is left in the served queues")
	f.StringVar(&o.http, "http", "", "serve /health, and a summary at /, on `ADDR` such as 127.0.0.1:8080")
	f.StringVar(&o.format, "format", "text", "of the summary at the end: text or json")
	f.StringVar(&o.logFormat, "log-format", "text", "of the log on standard error: text or json")
	f.StringVar(&level, "log-level", "info", "least level logged: debug, info, warn, error")
	return c
}

// check finds mistakes in the flags, all of them.
func (o *options) check(level string) error {
	var err error
	if o.config == "" {
		err = errors.Join(err, errors.New("bwworker: -c FILE is missing"))
	}
	for _, f := range []struct{ flag, value string }{{"--format", o.format}, {"--log-format", o.logFormat}} {
		if f.value != "text" && f.value != "json" {
			err = errors.Join(err, fmt.Errorf("bwworker: %s is %q, want text or json", f.flag, f.value))
		}
	}
	if e := o.logLevel.UnmarshalText([]byte(level)); e != nil {
		err = errors.Join(err, fmt.Errorf("bwworker: --log-level is %q, want debug, info, warn or error", level))
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// run does what the flags say.
func run(o *options, stdin io.Reader, stdout, stderr io.Writer) error {
	cfg, jobs, err := o.input(stdin)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	log := slog.New(logHandler(o, stderr))
	w := newWorker(cfg, log, stderr)
	defer w.heed()()
	if err := w.open(o.http); err != nil {
		return &exitError{exitFailed, fmt.Errorf("bwworker: %w", err)}
	}
	defer w.close()
	if err := w.enqueue(context.Background(), jobs); err != nil {
		return &exitError{exitUsage, err}
	}
	code, atOnce := w.serve(o.untilEmpty)
	if atOnce {
		return &exitError{code: code}
	}
	if err := w.summary(code).write(stdout, o.format); err != nil {
		return &exitError{max(code, exitFailed), fmt.Errorf("bwworker: summary: %w", err)}
	}
	if code != exitDone {
		return &exitError{code: code}
	}
	return nil
}

// input reads and judges the files before anything is started.
func (o *options) input(stdin io.Reader) (*config, []engine.NewJob, error) {
	text, err := os.ReadFile(o.config)
	if err != nil {
		return nil, nil, fmt.Errorf("bwworker: configuration: %w", err)
	}
	cfg, err := readConfig(o.config, text)
	if err != nil || o.jobs == "" {
		return cfg, nil, err
	}
	name := o.jobs
	if name == "-" {
		name = "standard input"
		text, err = io.ReadAll(stdin)
	} else {
		text, err = os.ReadFile(o.jobs)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bwworker: jobs: %w", err)
	}
	jobs, err := readJobs(name, text, cfg)
	return cfg, jobs, err
}

func logHandler(o *options, to io.Writer) slog.Handler {
	opts := &slog.HandlerOptions{Level: o.logLevel, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if l, ok := a.Value.Any().(slog.Level); ok && a.Key == slog.LevelKey && l == engine.LevelCritical {
			return slog.String(slog.LevelKey, "CRITICAL")
		}
		return a
	}}
	if o.logFormat == "json" {
		return slog.NewJSONHandler(to, opts)
	}
	return slog.NewTextHandler(to, opts)
}
