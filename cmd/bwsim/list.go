package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"backwave/scenarios"
	"backwave/sim"
	"backwave/sim/mutants"
	"backwave/sim/scenario"
)

// listing is something that can be listed: an entry per row, in order.
type listing struct {
	kind string
	rows func() ([]entry, error)
}

// entry is one row: a name, a sentence, and what only JSON shows.
type entry struct {
	name   string
	column string // between the two; "" = none
	text   string
	json   any
}

func listings() []listing {
	return []listing{
		{"scenarios", listScenarios},
		{"faults", listFaults},
		{"invariants", listInvariants},
		{"mutants", listMutants},
		{"situations", listSituations},
	}
}

func listCommand(s *screen) *cobra.Command {
	format := ""
	kinds := []string{}
	for _, l := range listings() {
		kinds = append(kinds, l.kind)
	}
	what := strings.Join(kinds, "|")
	c := &cobra.Command{
		Use:       "list " + what,
		Short:     "List what there is",
		Long:      "list prints the shipped scenarios, the faults a timeline can hold, the invariants\nthat are checked, the planted bugs that they are checked with, or the situations\nthat a run may come to.",
		Example:   "  bwsim list scenarios\n  bwsim list mutants --format json",
		ValidArgs: kinds,
		Args:      oneArg("one of " + strings.Join(kinds, ", ")),
		RunE: func(_ *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return usage("--format %s: want text or json", format)
			}
			for _, l := range listings() {
				if l.kind != args[0] {
					continue
				}
				rows, err := l.rows()
				if err != nil {
					return err
				}
				return s.list(rows, format)
			}
			return usage("list %s: want one of %s", args[0], strings.Join(kinds, ", "))
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json (an array)")
	return c
}

func (s *screen) list(rows []entry, format string) error {
	if format == "json" {
		values := make([]any, len(rows))
		for i := range rows {
			values[i] = rows[i].json
		}
		text, err := json.MarshalIndent(values, "", "  ")
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		s.printf("%s\n", text)
		return nil
	}
	name, column := 0, 0
	for _, r := range rows {
		name, column = max(name, len(r.name)), max(column, len(r.column))
	}
	for _, r := range rows {
		line := s.paint(bold, fmt.Sprintf("%-*s", name, r.name))
		if column > 0 {
			line += fmt.Sprintf("  %-*s", column, r.column)
		}
		s.printf("%s\n", strings.TrimRight(line+"  "+r.text, " "))
	}
	return nil
}

func listScenarios() (out []entry, err error) {
	type scenarioJSON struct {
		Name  string    `json:"name"`
		Level sim.Level `json:"level"`
		ForS  float64   `json:"for_s"`
		Story string    `json:"story"`
	}
	for _, name := range scenarios.Names() {
		sc, err := scenario.Load(name)
		if err != nil {
			return nil, usage("%v", err)
		}
		story := strings.TrimSpace(sc.Story)
		first, _, more := strings.Cut(strings.Join(strings.Fields(story), " "), ". ")
		if more {
			first += "."
		}
		out = append(out, entry{name, string(sc.Level), first, scenarioJSON{name, sc.Level, sc.For.Seconds(), story}})
	}
	return out, nil
}

func listFaults() (out []entry, err error) {
	type fieldJSON struct {
		Name    string `json:"name"`
		Value   string `json:"value"`
		Default string `json:"default,omitempty"`
		Need    bool   `json:"required,omitempty"`
		Doc     string `json:"doc"`
	}
	type faultJSON struct {
		Name   string      `json:"name"`
		People bool        `json:"people,omitempty"`
		Doc    string      `json:"doc"`
		Fields []fieldJSON `json:"fields"`
	}
	for _, f := range scenario.Faults() {
		j := faultJSON{Name: f.Name, People: f.People, Doc: f.Doc}
		for _, x := range f.Fields {
			j.Fields = append(j.Fields, fieldJSON(x))
		}
		out = append(out, entry{f.Name, "", f.Doc, j})
	}
	return out, nil
}

func listInvariants() (out []entry, err error) {
	type invariantJSON struct {
		Name     string `json:"name"`
		Sentence string `json:"sentence"`
	}
	for _, i := range invariants() {
		out = append(out, entry{i.Name, "", i.Sentence, invariantJSON(i)})
	}
	return out, nil
}

func listMutants() (out []entry, err error) {
	type mutantJSON struct {
		Mutant string `json:"mutant"`
		File   string `json:"file"`
		Func   string `json:"func"`
		Breaks string `json:"breaks"`
	}
	for _, m := range mutants.All() {
		out = append(out, entry{m.Name, m.File, m.Breaks, mutantJSON{m.Name, m.File, m.Func, m.Breaks}})
	}
	return out, nil
}

func listSituations() (out []entry, err error) {
	for _, name := range sim.Situations() {
		out = append(out, entry{name, "", "", name})
	}
	return out, nil
}
