package archtest

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// root is the root of the module.
var root = os.DirFS("../..")

// goMod is what matters here of a go.mod file.
type goMod struct {
	module   string
	requires []string
	direct   []string // without those marked as indirect
}

// readGoMod reads a go.mod file in the form that the go command writes.
func readGoMod(fsys fs.FS) (m goMod, err error) {
	text, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return m, err
	}
	block := ""
	for line := range strings.Lines(string(text)) {
		line, comment, _ := strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block != "":
			words = append([]string{block}, words...)
		}
		switch words[0] {
		case "module":
			m.module = words[1]
		case "require":
			m.requires = append(m.requires, words[1])
			if strings.TrimSpace(comment) != "indirect" {
				m.direct = append(m.direct, words[1])
			}
		}
	}
	return m, nil
}

func modulePath(t *testing.T) string {
	t.Helper()
	m, err := readGoMod(root)
	if err != nil {
		t.Fatal(err)
	}
	return m.module
}

// unapproved lists the modules that the module at the root of fsys uses
// although no file docs/adr/*.md names them (in backticks). A module counts as
// used if go.mod requires it directly or if a file imports one of its packages.
func unapproved(fsys fs.FS) (out []string, err error) {
	mod, err := readGoMod(fsys)
	if err != nil {
		return nil, err
	}
	files, err := goFiles(fsys)
	if err != nil {
		return nil, err
	}
	used := slices.Clone(mod.direct)
	for _, f := range files {
		for _, imp := range f.imports {
			for _, m := range mod.requires {
				if within(imp, m) && !isStandard(imp) {
					used = append(used, m)
				}
			}
		}
	}
	slices.Sort(used)
	names, err := fs.Glob(fsys, "docs/adr/*.md")
	if err != nil {
		return nil, err
	}
	var records strings.Builder
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		records.Write(text)
	}
	for _, m := range slices.Compact(used) {
		if !strings.Contains(records.String(), "`"+m+"`") {
			out = append(out, fmt.Sprintf("go.mod uses %s, but no docs/adr/*.md names it: add a record, or do without", m))
		}
	}
	return out, nil
}

func TestModulesAreApproved(t *testing.T) {
	out, err := unapproved(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range out {
		t.Error(v)
	}
}

func TestUnapprovedModulesAreSeen(t *testing.T) {
	got, err := unapproved(fstest.MapFS{
		"go.mod": {Data: []byte("module m\n\ngo 1.26\n\nrequire example.com/one v1.0.0\n\nrequire (\n" +
			"\texample.com/two v1.0.0 // a word\n\texample.com/three v1.0.0 // indirect\n\texample.com/four v1.0.0 // indirect\n)\n" +
			"\ntool example.com/five/cmd\n")},
		"docs/adr/0001-x.md": {Data: []byte("We take `example.com/one` and not `example.com/twofold`.")},
		"p/p.go":             {Data: []byte("package p\nimport _ \"example.com/three/sub\"\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"go.mod uses example.com/three, but no docs/adr/*.md names it: add a record, or do without",
		"go.mod uses example.com/two, but no docs/adr/*.md names it: add a record, or do without",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
