package travel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"backwave/sim"
)

// Breakpoint is where a traveller wants to stop: the first event one of whose
// facts has all that is asked for, no earlier than is asked for.
type Breakpoint struct {
	text  string
	want  Fact // zero fields say nothing
	at    time.Duration
	event uint64
}

// Fields are what a breakpoint can ask for, with what each means.
var Fields = [][2]string{
	{"job", "the job of this name"},
	{"attempt", "its attempt of this number, from 1"},
	{"node", "this node, or store"},
	{"kind", "one of " + strings.Join(Kinds(), ", ")},
	{"call", "one of " + strings.Join(calls, ", ")},
	{"at", "not before this time, such as 90s"},
	{"event", "not before the event of this number"},
}

// ParseBreakpoint reads words such as "job=j7 attempt=2" about runs of sc.
func ParseBreakpoint(text string, sc *sim.Scenario) (*Breakpoint, error) {
	b := &Breakpoint{text: text}
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, fmt.Errorf("want a condition, such as job=j7 attempt=2; fields are %s", FieldNames())
	}
	seen := map[string]bool{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		switch {
		case !ok || value == "":
			return nil, fmt.Errorf("%q: want field=value; fields are %s", w, FieldNames())
		case seen[key]:
			return nil, fmt.Errorf("%q: %s is asked for twice, and no fact has two", w, key)
		}
		seen[key] = true
		if err := b.field(key, value, sc); err != nil {
			return nil, fmt.Errorf("%q: %w", w, err)
		}
	}
	return b, nil
}

// FieldNames lists the fields of breakpoints.
func FieldNames() string {
	var out []string
	for _, f := range Fields {
		out = append(out, f[0])
	}
	return strings.Join(out, ", ")
}

func (b *Breakpoint) field(key, value string, sc *sim.Scenario) (err error) {
	among := func(to *string, list []string) error {
		*to = value
		if !slices.Contains(list, value) {
			return fmt.Errorf("there is no %s %s, want one of %s", key, value, some(list))
		}
		return nil
	}
	switch key {
	case "job":
		return among(&b.want.Job, jobs(sc))
	case "node":
		return among(&b.want.Node, Nodes(sc))
	case "kind":
		return among(&b.want.Kind, Kinds())
	case "call":
		return among(&b.want.Call, calls)
	case "attempt":
		if b.want.Attempt, err = strconv.Atoi(value); err != nil || b.want.Attempt < 1 {
			return fmt.Errorf("want a number from 1")
		}
	case "at":
		if b.at, err = time.ParseDuration(value); err != nil || b.at < 0 {
			return fmt.Errorf("want a time since the start of the world, such as 90s or 1m30s")
		}
	case "event":
		if b.event, err = strconv.ParseUint(value, 10, 64); err != nil || b.event < 1 {
			return fmt.Errorf("want the number of an event, from 1")
		}
	default:
		return fmt.Errorf("there is no field %s, want one of %s", key, FieldNames())
	}
	return nil
}

// some lists names, not all of them if there are many.
func some(list []string) string {
	const most = 30
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" … (%d in all)", len(list))
	}
	return strings.Join(list, ", ")
}

// jobs lists the names of the jobs of sc.
func jobs(sc *sim.Scenario) (out []string) {
	for i := range sc.Jobs {
		j := &sc.Jobs[i]
		if j.Count <= 1 {
			out = append(out, j.ID)
			continue
		}
		for k := range j.Count {
			out = append(out, fmt.Sprintf("%s-%d", j.ID, k+1))
		}
	}
	return out
}

// String returns the words that b was read from.
func (b *Breakpoint) String() string { return b.text }

// Hit reports whether m is where b stops. One that only asks for a time, or an
// event, stops once in a run: where that has come.
func (b *Breakpoint) Hit(m *Moment) bool {
	if m.At < b.at || m.Number < b.event {
		return false
	}
	if b.want == (Fact{}) {
		return m.Before < b.at || m.Number <= b.event
	}
	return slices.ContainsFunc(m.Facts, b.matches)
}

func (b *Breakpoint) matches(f Fact) bool {
	w := &b.want
	return (w.Job == "" || w.Job == f.Job) && (w.Attempt == 0 || w.Attempt == f.Attempt) && (w.Node == "" || w.Node == f.Node) &&
		(w.Kind == "" || w.Kind == f.Kind) && (w.Call == "" || w.Call == f.Call)
}
