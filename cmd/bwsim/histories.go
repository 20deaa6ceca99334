package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"backwave/history"
)

// recorded is one of the files that a judgement is about.
type recorded struct {
	name  string
	log   *history.Log
	cut   history.Cut
	empty bool // its writer ended before it began
	world bool // it holds what no client sees
}

// readHistories reads files and, if there are several, merges them. A file that
// is empty is an error only if there is nothing else.
func readHistories(names []string, stdin io.Reader) (*judgement, error) {
	j := &judgement{}
	given := map[string]bool{}
	var logs []*history.Log
	for _, name := range names {
		if given[filepath.Clean(name)] { // else every call of it would be there twice
			return nil, usage("%s is given twice", name)
		}
		given[filepath.Clean(name)] = true
		s, err := readHistory(name, stdin)
		if err != nil && (!s.empty || len(names) == 1) {
			return nil, err
		}
		j.sources = append(j.sources, s)
		j.world = j.world || s.world
		if !s.empty {
			logs = append(logs, s.log)
		}
	}
	switch len(logs) {
	case 0:
		return nil, usage("%s: all of them are empty", strings.Join(names, ", "))
	case 1:
		j.log = logs[0]
	default:
		j.log = history.Merge(logs...)
	}
	j.merged = len(logs) > 1
	return j, nil
}

func readHistory(name string, stdin io.Reader) (recorded, error) {
	s := recorded{name: name}
	in := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return s, badFile(err)
		}
		defer file.Close() //nolint:errcheck // it was only read
		in = file
	}
	var err error
	if s.log, s.cut, err = history.Read(in); err != nil {
		s.empty = errors.Is(err, history.ErrEmpty)
		return s, usage("%s: %v", name, err)
	}
	for _, r := range s.log.Records() {
		switch r.Kind {
		case history.Applied, history.Lost, history.Doubled, history.Forgot:
			s.world = true
		case history.Sent, history.Answered, history.Failed, history.Stepped:
		}
	}
	return s, nil
}

// name is what a verdict is about.
func (j *judgement) name() string {
	if len(j.sources) == 1 {
		return j.sources[0].name
	}
	return count(len(j.sources), "merged file")
}

// printSources says what of the files is not in what was judged.
func (j *judgement) printSources(s *screen) {
	for i := range j.sources {
		f := &j.sources[i]
		of := ""
		if len(j.sources) > 1 {
			of = " of " + f.name
		}
		if f.cut.Line > 0 {
			s.printf("line %d%s was cut off when its writer ended, and is left out\n", f.cut.Line, of)
		}
		if f.empty {
			s.printf("%s is empty: its writer ended before it began\n", f.name)
		}
		if f.world && j.merged {
			s.printf("what only a world knows%s is left out, since files were merged\n", of)
		}
	}
}

// jsonSource is one file of several.
type jsonSource struct {
	History string `json:"history"`
	CutLine int    `json:"cut_line,omitempty"`
	Empty   bool   `json:"empty,omitempty"`
}

func (j *judgement) jsonSources() []jsonSource {
	var out []jsonSource
	for i := range j.sources {
		f := &j.sources[i]
		out = append(out, jsonSource{f.name, f.cut.Line, f.empty})
	}
	return out
}
