package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// place is a position in a file.
type place struct{ line, column int }

// mistake is something wrong with a file, at a place.
type mistake struct {
	file string
	place
	text string
}

// Error implements error.
func (m *mistake) Error() string {
	if m.place == (place{}) { // of something that has no lines
		return m.file + ": " + m.text
	}
	return fmt.Sprintf("%s:%d:%d: %s", m.file, m.line, m.column, m.text)
}

// reader reads a YAML file field by field and collects what is wrong with it,
// so that one run reports every mistake.
type reader struct {
	file     string
	mistakes []*mistake
	env      environment // what overrides fields of the file
	used     []string    // variables that did
	known    []string    // fields that any mapping so far may have
}

// field is one key that a mapping may have, and what reads its value.
type field struct {
	name string
	read func(*reader, ast.Node)
}

// parse returns the one document of a file, nil if it cannot be parsed.
func (r *reader) parse(text []byte) ast.Node {
	f, err := parser.ParseBytes(withoutMark(text), 0)
	if err != nil {
		if e, ok := errors.AsType[*yaml.SyntaxError](err); ok {
			r.bad(of(e.Token), "near %q: %s", strings.TrimSpace(e.Token.Value), e.Message)
			return nil
		}
		r.bad(place{1, 1}, "%v", err)
		return nil
	}
	switch {
	case len(f.Docs) == 0 || f.Docs[0].Body == nil:
		r.bad(place{1, 1}, "the file is empty")
		return nil
	case len(f.Docs) > 1:
		r.bad(at(f.Docs[1].Body), "a second document begins, want one")
		return nil
	}
	return f.Docs[0].Body
}

// err returns every mistake, in the order of the file.
func (r *reader) err() error {
	slices.SortStableFunc(r.mistakes, func(a, b *mistake) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	errs := make([]error, len(r.mistakes))
	for i, m := range r.mistakes {
		errs[i] = m
	}
	return errors.Join(errs...)
}

func (r *reader) bad(p place, format string, args ...any) {
	r.mistakes = append(r.mistakes, &mistake{r.file, p, fmt.Sprintf(format, args...)})
}

func of(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{t.Position.Line, t.Position.Column}
}

// at returns where n begins.
func at(n ast.Node) place {
	if n == nil {
		return place{1, 1}
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return at(m.Values[0].Key)
	}
	return of(n.GetToken())
}

// shown returns the offending text as a person finds it in the file.
func shown(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.LiteralNode:
		return fmt.Sprintf("%q", n.Value.Value)
	default:
		return fmt.Sprintf("%q", n.GetToken().Value)
	}
}

// pairs returns the entries of a mapping.
func (r *reader) pairs(n ast.Node, what string) []*ast.MappingValueNode {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		r.bad(at(n), "%s is %s, want a mapping", what, shown(n))
		return nil
	}
	return m.Values
}

// mapping reads the fields of what, in the order of the file.
func (r *reader) mapping(n ast.Node, what string, fields []field) {
	for _, f := range fields {
		r.known = append(r.known, f.name)
	}
	for _, p := range r.pairs(n, what) {
		key := p.Key.GetToken().Value
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if i < 0 {
			names := make([]string, len(fields))
			for i, f := range fields {
				names[i] = f.name
			}
			r.bad(at(p.Key), "unknown field %q of %s, want one of %s", key, what, strings.Join(names, ", "))
			continue
		}
		fields[i].read(r, p.Value)
	}
}

// list reads the elements of what.
func (r *reader) list(n ast.Node, what string, read func(ast.Node)) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.bad(at(n), "%s is %s, want a list", what, shown(n))
		return
	}
	for _, v := range s.Values {
		read(v)
	}
}

func (r *reader) text(n ast.Node, what string, to *string) {
	switch n := n.(type) {
	case *ast.StringNode:
		*to = n.Value
	case *ast.LiteralNode:
		*to = n.Value.Value
	default:
		r.bad(at(n), "%s is %s, want text%s", what, shown(n), quoteHint(n))
	}
}

// oneOf reads one of a few words.
func (r *reader) oneOf(n ast.Node, what string, to *string, words ...string) {
	before, was := len(r.mistakes), *to
	if r.text(n, what, to); len(r.mistakes) == before && !slices.Contains(words, *to) {
		r.bad(at(n), "%s is %q, want %s", what, *to, orList(words))
		*to = was
	}
}

// orList joins words as a sentence does.
func orList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// quoteHint helps those who wrote a number or a word that YAML takes for
// something else.
func quoteHint(n ast.Node) string {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return fmt.Sprintf(` such as "%s" in quotes`, n.GetToken().Value)
	}
	return ""
}

func (r *reader) integer(n ast.Node, what string, to *int) {
	if i, ok := n.(*ast.IntegerNode); ok {
		switch v := i.Value.(type) {
		case int64:
			*to = int(v)
			return
		case uint64:
			if v <= 1<<62 {
				*to = int(v)
				return
			}
		}
	}
	r.bad(at(n), "%s is %s, want a whole number", what, shown(n))
}

func (r *reader) boolean(n ast.Node, what string, to *bool) {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		r.bad(at(n), "%s is %s, want true or false", what, shown(n))
		return
	}
	*to = b.Value
}

func (r *reader) duration(n ast.Node, what string, to *time.Duration) {
	if s, ok := n.(*ast.StringNode); ok {
		if d, err := time.ParseDuration(s.Value); err == nil {
			*to = d
			return
		}
	}
	r.bad(at(n), "%s is %s, want a duration such as 500ms, 30s or 5m", what, shown(n))
}
