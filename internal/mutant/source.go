package mutant

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// source is one file that has mutants.
type source struct {
	name    string // as in Mutant.File
	pkg     string // name of its package
	text    []byte
	fset    *token.FileSet
	tree    *ast.File
	targets []*target
	mutated []byte // what takes its place
	copies  []span // where in it which copy stands
	written string // the file that holds it
}

// target is one function that has mutants.
type target struct {
	decl    *ast.FuncDecl
	numbers []int    // of its mutants, counted from 1 over all
	bodies  [][]byte // theirs, in the same order
}

// span is a range of lines, both ends included.
type span struct {
	first, last int
	mutant      Mutant
}

// plant makes the mutated text of every file that ms name, in the order in
// which they name them.
func plant(root string, ms []Mutant) ([]*source, error) {
	var files []*source
	var errs []error
	names := map[string]bool{}
	for i, m := range ms {
		if names[m.Name] {
			errs = append(errs, m.errorf("another mutant has this name"))
			continue
		}
		names[m.Name] = true
		if err := m.validate(); err != nil {
			errs = append(errs, err)
			continue
		}
		k := slices.IndexFunc(files, func(s *source) bool { return s.name == m.File })
		if k < 0 {
			s, err := readSource(root, m.File)
			if err != nil {
				errs = append(errs, m.errorf("%v", err))
				continue
			}
			k = len(files)
			files = append(files, s)
		}
		if err := files[k].add(i+1, m); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for _, s := range files {
		s.write(ms)
	}
	return files, nil
}

// errorf makes an error that tells where m was to be planted.
func (m Mutant) errorf(format string, args ...any) error {
	return fmt.Errorf("mutant %s: %s: func %s: %s", m.Name, m.File, m.Func, fmt.Sprintf(format, args...))
}

func (m Mutant) validate() error {
	switch {
	case !regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`).MatchString(m.Name):
		return m.errorf("name %q: want lower-case letters, digits and hyphens", m.Name)
	case !filepath.IsLocal(filepath.FromSlash(m.File)) || !strings.HasSuffix(m.File, ".go") || strings.HasSuffix(m.File, "_test.go"):
		return m.errorf("file: want a Go file below the root that is no test")
	case strings.TrimSpace(m.Old) == "":
		return m.errorf("no old text")
	case slices.Equal(strings.Fields(m.Old), strings.Fields(m.New)):
		return m.errorf("the new text is the old one")
	}
	return nil
}

func readSource(root, name string) (*source, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	s := &source{name: name, text: text, fset: token.NewFileSet()}
	s.tree, err = parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s.pkg = s.tree.Name.Name
	return s, nil
}

// add plants m, which is the n-th of all.
func (s *source) add(n int, m Mutant) error {
	decl, err := s.find(m)
	if err != nil {
		return err
	}
	body := s.slice(decl.Body)
	at := anchor(m.Old).FindAllIndex(body, -1)
	if len(at) != 1 {
		return m.errorf("old text occurs %d times in the body, want once: %s", len(at), m.Old)
	}
	changed := slices.Concat(body[:at[0][0]], []byte(m.New), body[at[0][1]:])
	if _, err := parser.ParseFile(token.NewFileSet(), "", "package p; func f() "+string(changed), parser.SkipObjectResolution); err != nil {
		return m.errorf("the changed body is no Go: %v", err)
	}
	k := slices.IndexFunc(s.targets, func(t *target) bool { return t.decl == decl })
	if k < 0 {
		k = len(s.targets)
		s.targets = append(s.targets, &target{decl: decl})
	}
	t := s.targets[k]
	t.numbers = append(t.numbers, n)
	t.bodies = append(t.bodies, changed)
	return nil
}

// anchor matches old with any white space for its white space.
func anchor(old string) *regexp.Regexp {
	words := strings.Fields(old)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	return regexp.MustCompile(strings.Join(words, `\s+`))
}

// find returns the function that m names.
func (s *source) find(m Mutant) (*ast.FuncDecl, error) {
	recv, name, method := strings.Cut(m.Func, ".")
	if !method {
		recv, name = "", m.Func
	}
	recv = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(recv, "("), ")"), "*")
	for _, d := range s.tree.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Name.Name != name || receiver(decl) != recv {
			continue
		}
		if why := unfit(decl); why != "" {
			return nil, m.errorf("%s", why)
		}
		return decl, nil
	}
	return nil, m.errorf("the file has no such function")
}

// receiver returns the name of the receiver's type, "" for a plain function.
func receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return ""
	}
	t := decl.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.ParenExpr:
			t = x.X
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// unfit returns why a function cannot have mutants, "" if it can.
func unfit(decl *ast.FuncDecl) (why string) {
	if decl.Body == nil {
		return "the function has no body"
	}
	if decl.Recv == nil && (decl.Name.Name == "init" || decl.Name.Name == "_") {
		return "a function that cannot be called cannot be copied"
	}
	if decl.Type.TypeParams != nil {
		for _, f := range decl.Type.TypeParams.List {
			for _, n := range f.Names {
				if n.Name == "_" {
					return "a type parameter has no name"
				}
			}
		}
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // its recover is its own
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "recover" {
				why = "it calls recover, which works one call deep only"
			}
		}
		return true
	})
	return why
}

// slice returns the text of n.
func (s *source) slice(n ast.Node) []byte {
	return s.text[s.offset(n.Pos()):s.offset(n.End())]
}

func (s *source) offset(p token.Pos) int { return s.fset.PositionFor(p, false).Offset }
