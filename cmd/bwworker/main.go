// Bwworker runs background jobs whose handlers are commands or requests, and
// adds, shows and steers jobs.
//
//	bwworker init > worker.yaml
//	bwworker run -c worker.yaml --jobs jobs.jsonl --until-empty
//
// docs/worker.md is its reference; bwworker COMMAND --help the short form.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 3
	exitHalted      = 4
	exitAbandoned   = 5
)

// exitError ends the program with a code.
type exitError struct {
	code int
	err  error // nil: said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// app is what the program has of its surroundings.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr *masker
	env    environment
	open   opener
}

func main() {
	a := &app{os.Stdin, os.Stdout, &masker{to: os.Stderr}, processEnvironment(), openStore}
	os.Exit(a.program(os.Args[1:]))
}

const rootHelp = `Run background jobs whose handlers are commands or requests, and add, show and
steer jobs.

The store is that of --store, else of BW_STORE or the file BW_STORE_FILE, else of
the configuration after -c, else ` + defaultStore + `.

Exit codes: 0 done; 1 failed; 2 bad usage, configuration or input; 3 the store
cannot be reached or used; 4 a group was wholly halted; 5 handlers had to be left
running.`

const rootExample = `  bwworker demo                      see a worker killed, and no job lost
  bwworker init > worker.yaml        every option, its meaning, its default
  bwworker run -c worker.yaml
  bwworker enqueue hello '{"n": 1}'`

// program is the whole of bwworker; it returns the exit code.
func (a *app) program(args []string) int {
	root := &cobra.Command{
		Use:           "bwworker",
		Short:         "Run background jobs whose handlers are commands or requests",
		Long:          rootHelp,
		Example:       rootExample,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.initCommand(), a.runCommand(), a.enqueueCommand(), a.jobsCommand(), a.queuesCommand(), a.migrateCommand(), a.benchCommand(), a.demoCommand(), a.demoWorkerCommand())
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		if e.err != nil {
			fmt.Fprintln(a.stderr, e.err)
		}
		return e.code
	}
	fmt.Fprintf(a.stderr, "bwworker: %v\nbwworker --help, or bwworker COMMAND --help, shows how it is used\n", err) // cobra's, of the command line
	return exitUsage
}

// version tells what program this is, and which tables it writes.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return "bwworker " + v + "\n" + schemas()
}

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf("bwworker: "+format, args...)}
}
