package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"backwave/sim"
	"backwave/sim/travel"
)

// mostRows is how many rows of the store are shown if nobody has asked for it.
const mostRows = 30

// only leaves of a state what was asked for; nothing = all.
func only(state *sim.State, parts []string) *sim.State {
	if len(parts) == 0 || slices.Contains(parts, "all") {
		return state
	}
	out := &sim.State{Event: state.Event, At: state.At, Nodes: []sim.NodeState{}}
	for _, n := range state.Nodes {
		if slices.Contains(parts, n.Name) {
			out.Nodes = append(out.Nodes, n)
		}
	}
	if slices.Contains(parts, "store") {
		out.Store = state.Store
	}
	for _, c := range state.Calls {
		if slices.Contains(parts, "calls") || slices.Contains(parts, nodeOf(c.From)) {
			out.Calls = append(out.Calls, c)
		}
	}
	return out
}

// nodeOf returns the node of a worker: its name ends before its last process
// number.
func nodeOf(worker string) string {
	node, _, _ := strings.Cut(worker, "/")
	if i := strings.LastIndexByte(node, '.'); i >= 0 {
		return node[:i]
	}
	return node
}

// dumped prints a state, or the parts of it that were asked for.
func (r *traveller) dumped(state *sim.State, parts []string) {
	all := len(parts) == 0 || slices.Contains(parts, "all")
	state = only(state, parts)
	for i := range state.Nodes {
		r.node(&state.Nodes[i])
	}
	if all || slices.Contains(parts, "store") {
		most := mostRows
		if len(parts) > 0 {
			most = len(state.Store.Rows)
		}
		r.store(state.Store, most)
	}
	if all || len(state.Calls) > 0 || slices.Contains(parts, "calls") {
		r.calls(state.Calls)
	}
}

func (r *traveller) node(n *sim.NodeState) {
	s := r.s
	words := []string{"down"}
	if n.Up {
		words = []string{fmt.Sprintf("up, process %d", n.Process)}
	}
	if n.Still {
		words = append(words, s.paint(yellow, fmt.Sprintf("STANDS STILL, %s for it", wait(n.Arrived))))
	}
	if n.Exiting {
		words = append(words, "shuts down")
	}
	if n.Cut != "" {
		what := map[string]string{"both": "requests and replies do", "requests": "requests do", "replies": "replies do"}[n.Cut]
		words = append(words, s.paint(yellow, "CUT OFF: "+what+" not get through"))
	}
	if n.Ahead != 0 {
		words = append(words, "its wall clock is "+astray(n.Ahead))
	}
	s.printf("%s  %s\n", s.paint(cyan, n.Name), strings.Join(words, ", "))
	for i := range n.Pumps {
		r.pump(&n.Pumps[i])
	}
}

func wait(n int) string {
	if n == 1 {
		return "1 event waits"
	}
	return fmt.Sprintf("%d events wait", n)
}

func (r *traveller) pump(p *sim.PumpState) {
	s := r.s
	words := []string{p.Phase + timed(p.Limit, " until ")}
	words = append(words, timed(p.Wake, "wakes at "), count(p.Running, "handler"))
	if p.Waiting > 0 {
		words = append(words, count(p.Waiting, "outcome")+" not in the store")
	}
	s.printf("  %s  %s\n", p.Worker, listed(words))
	var lanes []string
	for _, l := range p.Lanes {
		text := l.Call + timed(l.Due, " at ")
		if l.GiveUp != 0 {
			text = fmt.Sprintf("%s sent %s, given up at %s", l.Call, clock(l.Sent), clock(l.GiveUp))
		} else if l.Due == 0 {
			text = l.Call + " not now"
		}
		if l.Fault != "" {
			text += " (" + l.Fault + ")"
		}
		lanes = append(lanes, text)
	}
	s.printf("    calls    %s\n", strings.Join(lanes, "; "))
	for _, l := range p.Leases {
		s.printf("    lease    %-8s  %s\n", travel.Name(l.Subject), r.lease(l))
	}
	for _, h := range p.Handlers {
		s.printf("    handler  %-8s  runs since %s%s\n", travel.Name(h.Subject), clock(h.Begun), timed(h.Ends, ", ends at "))
	}
}

// lease says what a pump believes of a lease, and what the store knows.
func (r *traveller) lease(l sim.LeaseState) string {
	words := []string{"given up"}
	switch {
	case !l.Lost && l.Until > 0:
		words[0] = "believed until " + clock(l.Until)
	case !l.Lost:
		words[0] = "believed"
	}
	store := "the store: " + l.Store
	if l.Store != "holds" && !l.Lost {
		store = r.s.paint(yellow, store)
	}
	words = append(words, store)
	if l.Told != "" {
		words = append(words, "handler told: "+l.Told)
	}
	if l.Outcome != "" {
		word := " to be reported"
		if l.InReport {
			word = " in the report sent"
		}
		words = append(words, l.Outcome+word)
	}
	if l.Abandoned {
		words = append(words, "not renewed any more")
	}
	return listed(words)
}

func (r *traveller) store(st *sim.StoreState, most int) {
	s := r.s
	words := slices.Clone(st.Trouble)
	for i := range words {
		words[i] = s.paint(yellow, words[i])
	}
	if st.Ahead != 0 {
		words = append(words, "its clock is "+astray(st.Ahead))
	}
	if len(st.Paused) > 0 {
		words = append(words, "paused: "+strings.Join(st.Paused, " "))
	}
	words = append(words, count(len(st.Rows), "row")+", times by its clock")
	s.printf("%s  %s\n", s.paint(cyan, "store"), listed(words))
	for i := range st.Rows {
		if i == most {
			s.printf("  and %s more: --dump store\n", grouped(uint64(len(st.Rows)-most)))
			break
		}
		s.printf("  %s\n", row(&st.Rows[i]))
	}
}

func row(x *sim.RowState) string {
	text := fmt.Sprintf("%-8s  %-12s", x.Job, x.State)
	switch {
	case x.Worker != "":
		text += fmt.Sprintf("  attempt %d by %s until %s", x.Attempt, x.Worker, clock(x.Until))
	case x.Due > 0:
		text += "  due " + clock(x.Due)
	}
	words := []string{""}
	if x.Cancel {
		words = append(words, "cancel requested")
	}
	if x.Locked {
		words = append(words, "row locked")
	}
	if x.Damage != "" {
		words = append(words, "damaged: "+x.Damage)
	}
	if len(x.Ends) > 0 {
		words = append(words, "ends: "+repeats(x.Ends))
	}
	return strings.TrimRight(text+strings.Join(words, "  "), " ")
}

// repeats puts words that follow each other and are the same into one.
func repeats(list []string) string {
	var out []string
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i] {
			n++
		}
		word := list[i]
		if n > 1 {
			word = fmt.Sprintf("%d × %s", n, word)
		}
		out = append(out, word)
		i += n
	}
	return strings.Join(out, " ")
}

func (r *traveller) calls(list []sim.CallState) {
	r.s.printf("%s  %s\n", r.s.paint(cyan, "under way"), count(len(list), "call"))
	for _, c := range list {
		where := c.Where + timed(c.Due, ", there at ")
		r.s.printf("  %-7s  %s  sent %s, %s", c.Call, c.From, clock(c.Sent), where)
		if about := travel.Names(c.About); about != "" {
			r.s.printf(": %s", about)
		}
		r.s.printf("\n")
	}
}

// astray says how far a clock is from true time.
func astray(d time.Duration) string {
	if d < 0 {
		return fmt.Sprintf("%v behind", -d)
	}
	return fmt.Sprintf("%v ahead", d)
}

// timed prints a time after a word, nothing if there is no such time.
func timed(at time.Duration, word string) string {
	if at == 0 {
		return ""
	}
	return word + clock(at)
}

// listed joins the words that are not empty.
func listed(words []string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}
