// Bwworker runs background jobs whose handlers are commands.
//
//	bwworker run -c worker.yaml --jobs jobs.jsonl --until-empty
//
// docs/worker.md is its reference; bwworker run --help the short form.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitHalted    = 4
	exitAbandoned = 5
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

func main() { os.Exit(program(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// program is the whole of bwworker; it returns the exit code.
func program(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "bwworker",
		Short:         "Run background jobs whose handlers are commands",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(runCommand(stdin, stdout, stderr))
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		if e.err != nil {
			fmt.Fprintln(stderr, e.err)
		}
		return e.code
	}
	fmt.Fprintf(stderr, "bwworker: %v\nbwworker run --help shows how it is used\n", err) // cobra's, of the command line
	return exitUsage
}
