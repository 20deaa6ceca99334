package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// printer prints rows: as a table for people, or one JSON object a line.
type printer struct {
	table *tabwriter.Writer
	json  *json.Encoder
	head  string // of the table, until it is printed
	err   error
}

func newPrinter(to io.Writer, format string, head ...string) *printer {
	if format == "json" {
		e := json.NewEncoder(to)
		e.SetEscapeHTML(false)
		return &printer{json: e}
	}
	return &printer{table: tabwriter.NewWriter(to, 0, 8, 2, ' ', 0), head: strings.Join(head, "\t")}
}

// row prints v, or the cells that show it in a table.
func (p *printer) row(v any, cells ...string) {
	if p.err != nil {
		return
	}
	if p.json != nil {
		p.err = p.json.Encode(v)
		return
	}
	if p.head != "" {
		fmt.Fprintln(p.table, strings.TrimRight(p.head, "\t"))
		p.head = ""
	}
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	_, p.err = fmt.Fprintln(p.table, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// flush ends the output.
func (p *printer) flush() error {
	if p.err == nil && p.table != nil {
		p.err = p.table.Flush()
	}
	if p.err != nil {
		return fmt.Errorf("standard output: %w", p.err)
	}
	return nil
}

// printable quotes text that would do something to a terminal, or to a table.
func printable(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool { return unicode.IsControl(c) || c == unicode.ReplacementChar }) {
		return strconv.Quote(s)
	}
	return s
}

// harmless writes control characters as Go does, except newlines and tabs: what
// a job says must not steer the terminal of whoever reads it.
func harmless(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1: // a byte that is no text may be a control character elsewhere
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// firstLine returns what a table has room for.
func firstLine(s string) string {
	s, rest, more := strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	if more && rest != "" {
		return s + " …"
	}
	return s
}
