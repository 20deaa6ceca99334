// Command bwsim runs BackWave's engine in simulated worlds, tells what happened
// and judges it. docs/bwsim.md is its reference.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // worlds make much garbage and keep little
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(bwsim(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// bwsim carries out one command line and returns the exit code.
func bwsim(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := newScreen(stdout, stderr)
	root := rootCommand(s)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	whole := s.close()
	code := s.fail(err)
	if !whole && (code == exitHeld || code == exitUndecided) {
		return exitCannot // nobody has read that all held
	}
	return code
}

func rootCommand(s *screen) *cobra.Command {
	root := &cobra.Command{
		Use:     "bwsim",
		Short:   "Run BackWave's engine in simulated worlds and judge what happened",
		Version: version(),
		Long: `bwsim runs the engine that works in production in a simulated world: nodes crash
and stand still, networks lose and delay, clocks step, and a checker judges
every step. One seed decides a run to the last byte.

Exit codes: 0 all held; 1 a violation; 2 bad usage or a bad file; 3 could not
run, or was interrupted; 4 undecided; 5 not deterministic.`,
		Example: `  bwsim run                                 every shipped scenario
  bwsim run crash-minute-by-minute          one of them, told in full
  bwsim run --random --seeds 1000           a thousand random worlds
  bwsim swarm --for 10m                     as many as there are in ten minutes
  bwsim explain fence                       what an invariant means`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%v\nsee %s --help", err, c.CommandPath())
	})
	root.AddCommand(runCommand(s), replayCommand(s), whatifCommand(s), oddsCommand(s), shrinkCommand(s), swarmCommand(s), fmtCommand(s), lintCommand(s), diffCommand(s), checkCommand(s), listCommand(s), explainCommand(s), mutantsCommand(s), exploreCommand(s), timelineCommand(s), twinCommand(s), huntCommand(s))
	root.AddCommand(realCommands(s)...)
	return root
}

// version tells what program this is. A plan is replayed on the version that
// found it.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return "bwsim " + v
}

// unknownCommand reports the first word that is no command.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	guess := ""
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		guess = fmt.Sprintf(" (did you mean %q?)", near[0])
	}
	return usage("there is no command %q%s\nsee bwsim --help", args[0], guess)
}
