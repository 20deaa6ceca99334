package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"backwave/engine"
)

// config is what a configuration file says.
type config struct {
	shutdown time.Duration // 0 = the engine's default
	groups   []groupConfig
	handlers []handlerConfig
}

type groupConfig struct {
	engine.Group
	at     place
	fields map[string]place // where a field was given
	names  map[string]place // job names mentioned
}

// handlerConfig says which command runs the jobs of a name.
type handlerConfig struct {
	name      string
	argv      []string
	killAfter time.Duration
	stdout    string
}

// Where a command's standard output goes.
const (
	stdoutPass    = "pass"
	stdoutOutput  = "output"
	stdoutDiscard = "discard"
)

const defaultKillAfter = 10 * time.Second

// fieldNames relates the fields of engine.Group to those of the file, for
// mistakes that the engine finds.
var fieldNames = []struct{ engine, file string }{
	{"RetryPolicy of", "retry_by_name"},
	{"RetryPolicy", "retry"},
	{"Name", "name"},
	{"Queues", "queues"},
	{"Pumps", "pumps"},
	{"PoolSize", "pool_size"},
	{"ClaimBatch", "claim_batch"},
	{"ReportBatch", "report_batch"},
	{"SweepBatch", "sweep_batch"},
	{"LeaseDuration", "lease_duration"},
	{"HeartbeatInterval", "heartbeat_interval"},
	{"MaintenanceInterval", "maintenance_interval"},
	{"MaxPollInterval", "max_poll_interval"},
	{"PollInterval", "poll_interval"},
	{"OperationTimeout", "operation_timeout"},
	{"AbandonAfter", "abandon_after"},
	{"Timeouts", "timeouts"},
	{"FinishTimeout", "finish_timeout"},
	{"ShutdownTimeout", "shutdown_timeout"},
}

// readConfig reads a configuration file. The error joins every mistake in it.
func readConfig(file string, text []byte) (*config, error) {
	r := &reader{file: file}
	c := &config{}
	root := r.parse(text)
	if root == nil {
		return nil, r.err()
	}
	r.mapping(root, "the configuration", []field{
		{"shutdown_timeout", func(n ast.Node) {
			r.duration(n, "shutdown_timeout", &c.shutdown)
			if c.shutdown != 0 && c.shutdown < time.Millisecond {
				r.bad(at(n), "shutdown_timeout is %v, want at least 1ms", c.shutdown)
			}
		}},
		{"groups", func(n ast.Node) { r.list(n, "groups", func(n ast.Node) { r.group(c, n) }) }},
		{"handlers", func(n ast.Node) {
			for _, p := range r.pairs(n, "handlers") {
				r.handler(c, p)
			}
		}},
	})
	if len(c.groups) == 0 && len(r.mistakes) == 0 {
		r.bad(at(root), "groups are missing, want at least one")
	}
	if len(c.handlers) == 0 && len(r.mistakes) == 0 {
		r.bad(at(root), "handlers are missing, want at least one")
	}
	r.judge(c)
	return c, r.err()
}

func (r *reader) group(c *config, n ast.Node) {
	g := groupConfig{at: at(n), fields: map[string]place{}, names: map[string]place{}}
	var strict []string
	var weights map[string]int
	fields := []field{
		{"name", func(n ast.Node) { r.text(n, "name", &g.Name) }},
		{"queues", func(n ast.Node) {
			r.list(n, "queues", func(n ast.Node) {
				q := ""
				r.text(n, "a queue", &q)
				strict = append(strict, q)
			})
		}},
		{"weights", func(n ast.Node) {
			weights = map[string]int{}
			for _, p := range r.pairs(n, "weights") {
				w := 0
				r.integer(p.Value, "weight of "+p.Key.GetToken().Value, &w)
				weights[p.Key.GetToken().Value] = w
			}
		}},
		{"retry", func(n ast.Node) { r.retry(n, "retry", &g.RetryPolicy) }},
		{"retry_by_name", func(n ast.Node) {
			g.RetryPolicies = map[string]engine.RetryPolicy{}
			for _, p := range r.pairs(n, "retry_by_name") {
				var policy engine.RetryPolicy
				name := p.Key.GetToken().Value
				r.retry(p.Value, "retry_by_name of "+name, &policy)
				g.RetryPolicies[name], g.names[name] = policy, at(p.Key)
			}
		}},
		{"timeouts", func(n ast.Node) {
			g.Timeouts = map[string]time.Duration{}
			for _, p := range r.pairs(n, "timeouts") {
				var d time.Duration
				name := p.Key.GetToken().Value
				r.duration(p.Value, "timeout of "+name, &d)
				g.Timeouts[name], g.names[name] = d, at(p.Key)
			}
		}},
		{"release_on_drain", func(n ast.Node) { r.boolean(n, "release_on_drain", &g.ReleaseOnDrain) }},
	}
	fields = append(fields, r.numbers(&g)...)
	for i := range fields { // remember where each was given
		read := fields[i].read
		fields[i].read = func(n ast.Node) {
			g.fields[fields[i].name] = at(n)
			read(n)
		}
	}
	r.mapping(n, "a group", fields)
	g.Queues = engine.Strict(strict...)
	switch {
	case strict != nil && weights != nil:
		r.bad(g.fields["weights"], "group %q has both queues and weights, want one of them", g.Name)
	case weights != nil:
		g.Queues = engine.Weighted(weights)
	}
	c.groups = append(c.groups, g)
}

// numbers returns the fields of a group that are plain numbers and durations.
func (r *reader) numbers(g *groupConfig) (out []field) {
	for _, f := range []struct {
		name string
		to   *int
	}{
		{"pumps", &g.Pumps},
		{"pool_size", &g.PoolSize},
		{"claim_batch", &g.ClaimBatch},
		{"report_batch", &g.ReportBatch},
		{"sweep_batch", &g.SweepBatch},
	} {
		out = append(out, field{f.name, func(n ast.Node) {
			if r.integer(n, f.name, f.to); *f.to < 0 {
				r.bad(at(n), "%s is %d, want at least 1", f.name, *f.to)
				*f.to = 0
			}
		}})
	}
	for _, f := range []struct {
		name string
		to   *time.Duration
	}{
		{"lease_duration", &g.LeaseDuration},
		{"heartbeat_interval", &g.HeartbeatInterval},
		{"maintenance_interval", &g.MaintenanceInterval},
		{"poll_interval", &g.PollInterval},
		{"max_poll_interval", &g.MaxPollInterval},
		{"operation_timeout", &g.OperationTimeout},
		{"abandon_after", &g.AbandonAfter},
		{"finish_timeout", &g.FinishTimeout},
	} {
		out = append(out, field{f.name, func(n ast.Node) { r.duration(n, f.name, f.to) }})
	}
	return out
}

func (r *reader) retry(n ast.Node, what string, p *engine.RetryPolicy) {
	r.mapping(n, what, []field{
		{"max_attempts", func(n ast.Node) { r.integer(n, "max_attempts", &p.MaxAttempts) }},
		{"first", func(n ast.Node) { r.duration(n, "first", &p.First) }},
		{"factor", func(n ast.Node) { r.integer(n, "factor", &p.Factor) }},
		{"cap", func(n ast.Node) { r.duration(n, "cap", &p.Cap) }},
		{"jitter", func(n ast.Node) { r.integer(n, "jitter", &p.Jitter) }},
		{"no_jitter", func(n ast.Node) { r.boolean(n, "no_jitter", &p.NoJitter) }},
	})
}

func (r *reader) handler(c *config, p *ast.MappingValueNode) {
	h := handlerConfig{name: p.Key.GetToken().Value, killAfter: defaultKillAfter, stdout: stdoutPass}
	before := len(r.mistakes)
	r.mapping(p.Value, "handler "+h.name, []field{
		{"command", func(n ast.Node) {
			r.list(n, "command", func(n ast.Node) {
				arg := ""
				r.text(n, "an argument of the command", &arg)
				h.argv = append(h.argv, arg)
			})
			if len(h.argv) > 0 && len(r.mistakes) == before {
				if _, err := exec.LookPath(h.argv[0]); err != nil {
					r.bad(at(n), "command %q of handler %s cannot be run: %v", h.argv[0], h.name, err)
				}
			}
		}},
		{"kill_after", func(n ast.Node) {
			if r.duration(n, "kill_after", &h.killAfter); h.killAfter <= 0 {
				r.bad(at(n), "kill_after is %v, want more than 0s", h.killAfter)
			}
		}},
		{"stdout", func(n ast.Node) {
			if r.text(n, "stdout", &h.stdout); !slices.Contains([]string{stdoutPass, stdoutOutput, stdoutDiscard}, h.stdout) {
				r.bad(at(n), "stdout is %q, want %s, %s or %s", h.stdout, stdoutPass, stdoutOutput, stdoutDiscard)
			}
		}},
	})
	if len(h.argv) == 0 && len(r.mistakes) == before {
		r.bad(at(p.Key), "handler %s has no command, want a list such as [sh, -c, \"…\"]", h.name)
	}
	c.handlers = append(c.handlers, h)
}

// judge finds what is wrong with the whole although each field can be read.
func (r *reader) judge(c *config) {
	said := r.mistakes[:len(r.mistakes):len(r.mistakes)]
	for i := range c.groups {
		g := &c.groups[i]
		for _, o := range c.groups[:i] {
			if o.Name == g.Name && g.Name != "" {
				r.bad(g.fields["name"], "group %q is there twice, want another name", g.Name)
			}
		}
		for name, p := range g.names {
			if !slices.ContainsFunc(c.handlers, func(h handlerConfig) bool { return h.name == name }) {
				r.bad(p, "%q has no handler", name)
			}
		}
		_, err := g.PumpConfig(c.shutdown)
		for _, e := range flatten(err) {
			r.engineMistake(g, e, said)
		}
	}
}

var engineField = regexp.MustCompile(`^field (RetryPolicy of|\w+)`)

// engineMistake repeats what the engine says of a group in the words, and at
// the place, of the file; unless a mistake said before explains it.
func (r *reader) engineMistake(g *groupConfig, err error, said []*mistake) {
	text, p := err.Error(), g.at
	if m := engineField.FindStringSubmatch(text); m != nil {
		for _, f := range fieldNames {
			if f.engine != m[1] {
				continue
			}
			if q, ok := g.fields[f.file]; ok {
				p = q
			} else if q, ok := g.fields["weights"]; ok && f.file == "queues" {
				p = q
			}
			break
		}
	}
	for _, f := range fieldNames {
		if f.engine != "RetryPolicy of" && f.engine != "Name" {
			text = strings.ReplaceAll(text, f.engine, f.file)
		}
	}
	text = strings.Replace(text, "field Name ", "field name ", 1)
	text = fmt.Sprintf("group %q: %s", g.Name, strings.TrimPrefix(text, "field "))
	if !slices.ContainsFunc(said, func(m *mistake) bool { return m.place == p }) {
		r.bad(p, "%s", text)
	}
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, flatten(e)...)
	}
	return out
}
