package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// environment holds the variables of the process that begin with BW_.
type environment map[string]string

func processEnvironment() environment {
	e := environment{}
	for _, kv := range os.Environ() {
		if k, v, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(k, "BW_") {
			e[k] = v
		}
	}
	return e
}

// groupPrefix begins the variables that set fields of groups.
const groupPrefix = "BW_GROUP_"

// groupVariable names the variable that sets a field of a group.
func groupVariable(group, field string) string {
	return groupPrefix + shout(group) + "_" + shout(field)
}

// shout spells a name as variables are spelled.
func shout(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '_'
	}, s)
}

// override reads a field from the variable if that is set, whatever the file
// said.
func (r *reader) override(variable string, read func(*reader, ast.Node)) {
	value, ok := r.env[variable]
	if !ok {
		return
	}
	r.used = append(r.used, variable)
	v := &reader{file: variable}
	read(v, scalar(value))
	for _, m := range v.mistakes {
		m.place = place{} // it has none
		r.mistakes = append(r.mistakes, m)
	}
}

// unknownVariables finds misspelled variables: those of groups that are not
// there, or of fields that no group has.
func (r *reader) unknownVariables() {
	for _, k := range slices.Sorted(maps.Keys(r.env)) {
		if strings.HasPrefix(k, groupPrefix) && !slices.Contains(r.used, k) {
			r.mistakes = append(r.mistakes, &mistake{file: k, text: "sets no field of any group, want " + groupPrefix + "<group>_<field>"})
		}
	}
}

// scalar returns value as YAML reads it if that is a number or a word such as
// true, and else as text, whatever is in it.
func scalar(value string) ast.Node {
	if f, err := parser.ParseBytes([]byte(value), 0); err == nil && len(f.Docs) == 1 {
		switch n := f.Docs[0].Body.(type) {
		case *ast.IntegerNode, *ast.BoolNode:
			return n
		}
	}
	return ast.String(token.New(value, value, &token.Position{Line: 1, Column: 1}))
}

// secret returns what is in a variable, or in the file that is named by the
// variable with _FILE behind it. "" is neither.
func (e environment) secret(variable string) (string, error) {
	value, direct := e[variable]
	file, byFile := e[variable+"_FILE"]
	switch {
	case direct && byFile:
		return "", fmt.Errorf("%s and %s_FILE are both set, want one of them", variable, variable)
	case byFile:
		text, err := readSecret(file)
		if err != nil {
			return "", fmt.Errorf("%s_FILE: %w", variable, err)
		}
		return text, nil
	}
	return value, nil
}

// readSecret returns the text of a file without the newline at its end.
func readSecret(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(b), "\r\n")
	if text == "" {
		return "", fmt.Errorf("%s is empty", file)
	}
	return text, nil
}
