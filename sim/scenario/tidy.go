package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Tidy writes a file as Format would, and keeps its comments: each stands above
// what it stood above, or beside. The result reads back equal, and tidied again
// it stays as it is. An error is of type Errors, as of Parse.
func Tidy(file string, src []byte) ([]byte, error) {
	sc, header, err := ParsePlan(file, src)
	if err != nil {
		return nil, err
	}
	out := Format(sc, header)
	comments := commentsOf(src)
	if len(comments) == 0 {
		return out, nil
	}
	from, to := placesOf(file, src), placesOf(file, out)
	above := map[int][]string{} // by line of out; the one behind the last holds what comes last
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for _, c := range comments {
		line := len(lines) + 1
		if path := pathAt(from, c); path != "" {
			line = lineOf(to, path)
		}
		if c.line < from[0].line {
			line = 1
		}
		above[line] = append(above[line], c.text)
	}
	var b strings.Builder
	for i, l := range lines {
		writeComments(&b, above[i+1], l[:len(l)-len(strings.TrimLeft(l, " "))])
		b.WriteString(l + "\n")
	}
	writeComments(&b, above[len(lines)+1], "")
	return []byte(b.String()), nil
}

func writeComments(b *strings.Builder, comments []string, indent string) {
	for _, c := range comments {
		b.WriteString(indent + "#" + c + "\n")
	}
}

// comment is one comment of a file.
type comment struct {
	line   int
	beside bool // something stands before it on its line
	text   string
}

func commentsOf(src []byte) (out []comment) {
	last := 0 // line of the last token that is none
	for _, t := range lexer.Tokenize(string(src)) {
		if t.Type == token.CommentType {
			out = append(out, comment{t.Position.Line, t.Position.Line == last, strings.TrimRight(t.Value, " \r")})
			continue
		}
		last = t.Position.Line
	}
	return out
}

// spot is a part of a file and where it begins.
type spot struct {
	path string
	line int
}

// placesOf lists the parts of a file that reads without a mistake, in their
// order in the text.
func placesOf(file string, src []byte) (out []spot) {
	var walk func(n *node, path string)
	walk = func(n *node, path string) {
		for i, item := range n.items {
			p := fmt.Sprintf("%s/%d", path, i)
			out = append(out, spot{p, item.line})
			walk(item, p)
		}
		for _, kv := range n.pairs {
			p := path + "/" + kv.key.text
			out = append(out, spot{p, kv.key.line})
			walk(kv.value, p)
		}
	}
	walk((&decoder{file: file}).load(src), "")
	slices.SortStableFunc(out, func(a, b spot) int { return a.line - b.line })
	return out
}

// pathAt returns the part that c is about: the first on its line, or the next
// after it; "" if nothing follows.
func pathAt(places []spot, c comment) string {
	for _, p := range places {
		if p.line > c.line || p.line == c.line && c.beside {
			return p.path
		}
	}
	return ""
}

// lineOf returns where the part at path begins, or the nearest around it that is
// still there: what has its default is not written.
func lineOf(places []spot, path string) int {
	for {
		if i := slices.IndexFunc(places, func(p spot) bool { return p.path == path }); i >= 0 {
			return places[i].line
		}
		cut := strings.LastIndexByte(path, '/')
		if cut <= 0 {
			return 1
		}
		path = path[:cut]
	}
}
