package scenario

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"backwave/sim"
)

// Format writes sc as a file that Parse reads back equal; with a header that
// has a version it is a plan. What has its default is left out. The text
// depends on the arguments alone.
//
// Values that no file can produce (a negative duration where none is allowed,
// a name of several lines) are written all the same, and refused by Parse.
func Format(sc *sim.Scenario, header Header) []byte {
	doc := document{Plan: header, Scenario: *sc}
	n := record{scenarioTable()}.write(reflect.ValueOf(&doc).Elem())
	var b strings.Builder
	writeBlock(&b, n, "")
	return []byte(b.String())
}

// textNode returns text to be written, in quotes where YAML needs them.
func textNode(s string) *node { return &node{shape: text, text: s} }

// plainNode returns a number, boolean or duration to be written as it is.
func plainNode(s string) *node { return &node{shape: number, text: s} }

// writeBlock writes a mapping over several lines.
func writeBlock(b *strings.Builder, n *node, indent string) {
	for i, p := range n.pairs {
		if i > 0 {
			b.WriteString(indent)
		}
		b.WriteString(quoted(p.key.text) + ":")
		v := p.value
		switch {
		case v.shape == text && tame(v.text):
			writeLines(b, v.text, indent+"  ")
		case v.shape == mapping && v.block:
			b.WriteString("\n" + indent + "  ")
			writeBlock(b, v, indent+"  ")
		case v.shape == list && len(v.items) > 0 && v.items[0].shape == mapping:
			b.WriteString("\n")
			writeList(b, v, indent+"  ")
		default:
			b.WriteString(" " + flow(v) + "\n")
		}
	}
}

// writeList writes an entry per line, or several lines for a long one.
func writeList(b *strings.Builder, n *node, indent string) {
	for _, item := range n.items {
		b.WriteString(indent + "- ")
		if item.block {
			writeBlock(b, item, indent+"  ")
			continue
		}
		b.WriteString(flow(item) + "\n")
	}
}

// flow writes n on one line.
func flow(n *node) string {
	switch n.shape {
	case list:
		parts := make([]string, len(n.items))
		for i, item := range n.items {
			parts[i] = flow(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case mapping:
		parts := make([]string, len(n.pairs))
		for i, p := range n.pairs {
			parts[i] = quoted(p.key.text) + ": " + flow(p.value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case text:
		return quoted(n.text)
	case null, boolean, number:
	}
	return n.text
}

var (
	bare     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)
	reserved = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|inf|nan)$`)
	ranged   = regexp.MustCompile(`^[0-9]+\.\.[0-9]*$`)
)

// quoted returns s in quotes, unless every reader of YAML takes it for text.
func quoted(s string) string {
	if (bare.MatchString(s) && !reserved.MatchString(s)) || ranged.MatchString(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String() + `"`
}

// tame reports whether s can be written as it is over several lines.
func tame(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(s, "\n") || strings.HasSuffix(body, "\n") || strings.HasPrefix(body, " ") || strings.HasPrefix(body, "\n") || body == "" {
		return false
	}
	for line := range strings.SplitSeq(body, "\n") {
		if strings.TrimRight(line, " ") != line || strings.ContainsFunc(line, unprintable) {
			return false
		}
	}
	return true
}

func writeLines(b *strings.Builder, s, indent string) {
	body, ends := strings.CutSuffix(s, "\n")
	b.WriteString(" |")
	if !ends {
		b.WriteByte('-')
	}
	b.WriteByte('\n')
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			b.WriteString(indent + line)
		}
		b.WriteByte('\n')
	}
}
