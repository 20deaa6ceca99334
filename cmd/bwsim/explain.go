package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func explainCommand(s *screen) *cobra.Command {
	caught := ""
	c := &cobra.Command{
		Use:     "explain INVARIANT",
		Short:   "Say what an invariant demands and what its violation would mean",
		Long:    "explain prints the sentence of an invariant and what you would see in production\nif it did not hold. With the output of bwsim mutants --format json it also lists\nthe planted bugs that the invariant caught.",
		Example: "  bwsim explain fence\n  bwsim mutants --format json > caught.jsonl; bwsim explain fence --mutants caught.jsonl",
		Args:    oneArg("an invariant, as bwsim list invariants prints them"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			text := sentence(name)
			if text == "" {
				var names []string
				for _, i := range invariants() {
					names = append(names, i.Name)
				}
				return usage("explain %s: there is no such invariant, want one of %s", name, strings.Join(names, ", "))
			}
			var bugs []mutantResult
			if caught != "" {
				var err error
				if bugs, err = readCaught(caught); err != nil {
					return err
				}
			}
			s.printf("%s\n", s.paint(bold, name))
			s.wrapped("  ", text)
			s.printf("\nIn production\n")
			s.wrapped("  ", meanings()[name])
			if caught == "" {
				return nil
			}
			s.printf("\nPlanted bugs it caught\n")
			for _, b := range bugs {
				if slices.Contains(b.CaughtBy, name) {
					s.printf("  %s: %s (%s, %s)\n", s.paint(bold, b.Mutant), b.Breaks, b.File, b.Func)
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&caught, "mutants", "", "`FILE` with the output of bwsim mutants --format json")
	return c
}

// readCaught reads what bwsim mutants --format json has printed.
func readCaught(file string) (out []mutantResult, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, badFile(err)
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r mutantResult
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, usage("%s:%d: want a line of bwsim mutants --format json: %v", file, n, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// wrapped prints text in lines of a readable length.
func (s *screen) wrapped(indent, text string) {
	const width = 78
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > width && line != indent {
			s.printf("%s\n", strings.TrimRight(line, " "))
			line = indent
		}
		line += word + " "
	}
	s.printf("%s\n", strings.TrimRight(line, " "))
}
