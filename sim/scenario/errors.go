package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Error is one mistake in a file.
type Error struct {
	File      string
	Line, Col int    // from 1; columns count characters
	Text      string // the offending text, or what it belongs to if something is missing
	Problem   string // such as "unknown field"
	Want      string // what was expected; "" if Problem says it
	Near      string // a known word that is close to Text; "" for none
}

// Error prints e on one line, as editors and CI systems understand it.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %q: %s", e.File, e.Line, e.Col, shorten(e.Text), e.Problem)
	if e.Want != "" {
		s += ", want " + e.Want
	}
	if e.Near != "" {
		s += fmt.Sprintf(" (did you mean %q?)", e.Near)
	}
	return s
}

// Errors are all mistakes of a file, in the order of their places.
type Errors []*Error

// Error prints a line per mistake.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, m := range e {
		lines[i] = m.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes one by one.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, m := range e {
		out[i] = m
	}
	return out
}

func (e Errors) sort() {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}

// shorten keeps an offending text within a line of a terminal.
func shorten(s string) string {
	const limit = 60
	if first, _, more := strings.Cut(s, "\n"); more {
		s = first + "…"
	}
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// near returns the known word closest to s, or "" if none is close enough to
// be what was meant.
func near(s string, known []string) string {
	known = known[:min(len(known), 1000)] // a scenario may have very many jobs
	best, least := "", max(1, utf8.RuneCountInString(s)/3)+1
	for _, k := range known {
		if d := distance(s, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > 64 || len(t) > 64 {
		return 64 // nobody's typing mistake
	}
	before, row := make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(s); i++ {
		next := make([]int, len(t)+1)
		next[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(t)]
}

// listed joins words for a sentence, a few of many.
func listed(words []string) string {
	const most = 30
	if len(words) > most {
		return strings.Join(words[:most], ", ") + ", …"
	}
	return strings.Join(words, ", ")
}
