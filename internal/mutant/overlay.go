package mutant

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// selectorFile is what the overlay adds to every package that has mutants, and
// active the variable in it that holds the number of the active one.
const (
	selectorFile = "zz_bwmutant.go"
	active       = "bwMutantActive"
)

// selectorText is the content of selectorFile.
func selectorText(pkg string, ms []Mutant) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "package %s\n\nimport bwMutantOS \"os\"\n\n", pkg)
	fmt.Fprintf(&b, "var %s = func() int {\n\tswitch name := bwMutantOS.Getenv(%q); name {\n\tcase \"\":\n\t\treturn 0\n", active, Variable)
	for i, m := range ms {
		fmt.Fprintf(&b, "\tcase %q:\n\t\treturn %d\n", m.Name, i+1)
	}
	fmt.Fprintf(&b, "\tdefault:\n\t\tbwMutantOS.Stderr.WriteString(\"%s: there is no mutant \" + name + \"\\n\")\n\t\tbwMutantOS.Exit(3)\n\t\treturn 0\n\t}\n}()\n", Variable)
	return b.Bytes()
}

// write makes s.mutated: the file as it is, but for the names of the functions
// that have mutants, so that every line of it stays where it was; behind it
// the dispatchers and copies.
func (s *source) write(ms []Mutant) {
	slices.SortStableFunc(s.targets, func(a, b *target) int { return int(a.decl.Pos()) - int(b.decl.Pos()) })
	var b bytes.Buffer
	from := 0
	for _, t := range s.targets {
		at := s.offset(t.decl.Name.Pos())
		b.Write(s.text[from:at])
		b.WriteString(copyName(t.decl, 0))
		from = s.offset(t.decl.Name.End())
	}
	b.Write(s.text[from:])
	b.WriteByte('\n')
	for _, t := range s.targets {
		s.writeDispatcher(&b, t)
		for i, n := range t.numbers {
			first := bytes.Count(b.Bytes(), []byte("\n")) + 1
			b.Write(s.text[s.offset(t.decl.Type.Pos()):s.offset(t.decl.Name.Pos())])
			b.WriteString(copyName(t.decl, n))
			b.Write(s.text[s.offset(t.decl.Name.End()):s.offset(t.decl.Body.Pos())])
			b.Write(t.bodies[i])
			b.WriteString("\n\n")
			s.copies = append(s.copies, span{first, bytes.Count(b.Bytes(), []byte("\n")), ms[n-1]})
		}
	}
	s.mutated = b.Bytes()
}

// copyName is the name of the copy of a function for the n-th mutant; n = 0 is
// the function itself.
func copyName(decl *ast.FuncDecl, n int) string {
	return fmt.Sprintf("bwMutant%d_%s", n, decl.Name.Name)
}

// writeDispatcher writes the function that takes the place of t's.
func (s *source) writeDispatcher(b *bytes.Buffer, t *target) {
	decl := t.decl
	var args []string
	b.WriteString("func ")
	on := ""
	if decl.Recv != nil {
		fmt.Fprintf(b, "(bwRecv %s) ", s.slice(decl.Recv.List[0].Type))
		on = "bwRecv."
	}
	b.WriteString(decl.Name.Name)
	instance := ""
	if tp := decl.Type.TypeParams; tp != nil {
		b.Write(s.slice(tp))
		var names []string
		for _, f := range tp.List {
			for _, n := range f.Names {
				names = append(names, n.Name)
			}
		}
		instance = "[" + strings.Join(names, ", ") + "]"
	}
	b.WriteByte('(')
	for _, f := range decl.Type.Params.List {
		for range max(1, len(f.Names)) {
			arg := fmt.Sprintf("bwArg%d", len(args))
			fmt.Fprintf(b, "%s %s, ", arg, s.slice(f.Type))
			if _, ok := f.Type.(*ast.Ellipsis); ok {
				arg += "..."
			}
			args = append(args, arg)
		}
	}
	b.WriteString(") (")
	returns := false
	if decl.Type.Results != nil {
		for _, f := range decl.Type.Results.List {
			for range max(1, len(f.Names)) {
				fmt.Fprintf(b, "%s, ", s.slice(f.Type))
				returns = true
			}
		}
	}
	fmt.Fprintf(b, ") {\n\tswitch %s {\n", active)
	call := func(n int) string {
		return fmt.Sprintf("%s%s%s(%s)", on, copyName(decl, n), instance, strings.Join(args, ", "))
	}
	for _, n := range append(slices.Clone(t.numbers), 0) {
		label := "default"
		if n > 0 {
			label = "case " + strconv.Itoa(n)
		}
		if returns {
			fmt.Fprintf(b, "\t%s:\n\t\treturn %s\n", label, call(n))
		} else {
			fmt.Fprintf(b, "\t%s:\n\t\t%s\n", label, call(n))
		}
	}
	b.WriteString("\t}\n}\n\n")
}

// complaint is a line of the compiler.
var complaint = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):(?:\d+:)? (.*)$`)

// blame tells whose copies the compiler complains of in out; nil if of none.
func blame(root string, files []*source, out string) error {
	var errs []error
	for _, c := range complaint.FindAllStringSubmatch(out, -1) {
		path := c[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		line, err := strconv.Atoi(c[2])
		if err != nil {
			continue // longer than any file
		}
		for _, f := range files {
			if f.written != path {
				continue
			}
			for _, s := range f.copies {
				if s.first <= line && line <= s.last {
					errs = append(errs, s.mutant.errorf("does not compile: %s", c[3]))
				}
			}
		}
	}
	return errors.Join(errs...)
}
