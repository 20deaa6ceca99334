package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// Each package below testdata/src says in its want comments what is found.
func TestFindings(t *testing.T) {
	for _, pkg := range []string{"clock", "random", "host", "schedule", "order", "address", "float", "excuse", "clean"} {
		t.Run(pkg, func(t *testing.T) {
			analysistest.Run(t, analysistest.TestData(), newAnalyzer(regexp.MustCompile("")), pkg)
		})
	}
}

func TestOnlySomeFiles(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), newAnalyzer(regexp.MustCompile(`^shell`)), "files")
}

// runIn runs the command on a package below testdata/src.
func runIn(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(filepath.Join("testdata", "src"))
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestCommandPrintsFindings(t *testing.T) {
	code, out, errs := runIn(t, "-files", "^shell", "./files")
	if want := "files/shell.go:5:2: range over a map"; code != 1 || !strings.HasPrefix(out, want) || errs != "" {
		t.Errorf("got code %d, stdout %q, stderr %q; want 1, %q…, nothing", code, out, errs, want)
	}
}

func TestCommandIsSilentWithoutFindings(t *testing.T) {
	if code, out, errs := runIn(t, "./clean"); code != 0 || out+errs != "" {
		t.Errorf("got code %d, stdout %q, stderr %q; want 0 and nothing", code, out, errs)
	}
}

// What cannot be judged must not pass for clean.
func TestCommandRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"code that does not compile", []string{"./clean", "./broken"}, 3, "broken.go"},
		{"a package that is not there", []string{"./nowhere"}, 3, "nowhere"},
		{"a pattern without packages", []string{"nowhere..."}, 3, "match no package"},
		{"a package without such files", []string{"-files", "^nothing", "./clean"}, 3, "clean has no file to look at"},
		{"no pattern", nil, 2, "usage"},
		{"a bad expression", []string{"-files", "(", "./clean"}, 2, "missing closing"},
		{"an unknown flag", []string{"-x"}, 2, "-x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := runIn(t, c.args...)
			if code != c.code || out != "" || !strings.Contains(errs, c.says) {
				t.Errorf("got code %d, stdout %q, stderr %q; want %d, nothing, …%s…", code, out, errs, c.code, c.says)
			}
		})
	}
}
