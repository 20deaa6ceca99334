// Detlint finds what could make two runs of one seed differ in the packages
// that live under simulation: wall clocks, goroutines, channels, random
// sources, map order, unstable sorts, addresses, host I/O and floating-point
// sums that a compiler may fuse.
//
//	detlint [-files REGEXP] PATTERN...
//
// Patterns are those of the go command. Test files are not looked at. -files
// narrows the check to files whose base name matches, for packages of which
// only a part is simulated.
//
// A finding is excused by a comment on the line it points to:
//
//	import "sync" //det:ok the locked wrapper is for use outside the simulation
//
// The reason is required, and an excuse with nothing to excuse is a finding.
// The exit code is 0 for no finding, 1 for findings, 2 for bad usage and 3 for
// packages that cannot be loaded or do not compile.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("detlint", flag.ContinueOnError)
	flags.SetOutput(stderr)
	files := flags.String("files", "", "look only at files whose base name matches this `regexp`")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	only, err := regexp.Compile(*files)
	if err != nil {
		fmt.Fprintf(stderr, "detlint: -files: %v\n", err)
		return 2
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, "usage: detlint [-files REGEXP] PATTERN...")
		return 2
	}
	findings, err := check(only, flags.Args())
	if err != nil {
		fmt.Fprintf(stderr, "detlint: %v\n", err)
		return 3
	}
	for _, f := range findings {
		fmt.Fprintln(stdout, f)
	}
	if len(findings) > 0 {
		return 1
	}
	return 0
}

// check returns the findings in those files of the packages whose base name
// matches, as lines "file:line:column: text" in the order of the packages and of
// the source. An error says that some package could not be judged, so that no
// finding means nothing.
func check(only *regexp.Regexp, patterns []string) (lines []string, err error) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, patterns...)
	if err != nil {
		return nil, err
	}
	if len(pkgs) == 0 {
		return nil, fmt.Errorf("%q match no package", patterns)
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		if !slices.ContainsFunc(p.GoFiles, func(name string) bool { return looksAt(only, name) }) {
			return nil, fmt.Errorf("%s has no file to look at", p.PkgPath)
		}
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{newAnalyzer(only)}, pkgs, nil)
	if err != nil {
		return nil, err
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			return nil, fmt.Errorf("%s: %w", act.Package.PkgPath, act.Err)
		}
		slices.SortStableFunc(act.Diagnostics, func(a, b analysis.Diagnostic) int { return int(a.Pos) - int(b.Pos) })
		for _, d := range act.Diagnostics {
			pos := act.Package.Fset.Position(d.Pos)
			lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", relative(pos.Filename), pos.Line, pos.Column, d.Message))
		}
	}
	return lines, nil
}

// relative shortens name when it lies below the working directory.
func relative(name string) string {
	wd, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(wd, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}
