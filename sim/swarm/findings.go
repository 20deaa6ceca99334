package swarm

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"backwave/sim/finding"
)

// Finding is one way in which an invariant was violated, however often.
type Finding struct {
	finding.Finding        // as it was in the first run
	Plan            Plan   // the first run
	Runs            int    // in which it was found
	Known           string // what the list of known failures says of it; "" = it is not there
}

// Findings are kept in the order in which they were first found.
type Findings struct {
	known map[string]string
	list  []*Finding
	byID  map[string]*Finding
}

// NewFindings returns a list without entries. known is what ReadKnown returned;
// nil = nothing is known.
func NewFindings(known map[string]string) *Findings {
	return &Findings{known: known, byID: map[string]*Finding{}}
}

// Add books what the run of p has found, and returns what no run before it had.
func (f *Findings) Add(p Plan, found []finding.Finding) (fresh []*Finding) {
	for _, x := range found {
		if old := f.byID[x.ID]; old != nil {
			old.Runs++
			continue
		}
		n := &Finding{Finding: x, Plan: p, Runs: 1, Known: f.known[x.ID]}
		f.list, f.byID[x.ID] = append(f.list, n), n
		fresh = append(fresh, n)
	}
	return fresh
}

// All lists the findings; those that are known as well.
func (f *Findings) All() []*Finding { return f.list }

// Unknown returns how many findings are not known.
func (f *Findings) Unknown() (n int) {
	for _, x := range f.list {
		if x.Known == "" {
			n++
		}
	}
	return n
}

var idPattern = regexp.MustCompile(`^[a-z][a-z-]*-[0-9a-f]{8}$`)

// ReadKnown reads a list of known failures: an id of a finding a line, and behind
// it, after a #, why it is known. Lines that are empty or begin with # are for
// people. It returns what is said of each id. An error names the line.
func ReadKnown(name string, r io.Reader) (map[string]string, error) {
	out := map[string]string{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		id, why, _ := strings.Cut(lines.Text(), "#")
		id, why = strings.TrimSpace(id), strings.TrimSpace(why)
		switch {
		case id == "":
		case !idPattern.MatchString(id):
			return nil, fmt.Errorf("%s:%d: %q is no id of a finding: want one such as fence-1b9f03c2, then # and why it is known", name, n, id)
		case out[id] != "":
			return nil, fmt.Errorf("%s:%d: %s is listed twice: want each id once", name, n, id)
		case why == "":
			return nil, fmt.Errorf("%s:%d: nothing says why %s is known: want # and a reason behind it, such as the issue that is open", name, n, id)
		default:
			out[id] = why
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}
