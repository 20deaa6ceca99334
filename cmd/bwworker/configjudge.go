package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

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
		for _, h := range c.handlers {
			if _, ok := g.Timeouts[h.name]; !ok && h.timeout > 0 {
				if g.Timeouts == nil {
					g.Timeouts = map[string]time.Duration{}
				}
				g.Timeouts[h.name] = h.timeout
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
