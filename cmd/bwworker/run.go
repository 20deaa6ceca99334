package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"backwave/engine"
)

// options are the flags of bwworker run.
type options struct {
	config     string
	jobs       string
	untilEmpty bool
	record     string
	format     string

	store      string
	wait       time.Duration
	http       string
	logFormat  string
	logLevel   string
	exitOnHalt bool
}

const runHelp = `Run the worker groups of a configuration file until a signal or, with
--until-empty, until nothing is left to do. bwworker init prints a configuration
with every option, its meaning and its default.

A handler is a command or a request. A command gets the job's payload on
standard input and in its environment BW_JOB_ID, BW_JOB_NAME, BW_JOB_QUEUE,
BW_ATTEMPT, BW_TOKEN, BW_LEASE_SECONDS and BW_FD, a file descriptor that takes
lines "progress …" and "output …". Exit code 0 is a success; any other is a
failure, with the end of its standard error, and the job is tried again as its
retry policy says. When an attempt is to stop, its process group gets SIGTERM
and, kill_after later, SIGKILL. A request posts the payload; a 2xx answer is a
success.

The store is that of --store, else of BW_STORE or the file BW_STORE_FILE, else
of the configuration, else ` + defaultStore + `. A store memory: lives as long as
the process.

Flags go before variables, variables before the configuration: BW_WAIT, BW_HTTP,
BW_LOG_FORMAT, BW_LOG_LEVEL, BW_EXIT_ON_HALT, BW_SHUTDOWN_TIMEOUT, and for a
number, duration or switch of a group BW_GROUP_<group>_<field>, all in capitals,
with _ for what is no letter or digit: BW_GROUP_DEFAULT_POOL_SIZE=50.

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
  3  the store cannot be reached or used
  4  at the end a group was wholly halted
  5  handlers had to be left running (they are then killed), or a second signal came
5 goes before 4, and 4 before 1.`

const runExample = `  bwworker run -c worker.yaml --http 127.0.0.1:8080
  bwworker run -c worker.yaml --jobs jobs.jsonl --until-empty
  generate | bwworker run -c worker.yaml --jobs - --until-empty --format json`

func (a *app) runCommand() *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:     "run -c FILE",
		Short:   "Run worker groups",
		Long:    runHelp,
		Example: runExample,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.run(o, c.Flags().Changed)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.config, "config", "c", "", "configuration `FILE` (required)")
	f.StringVar(&o.jobs, "jobs", "", "enqueue the jobs in `FILE` first; - is standard input")
	f.BoolVar(&o.untilEmpty, "until-empty", false, "end when no job is left in the served queues")
	f.BoolVar(&o.exitOnHalt, "exit-on-halt", false, "drain and end with 4 as soon as a group is wholly halted")
	f.StringVar(&o.store, "store", "", "`DSN` of the store: "+dsnForms())
	f.DurationVar(&o.wait, "wait", 0, "how long to wait for a store that is not up yet")
	f.StringVar(&o.http, "http", "", "serve /health, and a summary at /, on `ADDR` such as 127.0.0.1:8080")
	f.StringVar(&o.record, "record", "", recordUsage)
	f.StringVar(&o.format, "format", "table", "`FORMAT` of the summary at the end: table, or json: one object on one line")
	f.StringVar(&o.logFormat, "log-format", "text", "`FORMAT` of the log on standard error: text or json")
	f.StringVar(&o.logLevel, "log-level", "info", "least `LEVEL` logged: debug, info, warn, error")
	return c
}

// check finds mistakes in the flags, all of them.
func (o *options) check() error {
	var err error
	if o.config == "" {
		err = errors.Join(err, errors.New("bwworker: -c FILE is missing"))
	}
	err = errors.Join(err, checkFormat(o.format))
	if o.logFormat != "text" && o.logFormat != "json" {
		err = errors.Join(err, fmt.Errorf("bwworker: --log-format is %q, want text or json", o.logFormat))
	}
	var level slog.Level
	if e := level.UnmarshalText([]byte(o.logLevel)); e != nil {
		err = errors.Join(err, fmt.Errorf("bwworker: --log-level is %q, want debug, info, warn or error", o.logLevel))
	}
	if o.wait < 0 {
		err = errors.Join(err, fmt.Errorf("bwworker: --wait is %v, want at least 0s", o.wait))
	}
	if o.store != "" {
		if e := checkDSN(o.store); e != nil {
			err = errors.Join(err, fmt.Errorf("bwworker: --store: %w", e))
		}
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// apply lets the flags that were given go before what s says.
func (o *options) apply(s *settings, given func(flag string) bool) {
	if given("store") {
		s.store = o.store
	}
	if s.store == "" {
		s.store = defaultStore
	}
	if given("wait") {
		s.wait = o.wait
	}
	if given("http") {
		s.http = o.http
	}
	if given("log-format") {
		s.logFormat = o.logFormat
	}
	if given("log-level") {
		_ = s.logLevel.UnmarshalText([]byte(o.logLevel)) // checked before
	}
	if given("exit-on-halt") {
		s.exitOnHalt = o.exitOnHalt
	}
}

// run does what the flags say.
func (a *app) run(o *options, given func(flag string) bool) error {
	cfg, jobs, err := a.input(o)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	o.apply(&cfg.settings, given)
	a.stderr.hideDSN(cfg.store)
	a.stderr.hideDSN(cfg.direct)
	log := slog.New(logHandler(&cfg.settings, a.stderr))
	signals, stop := heed()
	defer stop()
	var st *opened
	err = unlessTold(signals, func(ctx context.Context) (err error) {
		st, err = reach(ctx, a.open, cfg.target(cfg.pumps()), cfg.wait, log)
		return err
	})
	if err != nil {
		return err
	}
	defer st.close()
	end, err := st.record(o.record, log)
	if err != nil {
		return err
	}
	w := newWorker(cfg, st, log, a.stderr)
	w.signals = signals
	w.counts = st.local || o.untilEmpty
	return orLost(a.work(w, o, jobs), end())
}

// work is the life of w.
func (a *app) work(w *worker, o *options, jobs []engine.NewJob) error {
	if err := unlessTold(w.signals, w.look); err != nil {
		return storeError(err)
	}
	if err := w.open(w.cfg.http); err != nil {
		return &exitError{exitFailed, fmt.Errorf("bwworker: %w", err)}
	}
	defer w.close()
	if err := unlessTold(w.signals, func(ctx context.Context) error { return w.enqueue(ctx, jobs) }); err != nil {
		return storeError(err)
	}
	code, atOnce := w.serve(o.untilEmpty)
	if atOnce {
		return &exitError{code: code}
	}
	s, err := w.summary(context.Background(), code)
	if err == nil {
		err = s.write(a.stdout, o.format)
	}
	if err != nil {
		return &exitError{max(code, exitFailed), fmt.Errorf("bwworker: summary: %w", err)}
	}
	if code != exitDone {
		return &exitError{code: code}
	}
	return nil
}

// input reads and judges the files before anything is started.
func (a *app) input(o *options) (*config, []engine.NewJob, error) {
	text, err := os.ReadFile(o.config)
	if err != nil {
		return nil, nil, fmt.Errorf("bwworker: configuration: %w", err)
	}
	cfg, err := readConfig(o.config, text, a.env)
	if err != nil || o.jobs == "" {
		return cfg, nil, err
	}
	name := o.jobs
	if name == "-" {
		name = "standard input"
		text, err = io.ReadAll(a.stdin)
	} else {
		text, err = os.ReadFile(o.jobs)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bwworker: jobs: %w", err)
	}
	jobs, err := readJobs(name, text, cfg, "")
	return cfg, jobs, err
}

func logHandler(s *settings, to io.Writer) slog.Handler {
	opts := &slog.HandlerOptions{Level: s.logLevel, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if l, ok := a.Value.Any().(slog.Level); ok && a.Key == slog.LevelKey && l == engine.LevelCritical {
			return slog.String(slog.LevelKey, "CRITICAL")
		}
		return a
	}}
	if s.logFormat == "json" {
		return slog.NewJSONHandler(to, opts)
	}
	return slog.NewTextHandler(to, opts)
}
