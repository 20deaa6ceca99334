package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func replayCommand(s *screen) *cobra.Command {
	f := &runFlags{seeds: 1}
	t := &travelFlags{}
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Make the run of a plan again, stop in it, look around",
		Long: `replay makes the run again that bwsim run --plan FILE has kept: the same world,
the same seed, the same trace hash. FILE is a plan, which has its seed in it, or a
scenario: a file, or the name of a shipped one.

With --to, --break or --dump it stops in the run and shows the story so far and
the state of the world: what every pump believes, the rows of the store, calls
under way. With --step it goes from event to event as it is told, by a person or
by lines of standard input; h lists the commands.

` + conditions(),
		Example: `  bwsim run --random --seed 7 --plan plan.yaml
  bwsim replay plan.yaml
  bwsim replay plan.yaml --to 340                       after event 340
  bwsim replay plan.yaml --break 'job=j7 attempt=2' --dump n2
  bwsim replay zombie-returns --step --break kind=violation`,
		Args: oneArg("a plan, as bwsim run --plan FILE writes it, or a scenario"),
		RunE: func(c *cobra.Command, args []string) error {
			src, err := loadWithSeed(c, args[0], f.seed)
			if err != nil {
				return err
			}
			own := !c.Flags().Changed("seed")
			if t.used() {
				if err := t.alone(c); err != nil {
					return err
				}
				return t.run(c.Context(), s, src, f.format, c.InOrStdin())
			}
			repeat := "bwsim replay " + quote(args[0])
			if !own {
				repeat += fmt.Sprintf(" --seed %d", src.seed)
			}
			w := &workload{sources: []source{src}, seed: src.seed, seeds: 1, chosen: true, repeat: repeat}
			return f.session(c.Context(), s, w)
		},
	}
	f.add(c)
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of a scenario; default of a plan: its own")
	t.add(c)
	return c
}

// oneArg demands exactly one argument, and says what it is.
func oneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("%s: want %s, got %s\nsee %s --help", c.CommandPath(), what, count(len(args), "argument"), c.CommandPath())
		}
		return nil
	}
}

// someArgs demands an argument or more, and says what they are.
func someArgs(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s: want %s\nsee %s --help", c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}
