package main

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// excuse is one //det:ok comment.
type excuse struct {
	pos  token.Pos
	used bool
}

// judge passes findings on, unless their line carries an excuse.
type judge struct {
	pass    *analysis.Pass
	excuses map[int]*excuse // by line, of one file
	lines   []int           // the keys, in source order
}

// newJudge reads the excuses of file and reports the malformed ones.
func newJudge(pass *analysis.Pass, file *ast.File) *judge {
	j := &judge{pass: pass, excuses: map[int]*excuse{}}
	for _, group := range file.Comments {
		for _, c := range group.List {
			j.read(c)
		}
	}
	return j
}

func (j *judge) read(c *ast.Comment) {
	text, spaced := c.Text, false
	if rest, ok := strings.CutPrefix(text, "// det:"); ok {
		text, spaced = "//det:"+rest, true
	}
	rest, ok := strings.CutPrefix(text, "//det:")
	if !ok {
		return
	}
	verb, reason, _ := strings.Cut(rest, " ")
	reason, _, _ = strings.Cut(reason, "//") // as in any directive, what follows is a comment on it
	switch {
	case spaced || verb != "ok":
		j.pass.Reportf(c.Pos(), "malformed excuse: write //det:ok and the reason")
	case strings.TrimSpace(reason) == "":
		j.pass.Reportf(c.Pos(), "excuse without a reason: write //det:ok and the reason")
	default:
		line := j.line(c.Pos())
		j.excuses[line] = &excuse{pos: c.Pos()}
		j.lines = append(j.lines, line)
	}
}

// reportf records a finding at pos.
func (j *judge) reportf(pos token.Pos, format string, args ...any) {
	if e := j.excuses[j.line(pos)]; e != nil {
		e.used = true
		return
	}
	j.pass.Reportf(pos, format, args...)
}

// finish reports the excuses that excused nothing.
func (j *judge) finish() {
	for _, line := range j.lines {
		if e := j.excuses[line]; !e.used {
			j.pass.Reportf(e.pos, "excuse for nothing: take //det:ok away")
		}
	}
}

func (j *judge) line(pos token.Pos) int { return j.pass.Fset.PositionFor(pos, false).Line }
