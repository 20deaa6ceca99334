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

// program is the whole of bwworker; it returns the exit code.
func (a *app) program(args []string) int {
	root := &cobra.Command{
		Use:           "bwworker",
		Short:         "Run background jobs whose handlers are commands or requests",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}")
	root.AddCommand(a.initCommand(), a.runCommand(), a.enqueueCommand(), a.jobsCommand(), a.queuesCommand(), a.migrateCommand(), a.demoCommand(), a.demoWorkerCommand())
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
