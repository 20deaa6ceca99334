package engine

import (
	"slices"
	"strings"

	"backwave/engine/pump"
)

// Mark is the health of one pump: halted for good, or in an episode of
// transient faults in some kinds of calls.
type Mark struct {
	Halted   bool
	Cause    pump.Cause // why, if halted
	degraded [4]string  // text of the episode per kind of call; "" = none
	kinds    uint8      // a bit per kind that has a text
}

// note books what a pump says of itself.
func (m *Mark) note(a pump.Action) {
	switch a := a.(type) {
	case pump.Degraded:
		m.degraded[a.Kind] = a.Text
		m.kinds |= 1 << a.Kind
	case pump.Recovered:
		m.degraded[a.Kind] = ""
		m.kinds &^= 1 << a.Kind
	case pump.Halted:
		*m = Mark{Halted: true, Cause: a.Cause} // supersedes the degraded mark
	case pump.Call, pump.Start, pump.Cancel, pump.Stopped, pump.Dropped, pump.Abandoned:
	}
}

// Degraded returns the text of the episodes the pump is in, "" for none.
func (m *Mark) Degraded() string {
	text := ""
	for k, t := range m.degraded {
		if t == "" {
			continue
		}
		if text != "" {
			text += "; "
		}
		text += pump.Kind(k).String() + ": " + t
	}
	return text
}

// HaltState says why a group fail-stopped.
type HaltState struct {
	ErrorType string `json:"error_type"` // type of the innermost error
	Message   string `json:"message"`
}

// String prints s as operators read it.
func (s HaltState) String() string { return s.ErrorType + ": " + s.Message }

// Health is the state of all groups of a process at one moment. It is a value:
// reading it waits for nothing.
type Health struct {
	groups []groupMarks // by name
}

type groupMarks struct {
	name  string
	pumps []Mark
}

// NewHealth puts the marks of the pumps of each group together. The simulator
// uses it as the process does.
func NewHealth(groups map[string][]Mark) Health {
	h := Health{}
	for name, pumps := range groups {
		h.groups = append(h.groups, groupMarks{name, slices.Clone(pumps)})
	}
	slices.SortStableFunc(h.groups, func(a, b groupMarks) int { return strings.Compare(a.name, b.name) })
	return h
}

// Healthy reports whether no group is wholly halted. Degraded and partially
// halted groups do not count: they go on working.
func (h Health) Healthy() bool { return len(h.HaltedGroups()) == 0 }

// HaltedGroups returns the groups of which every pump has halted, each with
// the cause of its first halted pump.
func (h Health) HaltedGroups() map[string]HaltState {
	return h.halted(func(halted, all int) bool { return halted == all })
}

// PartiallyHaltedGroups returns the groups of which some pumps, but not all,
// have halted.
func (h Health) PartiallyHaltedGroups() map[string]HaltState {
	return h.halted(func(halted, all int) bool { return halted < all })
}

func (h Health) halted(want func(halted, all int) bool) map[string]HaltState {
	out := map[string]HaltState{}
	for _, g := range h.groups {
		n, state := 0, HaltState{}
		for _, m := range g.pumps {
			if !m.Halted {
				continue
			}
			if n == 0 {
				state = HaltState{m.Cause.Type, m.Cause.Message}
			}
			n++
		}
		if n > 0 && want(n, len(g.pumps)) {
			out[g.name] = state
		}
	}
	return out
}

// DegradedGroups returns the groups of which at least one pump meets transient
// faults, with a short text.
func (h Health) DegradedGroups() map[string]string {
	out := map[string]string{}
	for _, g := range h.groups {
		for _, m := range g.pumps {
			if t := m.Degraded(); t != "" {
				out[g.name] = t
				break
			}
		}
	}
	return out
}

// String prints the line that a health endpoint answers with.
func (h Health) String() string {
	halted := h.HaltedGroups()
	if len(halted) == 0 {
		return "All Worker Groups running."
	}
	var b strings.Builder
	b.WriteString("Worker Group fail-stop: ")
	first := true
	for _, g := range h.groups { // sorted by name
		s, ok := halted[g.name]
		if !ok {
			continue
		}
		if !first {
			b.WriteString("; ")
		}
		first = false
		b.WriteString(g.name + " (" + s.String() + ")")
	}
	return b.String()
}
