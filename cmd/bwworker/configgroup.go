package main

import (
	"time"

	"github.com/goccy/go-yaml/ast"

	"backwave/engine"
)

func (r *reader) group(c *config, n ast.Node) {
	g := groupConfig{at: at(n), fields: map[string]place{}, names: map[string]place{}}
	var strict []string
	var weights map[string]int
	release := field{"release_on_drain", func(r *reader, n ast.Node) { r.boolean(n, "release_on_drain", &g.ReleaseOnDrain) }}
	fields := []field{
		{"name", func(r *reader, n ast.Node) { r.text(n, "name", &g.Name) }},
		{"queues", func(r *reader, n ast.Node) {
			r.list(n, "queues", func(n ast.Node) {
				q := ""
				r.text(n, "a queue", &q)
				strict = append(strict, q)
			})
		}},
		{"weights", func(r *reader, n ast.Node) {
			weights = map[string]int{}
			for _, p := range r.pairs(n, "weights") {
				w := 0
				r.integer(p.Value, "weight of "+p.Key.GetToken().Value, &w)
				weights[p.Key.GetToken().Value] = w
			}
		}},
		{"retry", func(r *reader, n ast.Node) { r.retry(n, "retry", &g.RetryPolicy) }},
		{"retry_by_name", func(r *reader, n ast.Node) {
			g.RetryPolicies = map[string]engine.RetryPolicy{}
			for _, p := range r.pairs(n, "retry_by_name") {
				var policy engine.RetryPolicy
				name := p.Key.GetToken().Value
				r.retry(p.Value, "retry_by_name of "+name, &policy)
				g.RetryPolicies[name], g.names[name] = policy, at(p.Key)
			}
		}},
		{"timeouts", func(r *reader, n ast.Node) {
			g.Timeouts = map[string]time.Duration{}
			for _, p := range r.pairs(n, "timeouts") {
				var d time.Duration
				name := p.Key.GetToken().Value
				r.duration(p.Value, "timeout of "+name, &d)
				g.Timeouts[name], g.names[name] = d, at(p.Key)
			}
		}},
		release,
	}
	fields = append(fields, r.numbers(&g)...)
	for i := range fields { // remember where each was given
		read := fields[i].read
		fields[i].read = func(r *reader, n ast.Node) {
			g.fields[fields[i].name] = at(n)
			read(r, n)
		}
	}
	r.mapping(n, "a group", fields)
	for _, f := range append(r.numbers(&g), release) {
		r.override(groupVariable(g.Name, f.name), f.read)
	}
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
		out = append(out, field{f.name, func(r *reader, n ast.Node) {
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
		out = append(out, field{f.name, func(r *reader, n ast.Node) { r.duration(n, f.name, f.to) }})
	}
	return out
}

func (r *reader) retry(n ast.Node, what string, p *engine.RetryPolicy) {
	r.mapping(n, what, []field{
		{"max_attempts", func(r *reader, n ast.Node) { r.integer(n, "max_attempts", &p.MaxAttempts) }},
		{"first", func(r *reader, n ast.Node) { r.duration(n, "first", &p.First) }},
		{"factor", func(r *reader, n ast.Node) { r.integer(n, "factor", &p.Factor) }},
		{"cap", func(r *reader, n ast.Node) { r.duration(n, "cap", &p.Cap) }},
		{"jitter", func(r *reader, n ast.Node) { r.integer(n, "jitter", &p.Jitter) }},
		{"no_jitter", func(r *reader, n ast.Node) { r.boolean(n, "no_jitter", &p.NoJitter) }},
	})
}
