package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// file is one Go file and what it imports.
type file struct {
	name    string
	dir     string
	test    bool
	imports []string
}

// goFiles reads the imports of all Go files of the module at the root of
// fsys, whatever their build tags. Nested modules and testdata are left out.
func goFiles(fsys fs.FS) (files []file, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == "." {
				return nil
			}
			_, nested := fs.Stat(fsys, path.Join(name, "go.mod"))
			if base := d.Name(); nested == nil || base == "testdata" || base[0] == '.' || base[0] == '_' {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := readFile(fsys, name)
		files = append(files, f)
		return err
	})
	return files, err
}

func readFile(fsys fs.FS, name string) (file, error) {
	f := file{name: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go")}
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return f, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if err != nil {
		return f, err
	}
	for _, spec := range parsed.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return f, fmt.Errorf("%s: %w", name, err)
		}
		f.imports = append(f.imports, imp)
	}
	return f, nil
}

// violations compares files of the given module with a table of rows.
func violations(module string, files []file, table map[string]row) (out []string) {
	for _, f := range files {
		r, ok := table[f.dir]
		if !ok {
			out = append(out, fmt.Sprintf("%s: package %s has no row in internal/archtest/table_test.go: add one, with a reason", f.name, f.dir))
			continue
		}
		for _, imp := range f.imports {
			if !r.allows(module, f, imp) {
				out = append(out, fmt.Sprintf("%s: package %s may not import %s", f.name, f.dir, imp))
			}
		}
	}
	return out
}

// allows reports whether f, of the package that r is about, may import imp.
func (r row) allows(module string, f file, imp string) bool {
	name, ours := strings.CutPrefix(imp, module+"/") // there is no package at the root
	switch {
	case f.test && (slices.Contains(forTests, name) || slices.Contains(r.tests, name) || ours && name == f.dir):
		return true
	case ours:
		return slices.Contains(r.ours, anything) || slices.Contains(r.ours, name)
	case isStandard(imp):
		return r.std == nil || f.test || slices.Contains(r.std, imp)
	}
	return slices.ContainsFunc(r.modules, func(m string) bool { return m == anything || within(imp, m) })
}

// isStandard tells the standard library by what the go command goes by: the
// first element of any other path has a dot.
func isStandard(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !strings.Contains(first, ".")
}

// within reports whether imp is the module m or one of its packages.
func within(imp, m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") }

func TestArrows(t *testing.T) {
	files, err := goFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations(modulePath(t), files, table) {
		t.Error(v)
	}
}

// The check itself must be able to fail, once for each kind of arrow.
func TestArrowsAreSeen(t *testing.T) {
	src := func(imports ...string) *fstest.MapFile {
		var b strings.Builder
		b.WriteString("package p\n")
		for _, i := range imports {
			fmt.Fprintf(&b, "import _ %q\n", i)
		}
		return &fstest.MapFile{Data: []byte(b.String())}
	}
	files, err := goFiles(fstest.MapFS{
		"low/low.go":         src("os", "example.com/good", "example.com/good/sub"),
		"low/up.go":          src("m/high"),
		"low/module.go":      src("example.com/goods"),
		"low/up_test.go":     src("m/low", "m/store/memory", "m/kit", "pgregory.net/rapid"),
		"low/bad_test.go":    src("m/high"),
		"low/testdata/x.go":  src("m/high"),
		"pure/pure.go":       src("fmt", "os"),
		"pure/pure_test.go":  src("os"),
		"high/high.go":       src("m/low", "m/pure", "example.com/any"),
		"high/deep/new.go":   src("fmt"),
		"nested/go.mod":      {Data: []byte("module n")},
		"nested/n.go":        src("m/high"),
		"high/.hidden/no.go": src("m/high"),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := violations("m", files, map[string]row{
		"low":  {modules: []string{"example.com/good"}, tests: []string{"kit"}},
		"pure": {std: []string{"fmt"}},
		"high": {ours: []string{anything}, modules: []string{anything}},
	})
	want := []string{
		"high/deep/new.go: package high/deep has no row in internal/archtest/table_test.go: add one, with a reason",
		"low/bad_test.go: package low may not import m/high",
		"low/module.go: package low may not import example.com/goods",
		"low/up.go: package low may not import m/high",
		"pure/pure.go: package pure may not import os",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
