package scenario

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// shape is what a node of a file is.
type shape uint8

const (
	null shape = iota
	boolean
	number // an integer
	text   // anything else that is not a list or a mapping
	list
	mapping
)

// String names s for people.
func (s shape) String() string {
	return [...]string{"nothing", "a boolean", "a number", "text", "a list", "a mapping"}[s]
}

// node is a part of a file, read or to be written.
type node struct {
	shape     shape
	line, col int
	text      string // of a scalar
	items     []*node
	pairs     []pair
	block     bool // to be written over several lines
}

type pair struct{ key, value *node }

// shown is how an error quotes n.
func (n *node) shown() string {
	switch {
	case n.shape == list:
		return "[…]"
	case n.shape == mapping && len(n.pairs) > 0:
		return "{" + n.pairs[0].key.text + ": …}"
	case n.shape == mapping:
		return "{}"
	}
	return n.text
}

func (n *node) find(key string) *node {
	for _, p := range n.pairs {
		if p.key.text == key {
			return p.value
		}
	}
	return nil
}

const (
	maxFile  = 4 << 20 // bytes
	maxDepth = 40      // levels of nesting; the language needs 6
)

// load turns the text of a file into nodes.
func (d *decoder) load(src []byte) (root *node) {
	start := &node{line: 1, col: 1}
	if len(src) > maxFile {
		d.fail(start, d.file, fmt.Sprintf("has %d bytes", len(src)), fmt.Sprintf("at most %d", maxFile))
		return nil
	}
	if line, deep := tooDeep(src); deep {
		d.fail(&node{line: line, col: 1}, d.file, "is nested too deeply", fmt.Sprintf("at most %d levels", maxDepth))
		return nil
	}
	defer func() { // the YAML parser has met files that made it panic
		if v := recover(); v != nil {
			d.fail(start, d.file, fmt.Sprintf("not YAML: %v", v), "")
			root = nil
		}
	}()
	f, err := parser.ParseBytes(src, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		at, what := start, err.Error()
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) {
			at, what = place(syntax.Token), syntax.Message
		}
		d.fail(at, at.text, "not YAML: "+what, "")
		return nil
	}
	for _, doc := range f.Docs {
		if doc == nil || doc.Body == nil {
			continue
		}
		if root != nil {
			d.fail(place(doc.Body.GetToken()), "---", "a second document", "one scenario in a file")
			break
		}
		root = d.convert(doc.Body)
	}
	if root == nil {
		d.fail(start, "", "the file is empty", "a scenario")
	}
	return root
}

// tooDeep counts what can open a level, roughly and cheaply: the time and the
// stack that the YAML parser takes grow too fast with the depth of a file.
func tooDeep(src []byte) (line int, deep bool) {
	line = 1
	open, dashes, fresh := 0, 0, true // fresh: only blanks and dashes so far on this line
	for i, c := range src {
		switch c {
		case '\n':
			line, fresh, dashes = line+1, true, 0
		case ' ', '\t':
			if fresh && i > 0 && (src[i-1] == '-' || src[i-1] == '?' || src[i-1] == ':') {
				dashes++
			}
		case '-', '?', ':':
		case '[', '{':
			open, fresh = open+1, false
		case ']', '}':
			open, fresh = max(0, open-1), false
		default:
			fresh = false
		}
		if open > maxDepth || dashes > maxDepth {
			return line, true
		}
	}
	return 0, false
}

// place returns a scalar node that stands where t does.
func place(t *token.Token) *node {
	n := &node{line: 1, col: 1, shape: text}
	if t != nil {
		n.text = t.Value
		if t.Position != nil {
			n.line, n.col = max(1, t.Position.Line), max(1, t.Position.Column)
		}
	}
	return n
}

// convert turns the parser's tree into nodes; what the language does not have
// is reported.
func (d *decoder) convert(a ast.Node) *node {
	n := place(a.GetToken())
	switch a := a.(type) {
	case *ast.NullNode:
		n.shape = null
	case *ast.BoolNode:
		n.shape = boolean
	case *ast.IntegerNode:
		n.shape = number
	case *ast.StringNode:
		n.text = a.Value
	case *ast.LiteralNode:
		if a.Value != nil {
			n.text = a.Value.Value
		}
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
	case *ast.MappingNode:
		n.shape, n.text = mapping, ""
		for i, v := range a.Values {
			d.addPair(n, v)
			if i == 0 && !a.IsFlowStyle {
				n.line, n.col = n.pairs[0].key.line, n.pairs[0].key.col
			}
		}
	case *ast.MappingValueNode:
		n.shape, n.text = mapping, ""
		d.addPair(n, a)
		n.line, n.col = n.pairs[0].key.line, n.pairs[0].key.col
	case *ast.SequenceNode:
		n.shape, n.text = list, ""
		for _, v := range a.Values {
			n.items = append(n.items, d.convert(v))
		}
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		d.fail(n, n.text, "anchors, aliases, tags and merge keys are not part of the language", "plain YAML")
		n.shape = null
	default:
		d.fail(n, n.text, "not part of the language", "plain YAML")
		n.shape = null
	}
	return n
}

func (d *decoder) addPair(n *node, v *ast.MappingValueNode) {
	key := place(v.Key.GetToken())
	switch k := v.Key.(type) {
	case *ast.StringNode:
		key.text = k.Value
	case *ast.IntegerNode, *ast.BoolNode, *ast.NullNode, *ast.FloatNode:
	default:
		d.fail(key, key.text, "not a key of the language", "a plain word before the colon")
	}
	value := &node{shape: null, line: key.line, col: key.col}
	if v.Value != nil {
		value = d.convert(v.Value)
	}
	n.pairs = append(n.pairs, pair{key, value})
}
