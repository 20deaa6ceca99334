package main

import (
	_ "embed" // the configuration that bwworker init prints
	"io"

	"github.com/spf13/cobra"
)

//go:embed init.yaml
var initText string

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "init",
		Short:   "Print a configuration with every option and its default",
		Long:    "Print a configuration with every option, its meaning and its default, on\nstandard output.",
		Example: "  bwworker init > worker.yaml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(a.stdout, initText)
			return err
		},
	}
}
