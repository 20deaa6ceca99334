package main

import (
	"log/slog"
	"time"

	"github.com/goccy/go-yaml/ast"

	"backwave/engine"
)

// config is what a configuration file, and the variables that go before it,
// say.
type config struct {
	settings
	shutdown time.Duration // 0 = the engine's default
	groups   []groupConfig
	handlers []handlerConfig
}

// settings are those of the process, which flags may change.
type settings struct {
	store      string // "" = not said
	direct     string // PostgreSQL: the server itself, beside a pooler; "" = there is none
	noNotify   bool   // PostgreSQL
	wait       time.Duration
	http       string
	logFormat  string
	logLevel   slog.Level
	exitOnHalt bool
}

func defaultSettings() settings { return settings{logFormat: "text", logLevel: slog.LevelInfo} }

// target is the store that is meant, for so many pumps.
func (s *settings) target(pumps int) target {
	return target{dsn: s.store, direct: s.direct, noNotify: s.noNotify, pumps: pumps}
}

// pumps counts those of all groups.
func (c *config) pumps() (n int) {
	for _, g := range c.groups {
		n += max(1, g.Pumps)
	}
	return n
}

type groupConfig struct {
	engine.Group
	at     place
	fields map[string]place // where a field was given
	names  map[string]place // job names mentioned
}

// readConfig reads a configuration file, and variables that override it. The
// error joins every mistake in them.
func readConfig(file string, text []byte, env environment) (*config, error) {
	r := &reader{file: file, env: env}
	c := &config{settings: defaultSettings()}
	root := r.parse(text)
	if root == nil {
		return nil, r.err()
	}
	fields := append(r.settings(&c.settings),
		field{"shutdown_timeout", func(r *reader, n ast.Node) {
			r.duration(n, "shutdown_timeout", &c.shutdown)
			if c.shutdown != 0 && c.shutdown < time.Millisecond {
				r.bad(at(n), "shutdown_timeout is %v, want at least 1ms", c.shutdown)
			}
		}},
		field{"groups", func(r *reader, n ast.Node) { r.list(n, "groups", func(n ast.Node) { r.group(c, n) }) }},
		field{"handlers", func(r *reader, n ast.Node) {
			for _, p := range r.pairs(n, "handlers") {
				r.handler(c, p)
			}
		}},
	)
	r.mapping(root, "the configuration", fields)
	if len(c.groups) == 0 && len(r.mistakes) == 0 {
		r.bad(at(root), "groups are missing, want at least one")
	}
	if len(c.handlers) == 0 && len(r.mistakes) == 0 {
		r.bad(at(root), "handlers are missing, want at least one")
	}
	r.variables(fields, &c.settings)
	r.unknownVariables()
	r.judge(c)
	return c, r.err()
}

// readSettings reads only what a command without worker groups needs of a
// configuration file, nil for none, and of the variables.
func readSettings(file string, text []byte, env environment) (settings, error) {
	r := &reader{file: file, env: env}
	s := defaultSettings()
	fields := r.settings(&s)
	if text != nil {
		root := r.parse(text)
		if root == nil {
			return s, r.err()
		}
		rest := []field{{"shutdown_timeout", ignore}, {"groups", ignore}, {"handlers", ignore}}
		r.mapping(root, "the configuration", append(rest, fields...))
	}
	r.variables(fields, &s)
	return s, r.err()
}

func ignore(*reader, ast.Node) {}

// settings returns the fields of a file that are not about groups or handlers.
func (r *reader) settings(s *settings) []field {
	return []field{
		{"store", func(r *reader, n ast.Node) { r.dsn(n, "store", &s.store, checkDSN) }},
		{"store_file", func(r *reader, n ast.Node) { r.dsnFile(n, "store_file", &s.store, checkDSN) }},
		{"direct_store", func(r *reader, n ast.Node) { r.dsn(n, "direct_store", &s.direct, checkDirect) }},
		{"direct_store_file", func(r *reader, n ast.Node) { r.dsnFile(n, "direct_store_file", &s.direct, checkDirect) }},
		{"no_notify", func(r *reader, n ast.Node) { r.boolean(n, "no_notify", &s.noNotify) }},
		{"wait", func(r *reader, n ast.Node) {
			if r.duration(n, "wait", &s.wait); s.wait < 0 {
				r.bad(at(n), "wait is %v, want at least 0s", s.wait)
			}
		}},
		{"http", func(r *reader, n ast.Node) { r.text(n, "http", &s.http) }},
		{"log_format", func(r *reader, n ast.Node) { r.oneOf(n, "log_format", &s.logFormat, "text", "json") }},
		{"log_level", func(r *reader, n ast.Node) {
			level := "info"
			r.text(n, "log_level", &level)
			if err := s.logLevel.UnmarshalText([]byte(level)); err != nil {
				r.bad(at(n), "log_level is %q, want debug, info, warn or error", level)
			}
		}},
		{"exit_on_halt", func(r *reader, n ast.Node) { r.boolean(n, "exit_on_halt", &s.exitOnHalt) }},
	}
}

// dsn reads the address of a store.
func (r *reader) dsn(n ast.Node, what string, to *string, check func(dsn string) error) {
	before := len(r.mistakes)
	if r.text(n, what, to); len(r.mistakes) > before {
		return
	}
	if err := check(*to); err != nil {
		r.bad(at(n), "%s: %v", what, err)
	}
}

// dsnFile reads the name of a file, and the address of a store in it.
func (r *reader) dsnFile(n ast.Node, what string, to *string, check func(dsn string) error) {
	file := ""
	if r.text(n, what, &file); file == "" {
		return
	}
	text, err := readSecret(file)
	if err == nil {
		err = check(text)
	}
	if err != nil {
		r.bad(at(n), "%s: %v", what, err)
	}
	*to = text
}

// variables lets variables go before what the file said: BW_STORE, or the file
// that BW_STORE_FILE names, the like for the direct store, and one of each other
// field that is a scalar.
func (r *reader) variables(fields []field, s *settings) {
	for _, f := range fields {
		switch f.name {
		case "groups", "handlers", "store", "store_file", "direct_store", "direct_store_file":
		default:
			r.override("BW_"+shout(f.name), f.read)
		}
	}
	for _, v := range []struct {
		name  string
		to    *string
		check func(dsn string) error
	}{{"BW_STORE", &s.store, checkDSN}, {"BW_DIRECT_STORE", &s.direct, checkDirect}} {
		dsn, err := r.env.secret(v.name)
		if err == nil && dsn != "" {
			*v.to, err = dsn, v.check(dsn)
		}
		if err != nil {
			r.mistakes = append(r.mistakes, &mistake{file: v.name, text: err.Error()})
		}
	}
}
