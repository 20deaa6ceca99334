package main

import (
	"fmt"
	"strings"
	"testing"
)

// sameLines compares what a reader says, line by line.
func sameLines(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	g, w := strings.Split(got, "\n"), strings.Split(strings.TrimSpace(want), "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Errorf("mistake %d is\n\t%s\nwant\n\t%s", i+1, a, b)
		}
	}
}

func TestEveryMistakeInAConfiguration(t *testing.T) {
	_, err := readConfig("w.yaml", []byte(`shutdown_timeout: 30
pool: 3
groups:
  - name: a
    queues: [x, x]
    pool_size: many
    heartbeat_interval: 40s
    retry: {max_attempts: -1, jitter: 60}
    timeouts: {nobody: 5s}
    release_on_drain: "yes"
  - name: a
    queues: [x]
    weights: {y: 0}
    lease_duration: 10ms
    pumps: -2
  - name: 7
    weights: {y: 0}
  - just text
handlers:
  one: {command: [definitely-not-there]}
  two: {command: echo, kill_after: 0s, stdout: loud}
  three: {}
  four:
`), nil)
	sameLines(t, err, `
w.yaml:1:19: shutdown_timeout is "30", want a duration such as 500ms, 30s or 5m
w.yaml:2:1: unknown field "pool" of the configuration, want one of store, store_file, direct_store, direct_store_file, no_notify, wait, http, log_format, log_level, exit_on_halt, shutdown_timeout, groups, handlers
w.yaml:5:13: group "a": queues names "x" twice
w.yaml:6:16: pool_size is "many", want a whole number
w.yaml:7:25: group "a": heartbeat_interval is 40s: with three operation timeouts of 10s and two retries after 1s it takes 1m12s, more than 49/50 of the lease_duration 1m0s
w.yaml:8:12: group "a": retry has -1 attempts, want at least 1
w.yaml:8:12: group "a": retry has a jitter of 60 %, want 0 to 50
w.yaml:9:16: "nobody" has no handler
w.yaml:10:23: release_on_drain is "yes", want true or false
w.yaml:11:11: group "a" is there twice, want another name
w.yaml:13:14: group "a" has both queues and weights, want one of them
w.yaml:14:21: group "a": lease_duration is 10ms, want 1s to 87600h0m0s
w.yaml:15:12: pumps is -2, want at least 1
w.yaml:16:11: name is "7", want text such as "7" in quotes
w.yaml:17:14: group "": queues[0] of "y" has weight 0, want 1 to 1000
w.yaml:18:5: a group is "just text", want a mapping
w.yaml:20:18: command "definitely-not-there" of handler one cannot be run: exec: "definitely-not-there": executable file not found in $PATH
w.yaml:21:18: command is "echo", want a list
w.yaml:21:36: kill_after is 0s, want more than 0s
w.yaml:21:48: stdout is "loud", want pass, output or discard
w.yaml:22:3: handler three has no command and no url, want a list such as [sh, -c, "…"], or an address
w.yaml:23:9: handler four is nothing, want a mapping
`)
}

func TestConfigurationsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "w.yaml:1:1: the file is empty",
		"# only a comment\n":               "w.yaml:1:1: the file is empty",
		"groups: [a\nhandlers: {}":         `w.yaml:2:1: near "handlers": ',' or ']' must be specified`,
		"groups: []\ngroups: []\n":         `w.yaml:2:1: near "groups": mapping key "groups" already defined at [1:1]`,
		"groups: []\n---\nx: 1\n":          "w.yaml:3:1: a second document begins, want one",
		"[1, 2]":                           "w.yaml:1:1: the configuration is a list, want a mapping",
		"groups: &g []\n":                  `w.yaml:1:9: groups is "&", want a list`,
		"handlers: {h: {command: [echo]}}": "w.yaml:1:1: groups are missing, want at least one",
		"groups: [{name: g, queues: [q]}]": "w.yaml:1:1: handlers are missing, want at least one",
	} {
		_, err := readConfig("w.yaml", []byte(text), nil)
		sameLines(t, err, want)
	}
}

func TestEveryFieldOfAConfiguration(t *testing.T) {
	c, err := readConfig("w.yaml", []byte(`
shutdown_timeout: 1s
groups:
  - name: g
    weights: {b: 1, a: 2}
    pumps: 2
    pool_size: 3
    lease_duration: 70s
    heartbeat_interval: 11s
    maintenance_interval: 6s
    poll_interval: 2s
    max_poll_interval: 7s
    operation_timeout: 3s
    abandon_after: 8m
    claim_batch: 4
    report_batch: 5
    sweep_batch: 6
    release_on_drain: true
    finish_timeout: 9s
    retry: {max_attempts: 7, first: 1s, factor: 3, cap: 50s, jitter: 20}
    retry_by_name: {h: {no_jitter: true}}
    timeouts: {h: 12s}
handlers:
  h:
    command:
      - sh
      - -c
      - |
        echo one
        echo two
    kill_after: 13s
    stdout: discard
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	g := c.groups[0]
	p, err := g.PumpConfig(c.shutdown)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"shutdown": "1s", "queues": "[{a 2} {b 1}]", "pumps": 2, "pool": 3, "lease": "1m10s", "beat": "11s", "maintenance": "6s", "poll": "2s",
		"max poll": "7s", "operation": "3s", "abandon": "8m0s", "claim": 4, "report": 5, "sweep": 6, "release": true, "finish": "9s",
		"retry": "{7 1s 3 50s 20 false}", "by name": "[{h {0 0s 0 0s 0 true}}]", "timeouts": "[{h 12s}]",
		"argv": "[sh -c echo one\necho two\n]", "kill": "13s", "stdout": "discard",
	}
	h := c.handlers[0]
	got := map[string]any{
		"shutdown": p.ShutdownTimeout, "queues": p.Queues, "pumps": g.Pumps, "pool": p.PoolSize, "lease": p.LeaseDuration, "beat": p.HeartbeatInterval, "maintenance": p.MaintenanceInterval, "poll": p.PollInterval,
		"max poll": p.MaxPollInterval, "operation": p.OperationTimeout, "abandon": p.AbandonAfter, "claim": p.ClaimBatch, "report": p.ReportBatch, "sweep": p.SweepBatch, "release": p.ReleaseOnDrain, "finish": p.FinishTimeout,
		"retry": p.Terms.Default, "by name": p.Terms.ByName, "timeouts": p.Timeouts,
		"argv": h.command.argv, "kill": h.command.killAfter, "stdout": h.command.stdout,
	}
	for k, v := range want {
		if g := sprint(got[k]); g != sprint(v) {
			t.Errorf("%s is %s, want %v", k, g, v)
		}
	}
}

func TestEveryMistakeInJobs(t *testing.T) {
	c, err := readConfig("w.yaml", []byte("groups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 300)
	_, err = readJobs("j", []byte(`{"name": "h"}
nonsense
{"name": 7, "payload": 1, "colour": "red"}
{"name": "h", "name": "h"}
{"name": "h", "in": "soon", "max_attempts": "3"}
{"name": "h", "in": "5m", "at": "2030-01-31T08:00:00Z"}
{"name": "h", "at": "tomorrow", "id": "x"}
{"name": "h", "id": "01890a5d-ac96-774b-bcce-b302099a8057"}

{"name": "h", "id": "01890a5d-ac96-774b-bcce-b302099a8057"}
{"queue": "q"}
{"name": "nobody", "queue": "nowhere"}
{"name": "h", "unique": "`+long+`"}
{"name": "h", "max_attempts": -1}
{"name": "h"} {"name": "h"}
{"name": "h"
{"name": "h", "payload": }
{"name": null}
`), c, "")
	sameLines(t, err, `
j:2: line: nonsense is not a JSON object
j:3: colour: no such field, want one of name, queue, payload, id, unique, in, at, max_attempts
j:3: name: 7 is not text
j:4: name: is there twice
j:5: max_attempts: "3" is not a whole number
j:5: in: "soon" is not a duration such as 5m
j:6: at: is there beside in, want one of them
j:7: at: "tomorrow" is not a time such as 2030-01-31T08:00:00Z
j:7: id: "x" is not a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057
j:10: id: 01890a5d-ac96-774b-bcce-b302099a8057 is that of line 8
j:11: name: is empty
j:12: name: "nobody" has no handler
j:12: queue: "nowhere" is served by no group
j:13: unique: has 300 bytes, at most 255 are allowed
j:14: max_attempts: is -1, want at least 0
j:15: line: something follows the object, want one object per line
j:16: line: {"name": "h" is not JSON: the object does not end
j:17: payload: is not JSON: invalid character '}' looking for beginning of value
j:18: name: null is not text
`)
}

// Bad input starts nothing: no handler runs, and no address is listened on.
func TestBadInputStartsNothing(t *testing.T) {
	config := "groups: [{name: g, queues: [q]}]\nhandlers: {h: {command: [echo, ran]}}\n"
	p := start(t, config, "{\"name\": \"h\"}\n{\"name\": \"x\"}\n", "--http", "127.0.0.1:0")
	p.exit(exitUsage)
	if got := p.log(); got != "standard input:2: name: \"x\" has no handler\n" {
		t.Errorf("standard error is %q", got)
	}
}

func TestTheEndOfStandardErrorIsKept(t *testing.T) {
	e := &tail{most: 8}
	for _, s := range []string{"", "12345", "678901", "\n"} {
		if n, err := e.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatalf("Write gave %d, %v", n, err)
		}
	}
	if got := e.String(); got != "… 5678901" {
		t.Errorf("kept %q", got)
	}
}

func sprint(v any) string { return fmt.Sprint(v) }
