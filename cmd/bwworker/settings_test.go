package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"backwave/store"
)

func TestInitPrintsEveryOptionWithItsDefault(t *testing.T) {
	b := newBench(t)
	text := b.run(exitDone, "init")
	_, err := readConfig("init", []byte(strings.ReplaceAll(text, "#- ", "")), nil) // what has no default, uncommented
	for _, wrong := range []string{"unknown field", "near", "want a"} {
		if err == nil || strings.Contains(err.Error(), wrong) {
			t.Errorf("with all comments open it says: %v", err)
		}
	}
	got, err := readConfig("init", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := readConfig("least", []byte("groups: [{name: default, queues: [default]}]\nhandlers: {hello: {command: [echo, hello]}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want.store = defaultStore
	want.shutdown = 30 * time.Second
	if got.settings != want.settings || got.shutdown != want.shutdown {
		t.Errorf("the settings are %+v, want %+v", got.settings, want.settings)
	}
	if g, w := got.handlers[0], want.handlers[0]; g.name != w.name || !reflect.DeepEqual(g.command, w.command) || g.timeout != w.timeout {
		t.Errorf("the handler is %+v, want %+v", g, w)
	}
	g, err1 := got.groups[0].PumpConfig(got.shutdown)
	w, err2 := want.groups[0].PumpConfig(0)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	g.Terms.Default, w.Terms.Default = g.Terms.Default.WithDefaults(), w.Terms.Default.WithDefaults()
	if !reflect.DeepEqual(g, w) || got.groups[0].Pumps != 1 {
		t.Errorf("the group is\n%+v, want\n%+v", g, w)
	}
	r := &reader{file: "all"}
	c := &config{}
	for _, f := range r.settings(&c.settings) {
		r.known = append(r.known, f.name)
	}
	r.mapping(r.parse([]byte("{}")), "", nil)
	r.group(c, r.parse([]byte("{retry: {}}")))
	h := r.parse([]byte("h: {limits: {}, authorization: {}}"))
	for _, p := range r.pairs(h, "") {
		r.handler(c, p)
	}
	if len(r.known) < 50 {
		t.Errorf("only %d options are known", len(r.known))
	}
	page, err := os.ReadFile("../../docs/worker.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, option := range r.known {
		if !strings.Contains(text, option+":") {
			t.Errorf("it does not tell of %s", option)
		}
		if !strings.Contains(string(page), "`"+option+"`") && !strings.Contains(string(page), "{"+option+":") {
			t.Errorf("docs/worker.md does not tell of %s", option)
		}
	}
}

func TestVariablesGoBeforeTheFile(t *testing.T) {
	text := []byte("store: 'memory:'\nlog_level: warn\ngroups: [{name: my group, queues: [q], pool_size: 3, poll_interval: 2s}]\nhandlers: {h: {command: ['true']}}\n")
	c, err := readConfig("w.yaml", text, environment{
		"BW_STORE": "memory:two", "BW_DIRECT_STORE": "postgres://direct/db", "BW_NO_NOTIFY": "true", "BW_WAIT": "5s", "BW_HTTP": ":8080", "BW_LOG_FORMAT": "json", "BW_LOG_LEVEL": "debug", "BW_EXIT_ON_HALT": "true", "BW_SHUTDOWN_TIMEOUT": "7s",
		"BW_GROUP_MY_GROUP_POOL_SIZE": "9", "BW_GROUP_MY_GROUP_LEASE_DURATION": "90s", "BW_GROUP_MY_GROUP_RELEASE_ON_DRAIN": "true", "BW_JOB_ID": "not ours",
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := (settings{"memory:two", "postgres://direct/db", true, 5 * time.Second, ":8080", "json", slog.LevelDebug, true}); c.settings != want || c.shutdown != 7*time.Second {
		t.Errorf("the settings are %+v, want %+v", c.settings, want)
	}
	if g := c.groups[0]; g.PoolSize != 9 || g.LeaseDuration != 90*time.Second || !g.ReleaseOnDrain || g.PollInterval != 2*time.Second {
		t.Errorf("the group is %+v", g.Group)
	}
}

func TestEveryMistakeInVariables(t *testing.T) {
	_, err := readConfig("w.yaml", []byte("groups: [{name: g, queues: [q], pumps: x}]\nhandlers: {h: {command: ['true']}}\n"), environment{
		"BW_STORE": "mysql://me:hush-hush@h", "BW_DIRECT_STORE": "sqlite:a.db", "BW_NO_NOTIFY": "never", "BW_WAIT": "soon", "BW_LOG_FORMAT": "xml", "BW_LOG_LEVEL": "loud", "BW_EXIT_ON_HALT": "perhaps",
		"BW_GROUP_G_POOL_SIZE": "many", "BW_GROUP_G_POOLSIZE": "3", "BW_GROUP_OTHER_PUMPS": "1",
	})
	sameLines(t, err, `
BW_GROUP_G_POOL_SIZE: pool_size is "many", want a whole number
BW_NO_NOTIFY: no_notify is "never", want true or false
BW_WAIT: wait is "soon", want a duration such as 500ms, 30s or 5m
BW_LOG_FORMAT: log_format is "xml", want text or json
BW_LOG_LEVEL: log_level is "loud", want debug, info, warn or error
BW_EXIT_ON_HALT: exit_on_halt is "perhaps", want true or false
BW_STORE: the store "mysql://me:xxxxx@h" is none, want `+dsnForms()+`
BW_DIRECT_STORE: the direct store "sqlite:a.db" is none, want postgres://…
BW_GROUP_G_POOLSIZE: sets no field of any group, want BW_GROUP_<group>_<field>
BW_GROUP_OTHER_PUMPS: sets no field of any group, want BW_GROUP_<group>_<field>
w.yaml:1:40: pumps is "x", want a whole number
`)
}

func TestWhereTheStoreIsSaid(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	secret := write("dsn", "memory:secret-file\n")
	conf := write("w.yaml", "store: 'memory:conf'\ngroups: nonsense, but nobody's business\n")
	byFile := write("f.yaml", "store_file: "+secret+"\n")
	for _, c := range []struct {
		args string
		env  environment
		want string
	}{
		{"queues ls", nil, defaultStore},
		{"queues ls -c " + conf, nil, "memory:conf"},
		{"queues ls -c " + byFile, nil, "memory:secret-file"},
		{"queues ls -c " + conf, environment{"BW_STORE": "memory:env"}, "memory:env"},
		{"queues ls -c " + conf, environment{"BW_STORE_FILE": secret}, "memory:secret-file"},
		{"queues ls --store memory:flag -c " + conf, environment{"BW_STORE": "memory:env"}, "memory:flag"},
	} {
		b := newBench(t)
		b.env = c.env
		b.run(exitDone, c.args)
		if len(b.asked) != 1 || b.asked[0] != c.want {
			t.Errorf("%s with %v opened %q, want %s", c.args, c.env, b.asked, c.want)
		}
	}
	b := newBench(t)
	b.env = environment{"BW_STORE": "memory:", "BW_STORE_FILE": secret}
	b.run(exitUsage, "queues ls")
	b.says("BW_STORE and BW_STORE_FILE are both set")
	b.env = environment{"BW_STORE_FILE": write("empty", "\n")}
	b.run(exitUsage, "queues ls")
	b.says("BW_STORE_FILE: ", "is empty")
}

func TestAStoreThatIsNotUpYet(t *testing.T) {
	b := newBench(t)
	tries, open := 0, b.open
	b.open = func(ctx context.Context, t target) (*opened, error) {
		if tries++; tries < 3 {
			return nil, &store.TransientError{Fault: store.FaultConnection, Err: errors.New("refused")}
		}
		return open(ctx, t)
	}
	b.run(exitUnreachable, "queues ls")
	b.says("store " + defaultStore + ": connection: refused")
	tries = 0
	b.run(exitDone, "queues ls --wait 1m")
	if n := strings.Count(b.stderr.String(), "waiting for the store"); tries != 3 || n != 1 {
		t.Errorf("it tried %d times and said %d times that it waits", tries, n)
	}
	b.open = func(context.Context, target) (*opened, error) { tries++; return nil, errors.New("wrong password") }
	tries = 0
	b.run(exitUnreachable, "queues ls --wait 1h")
	b.open = func(context.Context, target) (*opened, error) {
		tries++
		return nil, &exitError{exitUsage, errors.New("no such parameter")}
	}
	b.run(exitUsage, "queues ls --wait 1h")
	b.says("store " + defaultStore + ": no such parameter")
	if tries != 2 {
		t.Errorf("what does not pass was tried %d times, want twice", tries)
	}
}

func TestRunEndsWith3IfTheStoreIsOutOfReach(t *testing.T) {
	b := newBench(t)
	b.open = func(context.Context, target) (*opened, error) { return nil, errors.New("refused") }
	file := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(file, []byte(initText), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitUnreachable, "run", "-c", file)
	b.says("refused")
}

func TestHowPostgreSQLIsToBeReached(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	file := write("w.yaml", `store: postgres://bouncer/db
direct_store_file: `+write("direct", "postgres://me:hush-hush@db/db\n")+`
no_notify: true
groups: [{name: a, queues: [q], pumps: 3}, {name: b, queues: [q]}]
handlers: {h: {command: ['true']}}
`)
	b := newBench(t)
	b.run(exitDone, "run", "-c", file, "--until-empty")
	if want := (target{"postgres://bouncer/db", "postgres://me:hush-hush@db/db", true, 4}); b.target != want {
		t.Errorf("it opened %+v, want %+v", b.target, want)
	}
	b.env = environment{"BW_DIRECT_STORE": "postgres://other/db", "BW_NO_NOTIFY": "false"}
	b.run(exitDone, "queues", "ls", "-c", file)
	if want := (target{"postgres://bouncer/db", "postgres://other/db", false, 0}); b.target != want {
		t.Errorf("it opened %+v, want %+v", b.target, want)
	}
	b.open = openStore
	b.env = nil
	b.run(exitUsage, "queues", "ls", "-c", file, "--store", "sqlite:"+filepath.Join(dir, "a.db"))
	b.says("a direct store is for PostgreSQL only")
	b.open = func(context.Context, target) (*opened, error) { return nil, errors.New("no hush-hush today") }
	for _, args := range [][]string{{"run"}, {"queues", "ls"}} {
		b.run(exitUnreachable, append(args, "-c", file)...)
		b.says("no xxxxx today")
	}
	_, err := readConfig("w.yaml", []byte("direct_store: 'memory:'\nno_notify: 3\ngroups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n"), nil)
	sameLines(t, err, `
w.yaml:1:15: direct_store: the direct store "memory:" is none, want postgres://…
w.yaml:2:12: no_notify is "3", want true or false
`)
}

func TestOurOwnParameterIsTakenOutOfAnAddress(t *testing.T) {
	for in, want := range map[string][2]string{
		"postgres://h/db":                           {"postgres://h/db", ""},
		"postgres://h/db?schema=a%20b":              {"postgres://h/db", "a b"},
		"postgres://h/db?a=1&schema=s&options=x%20": {"postgres://h/db?a=1&options=x%20", "s"},
		"postgres://h/db?schema=&password=a+b%2Bc":  {"postgres://h/db?password=a+b%2Bc", ""},
		"postgres://h/db?myschema=s":                {"postgres://h/db?myschema=s", ""},
	} {
		u, schema, err := withoutSchema(in)
		if err != nil || u.String() != want[0] || schema != want[1] {
			t.Errorf("%s is %s with schema %q, %v; want %q", in, u, schema, err, want)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	var out bytes.Buffer
	m := &masker{to: &out}
	m.hideDSN("postgres://me:p%40ss%2Fw%C3%B6rd@host/db?sslpassword=other-one")
	m.hideDSN("postgres://me:wörds@host:port/db")
	m.hide("Bearer \"quoted\"")
	log := slog.New(slog.NewJSONHandler(m, nil))
	log.Info(`p@ss/wörd and p%40ss%2Fw%C3%B6rd in postgres://me:p%40ss%2Fw%C3%B6rd@host, postgres://me:wörds@host:port`, "err", errors.New("other-one"), "auth", `Bearer "quoted"`)
	for _, secret := range []string{"p@ss", "p%40ss", "other-one", "quoted", "wörds"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%s is in %s", secret, out.String())
		}
	}
	if n := strings.Count(out.String(), masked); n != 6 {
		t.Errorf("%d secrets were masked in %s", n, out.String())
	}
	for dsn, want := range map[string]string{
		"sqlite:a.db":                         "sqlite:a.db",
		"postgres://h/db":                     "postgres://h/db",
		"postgres://u:pw@h/db?password=x&a=b": "postgres://u:xxxxx@h/db?a=b&password=xxxxx",
		"postgres://u:p w@h:port/%zz":         "postgres://xxxxx",
	} {
		if got := maskDSN(dsn); got != want {
			t.Errorf("%s is printed as %s, want %s", dsn, got, want)
		}
	}
}

func TestVersionTellsTheSchema(t *testing.T) {
	b := newBench(t)
	out := b.run(exitDone, "--version")
	if !strings.HasPrefix(out, "bwworker ") || !strings.Contains(out, "\nschema: sqlite 1, postgres 1\n") {
		t.Errorf("printed was %q", out)
	}
}

func TestEveryMistakeInHandlers(t *testing.T) {
	t.Setenv("BW_TEST_TOKEN", "line\nbreak")
	_, err := readConfig("w.yaml", []byte(`groups: [{name: g, queues: [q]}]
handlers:
  both: {command: ['true'], url: http://h}
  dir: {command: ['true'], dir: /nonexistent}
  rel: {command: [./nothing], dir: /tmp}
  env: {command: ['true'], env: {A=B: c}, inherit_env: maybe}
  lim: {command: ['true'], limits: {cpu: 500ms, memory: lots, open_files: -1, disk: 3}}
  time: {command: ['true'], timeout: -1s}
  url: {url: "ftp://me:hush-hush@h"}
  head: {url: "http://h", headers: {BW-Job-Id: x, "a b": c, X: "1\n2"}}
  auth: {url: "http://h", authorization: {env: A, file: B}}
  unset: {url: "http://h", authorization: {env: BW_TEST_NOT_SET}}
  broken: {url: "http://h", authorization: {env: BW_TEST_TOKEN}, client_errors: ignore}
  mixed: {url: "http://h", stdout: pass}
  mixed2: {command: ['true'], client_errors: retry}
  ca: {url: "https://h", ca_file: /dev/null}
`), nil)
	sameLines(t, err, `
w.yaml:3:34: handler both has both a command and a url, want one of them
w.yaml:4:33: dir "/nonexistent" of handler dir is no directory
w.yaml:5:18: command "./nothing" of handler rel cannot be run: exec: "/tmp/nothing": stat /tmp/nothing: no such file or directory
w.yaml:6:34: variable "A=B" cannot be set
w.yaml:6:56: inherit_env is "maybe", want true or false
w.yaml:7:42: cpu is 500ms, want whole seconds
w.yaml:7:57: memory is "lots", want a size such as 512MiB
w.yaml:7:75: open_files is -1, want at least 1
w.yaml:7:79: unknown field "disk" of limits, want one of cpu, memory, open_files
w.yaml:8:38: timeout is -1s, want more than 0s
w.yaml:9:14: url is no address such as https://host/path
w.yaml:10:37: header "BW-Job-Id" is the worker's to set
w.yaml:10:51: "a b" is no name of a header
w.yaml:10:64: header X holds a control character
w.yaml:11:42: authorization wants either env, a variable, or file
w.yaml:12:43: authorization: the variable BW_TEST_NOT_SET is not set
w.yaml:13:44: authorization: what is read holds a control character
w.yaml:13:81: client_errors is "ignore", want retry or discard
w.yaml:14:36: stdout is not for handler mixed, which has a url
w.yaml:15:46: client_errors is not for handler mixed2, which has a command
w.yaml:16:35: ca_file "/dev/null" holds no certificate in PEM
`)
}
