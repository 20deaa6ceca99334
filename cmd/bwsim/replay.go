package main

import (
	"path/filepath"

	"github.com/spf13/cobra"
)

func replayCommand(s *screen) *cobra.Command {
	f := &runFlags{seeds: 1}
	c := &cobra.Command{
		Use:     "replay PLAN",
		Short:   "Make the run of a plan again",
		Long:    "replay makes the run again that bwsim run --plan FILE has kept: the same world,\nthe same seed, the same trace hash.",
		Example: "  bwsim run --random --seed 7 --plan plan.yaml\n  bwsim replay plan.yaml",
		Args:    oneArg("a plan, as bwsim run --plan FILE writes it"),
		RunE: func(c *cobra.Command, args []string) error {
			sc, header, err := readPlan(args[0])
			if err != nil {
				return err
			}
			if header.Version == 0 {
				return usage("%s is a scenario, not the plan of a run: bwsim run %s", args[0], quote(args[0]))
			}
			f.seed = header.Seed
			src := source{args[0], filepath.ToSlash(args[0]), sc}
			w := &workload{sources: []source{src}, seed: header.Seed, seeds: 1, repeat: "bwsim replay " + quote(args[0])}
			return f.session(c.Context(), s, w)
		},
	}
	f.add(c)
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
