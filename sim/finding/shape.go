package finding

import (
	"regexp"
	"strings"

	"backwave/sim"
)

// The shape of a violation is its message without everything that a seed or an
// author decides:
//
//   - names of jobs, nodes, groups, queues and keys, workers, pumps and
//     identifiers become words for what they are;
//   - instants and spans of time become T, numbers other than 0 become N;
//   - lists are empty or not.
//
// States, ends, kinds of calls, answers, reasons and flags stay: they tell bugs
// apart. Which faults were on the way is not part of it. They decide how a bug
// is reached, not which it is; and shrinking, which keeps the shape, must be
// free to take them away.

var (
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	jobID    = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	worker   = regexp.MustCompile(`[^\s"]+\.\d+/[^\s"]+/\d+`)
	pump     = regexp.MustCompile(`\bpump [^\s"]+/[^\s"]+ \(\d+\)`)
	daytime  = regexp.MustCompile(`\b\d\d:\d\d:\d\d(\.\d+)?`)
	span     = regexp.MustCompile(`-?\b(\d+(\.\d+)?(h|ms|m|s|µs|ns))+\b`)
	number   = regexp.MustCompile(`-?\d+`)
	repeated = regexp.MustCompile(`"name"( "name")+`)
)

// names are what the author of a scenario called things.
type names struct {
	bare   map[string]string // jobs and nodes, which messages do not quote, and what stands for them
	quoted map[string]bool   // queues, groups, keys and names of handlers, which they do
	spaced [][2]string       // those among bare that are no single word, and what stands for them
}

func namesOf(r *sim.Result) *names {
	n := &names{bare: map[string]string{}, quoted: map[string]bool{}}
	for i := range r.Jobs {
		n.add(r.Jobs[i].Name, "job")
	}
	for i := range r.Scenario.Jobs {
		j := &r.Scenario.Jobs[i]
		n.quoted[j.ID], n.quoted[j.Name], n.quoted[j.Unique], n.quoted[j.Queue] = true, true, true, true
	}
	for i := range r.Scenario.Nodes {
		n.add(r.Scenario.Nodes[i].Name, "node")
	}
	for i := range r.Scenario.Groups {
		g := &r.Scenario.Groups[i]
		n.quoted[g.Name] = true
		for _, q := range g.Config.Queues {
			n.quoted[q.Name] = true
		}
	}
	return n
}

func (n *names) add(name, kind string) {
	n.bare[name] = kind
	if strings.ContainsAny(name, " \t") {
		n.spaced = append(n.spaced, [2]string{name, kind})
	}
}

// shape returns the shape of a message.
func (n *names) shape(invariant, message string) string {
	anywhere := invariant == expectation // else jobs are introduced as such, and nodes only name pumps
	for _, s := range n.spaced {
		message = strings.ReplaceAll(message, s[0], s[1])
	}
	message = pump.ReplaceAllString(message, "pump")
	message = worker.ReplaceAllString(message, "worker")
	message = jobID.ReplaceAllString(message, "job")
	message = quoted.ReplaceAllStringFunc(message, func(s string) string {
		if n.quoted[s[1:len(s)-1]] {
			return `"name"`
		}
		return s
	})
	message = repeated.ReplaceAllString(message, `"name"`)
	words := strings.Split(message, " ")
	for i, w := range words {
		if anywhere || i > 0 && words[i-1] == "job" {
			words[i] = n.word(w)
		}
	}
	message = strings.Join(words, " ")
	message = daytime.ReplaceAllString(message, "T")
	message = span.ReplaceAllString(message, "T")
	return number.ReplaceAllStringFunc(message, func(s string) string {
		if s == "0" {
			return s
		}
		return "N"
	})
}

// word replaces the name of a job or node; what clings to it stays.
func (n *names) word(w string) string {
	end := len(w)
	if i := strings.LastIndexByte(w, '#'); i > 0 {
		end = i
	}
	name := strings.TrimRight(w[:end], ":,.)")
	if kind, ok := n.bare[name]; ok {
		return kind + w[len(name):]
	}
	return w
}
