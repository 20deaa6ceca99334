package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// handlerConfig says what runs the jobs of a name: a command, or a request.
type handlerConfig struct {
	name    string
	timeout time.Duration // 0 = what the group says
	command commandConfig // of a command
	request requestConfig // of a request; its url is nil otherwise
}

// commandConfig describes a command.
type commandConfig struct {
	argv      []string
	dir       string // "" = that of the worker
	env       []string
	bare      bool // no variable of the worker's
	limits    limits
	killAfter time.Duration
	stdout    string
}

// limits bound what a command may use; 0 = as the worker may.
type limits struct {
	cpu    time.Duration // whole seconds
	memory int64         // bytes of address space
	files  int           // open at once
}

// Where a command's standard output goes.
const (
	stdoutPass    = "pass"
	stdoutOutput  = "output"
	stdoutDiscard = "discard"
)

const defaultKillAfter = 10 * time.Second

func (r *reader) handler(c *config, p *ast.MappingValueNode) {
	h := handlerConfig{name: p.Key.GetToken().Value, command: commandConfig{killAfter: defaultKillAfter, stdout: stdoutPass}}
	before := len(r.mistakes)
	commands, requests := r.commandFields(&h), r.requestFields(&h)
	given := map[string]place{}
	fields := append(append([]field{{"timeout", func(r *reader, n ast.Node) {
		if r.duration(n, "timeout", &h.timeout); h.timeout < 0 {
			r.bad(at(n), "timeout is %v, want more than 0s", h.timeout)
		}
	}}}, commands...), requests...)
	for i := range fields {
		read := fields[i].read
		fields[i].read = func(r *reader, n ast.Node) {
			given[fields[i].name] = at(n)
			read(r, n)
		}
	}
	r.mapping(p.Value, "handler "+h.name, fields)
	if place, ok := given["dir"]; ok || len(h.command.argv) > 0 {
		r.findCommand(&h, given["command"], place)
	}
	_, isCommand := given["command"]
	_, isRequest := given["url"]
	switch {
	case isCommand && isRequest:
		r.bad(given["url"], "handler %s has both a command and a url, want one of them", h.name)
	case isRequest:
		r.foreign(&h, "url", commands, given)
	case isCommand:
		r.foreign(&h, "command", requests, given)
	}
	if len(h.command.argv) == 0 && !isRequest && len(r.mistakes) == before {
		r.bad(at(p.Key), "handler %s has no command and no url, want a list such as [sh, -c, \"…\"], or an address", h.name)
	}
	c.handlers = append(c.handlers, h)
}

// foreign complains of fields that belong to the other kind of handler.
func (r *reader) foreign(h *handlerConfig, has string, others []field, given map[string]place) {
	for _, f := range others {
		if p, ok := given[f.name]; ok {
			r.bad(p, "%s is not for handler %s, which has a %s", f.name, h.name, has)
		}
	}
}

func (r *reader) commandFields(h *handlerConfig) []field {
	c := &h.command
	return []field{
		{"command", func(r *reader, n ast.Node) {
			r.list(n, "command", func(n ast.Node) {
				arg := ""
				r.text(n, "an argument of the command", &arg)
				c.argv = append(c.argv, arg)
			})
		}},
		{"dir", func(r *reader, n ast.Node) { r.text(n, "dir", &c.dir) }},
		{"env", func(r *reader, n ast.Node) {
			for _, p := range r.pairs(n, "env") {
				name, value := p.Key.GetToken().Value, ""
				r.text(p.Value, "variable "+name, &value)
				if name == "" || strings.ContainsAny(name+value, "\x00") || strings.Contains(name, "=") {
					r.bad(at(p.Key), "variable %q cannot be set", name)
				}
				c.env = append(c.env, name+"="+value)
			}
		}},
		{"inherit_env", func(r *reader, n ast.Node) {
			inherit := !c.bare
			r.boolean(n, "inherit_env", &inherit)
			c.bare = !inherit
		}},
		{"limits", func(r *reader, n ast.Node) { r.limits(n, &c.limits) }},
		{"kill_after", func(r *reader, n ast.Node) {
			if r.duration(n, "kill_after", &c.killAfter); c.killAfter <= 0 {
				r.bad(at(n), "kill_after is %v, want more than 0s", c.killAfter)
			}
		}},
		{"stdout", func(r *reader, n ast.Node) {
			r.oneOf(n, "stdout", &c.stdout, stdoutPass, stdoutOutput, stdoutDiscard)
		}},
	}
}

func (r *reader) limits(n ast.Node, l *limits) {
	r.mapping(n, "limits", []field{
		{"cpu", func(r *reader, n ast.Node) {
			if r.duration(n, "cpu", &l.cpu); l.cpu < 0 || l.cpu%time.Second != 0 {
				r.bad(at(n), "cpu is %v, want whole seconds", l.cpu)
			}
		}},
		{"memory", func(r *reader, n ast.Node) {
			text := n.GetToken().Value
			bytes, ok := parseSize(text)
			if l.memory = bytes; !ok {
				r.bad(at(n), "memory is %s, want a size such as 512MiB", shown(n))
			}
		}},
		{"open_files", func(r *reader, n ast.Node) {
			if r.integer(n, "open_files", &l.files); l.files < 0 {
				r.bad(at(n), "open_files is %d, want at least 1", l.files)
			}
		}},
	})
	if *l != (limits{}) && !canLimit {
		r.bad(at(n), "limits cannot be set on this system")
	}
}

// parseSize reads a number of bytes with a unit, KiB, MiB or GiB, or without.
func parseSize(text string) (int64, bool) {
	shift := 0
	for unit, s := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			text, shift = rest, s
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return 0, false
	}
	return n << shift, true
}

// findCommand looks for the program and the directory, since a typo should be
// known before the first job is spoilt by it.
func (r *reader) findCommand(h *handlerConfig, command, dir place) {
	c := &h.command
	if c.dir != "" {
		if info, err := os.Stat(c.dir); err != nil || !info.IsDir() {
			r.bad(dir, "dir %q of handler %s is no directory", c.dir, h.name)
			return
		}
	}
	if len(c.argv) == 0 || command == (place{}) {
		return
	}
	program := c.argv[0]
	if c.dir != "" && strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		program = filepath.Join(c.dir, program)
	}
	if _, err := exec.LookPath(program); err != nil {
		r.bad(command, "command %q of handler %s cannot be run: %v", c.argv[0], h.name, err)
	}
}
