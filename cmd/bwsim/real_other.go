//go:build !unix

package main

import "github.com/spf13/cobra"

// realCommands is empty where processes cannot be frozen.
func realCommands(*screen) []*cobra.Command { return nil }
