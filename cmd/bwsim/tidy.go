package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"backwave/sim/scenario"
)

func fmtCommand(s *screen) *cobra.Command {
	check := false
	c := &cobra.Command{
		Use:     "fmt FILE…",
		Short:   "Write scenario files and plans in the one way there is",
		Long:    "fmt rewrites each FILE: order of keys, spaces, quotes, what has its default left\nout. Comments stay, above what they are about.",
		Example: "  bwsim fmt my.yaml\n  bwsim fmt --check *.yaml                  exit code 1 if one is not so",
		Args:    someArgs("scenario files"),
		RunE: func(_ *cobra.Command, files []string) error {
			differ := 0
			for _, name := range files {
				src, err := os.ReadFile(name)
				if err != nil {
					return badFile(err)
				}
				tidy, err := scenario.Tidy(name, src)
				switch {
				case err != nil:
					return usage("%v", err)
				case bytes.Equal(src, tidy):
					continue
				case !check:
					if err := os.WriteFile(name, tidy, 0o644); err != nil {
						return cannot("%v", err)
					}
				}
				differ++
				s.printf("%s\n", name)
			}
			if check && differ > 0 {
				return verdict(exitViolated)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "change nothing; name the files that would be")
	return c
}

func lintCommand(s *screen) *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use:   "lint FILE…",
		Short: "Say what in scenario files is of no use",
		Long: `lint reads each FILE as run does, and then looks for what is no mistake and most
likely not meant: groups that no node runs, jobs in queues that nobody serves,
faults that hit nothing in any of three runs, promises that cannot be judged.`,
		Example: "  bwsim lint my.yaml\n  bwsim lint scenarios/*.yaml --format github",
		Args:    someArgs("scenario files"),
		RunE: func(_ *cobra.Command, files []string) error {
			if format != "text" && format != "github" {
				return usage("--format %s: want text or github", format)
			}
			found := 0
			for _, name := range files {
				src, err := os.ReadFile(name)
				if err != nil {
					return badFile(err)
				}
				list, err := scenario.Lint(name, src)
				if err != nil {
					return usage("%v", err)
				}
				for _, w := range list {
					found++
					if format == "github" {
						s.printf("::warning file=%s,line=%d,title=bwsim lint::%s\n", property(filepath.ToSlash(name)), w.Line, data(w.Text))
						continue
					}
					s.printf("%s:%d: %s\n", name, w.Line, w.Text)
				}
			}
			if found > 0 {
				return verdict(exitViolated)
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or github (annotations)")
	return c
}

func diffCommand(s *screen) *cobra.Command {
	lines := contextLines
	c := &cobra.Command{
		Use:     "diff TRACE TRACE",
		Short:   "Find the first event in which two traces differ",
		Long:    "diff compares two traces, as bwsim run --trace FILE writes them, and shows the\nfirst event that is not the same, and what led there.",
		Example: "  bwsim run my.yaml --trace a.txt; bwsim run my.yaml --trace b.txt\n  bwsim diff a.txt b.txt",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("%s: want two traces, got %s\nsee %s --help", c.CommandPath(), count(len(args), "argument"), c.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if lines < 0 {
				return usage("--context %d: want none below 0", lines)
			}
			return s.diff(args[0], args[1], lines)
		},
	}
	c.Flags().IntVar(&lines, "context", lines, "so many `LINES` before the difference, and after it")
	return c
}

// diff prints where two trace files part, with so many lines around.
func (s *screen) diff(one, other string, around int) error {
	var traces [2]*os.File
	for i, name := range []string{one, other} {
		file, err := os.Open(name)
		if err != nil {
			return badFile(err)
		}
		defer file.Close() //nolint:errcheck // it was only read
		traces[i] = file
	}
	d, found, err := compareTraces(traces[0], traces[1], around)
	switch {
	case err != nil:
		return cannot("compare the traces: %v", err)
	case !found:
		s.printf("the same: %s\n", count(d.same, "line"))
		return nil
	}
	s.printf("the first %s are the same\n", count(d.same, "line"))
	for _, l := range d.before {
		s.printf("  %s\n", l)
	}
	for i, side := range [][]string{d.here, d.twin} {
		s.printf("%s\n", s.paint(bold, fmt.Sprintf("then %s has", []string{one, other}[i])))
		for _, l := range side {
			s.printf("%s %s\n", s.paint([]string{red, green}[i], "-+"[i:i+1]), l)
		}
	}
	return verdict(exitViolated)
}
