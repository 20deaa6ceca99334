//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"backwave/engine"
	"backwave/store"
)

func TestTheExampleRuns(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "hello")
	p := command(t, "", "run", "-c", filepath.Join(dir, "worker.yaml"), "--jobs", filepath.Join(dir, "jobs.jsonl"), "--until-empty", "--format", "json")
	p.exit(exitFailed)
	s := p.summary()
	if s.Exit != exitFailed || s.Jobs["succeeded"] != 4 || s.Jobs["dead-lettered"] != 1 || len(s.Jobs) != 2 {
		t.Errorf("the summary is %+v", s)
	}
	if len(s.Failed) != 1 || s.Failed[0].Name != "never-works" || s.Failed[0].Attempts != 2 || s.Failed[0].Error != "exit status 3: this one never works" {
		t.Errorf("failed: %+v", s.Failed)
	}
	for _, line := range []string{"hello Ada from attempt 1\n", "#2 worked\n"} {
		if !strings.Contains(p.log(), line) {
			t.Errorf("standard error lacks %q:\n%s", line, p.log())
		}
	}
}

func TestWhatACommandIsGiven(t *testing.T) {
	p := start(t, `
groups: [{name: g, queues: [q1, q2], lease_duration: 90s}]
handlers:
  show: {command: [sh, -c, 'echo "$BW_JOB_ID $BW_JOB_NAME $BW_JOB_QUEUE $BW_ATTEMPT $BW_TOKEN $BW_LEASE_SECONDS"; cat']}
`, `
{"name": "show", "queue": "q2", "id": "01890a5d-ac96-774b-bcce-b302099a8057", "payload": {"a":  [1, "é"]}}

`, "--until-empty", "--log-format", "json")
	p.exit(exitDone)
	want := "01890a5d-ac96-774b-bcce-b302099a8057 show q2 1 01890a5d-ac96-774b-bcce-b302099a8057#1 90\n{\"a\":  [1, \"é\"]}\n"
	if !strings.Contains(p.log(), want) {
		t.Errorf("standard error lacks %q:\n%s", want, p.log())
	}
	if got := p.stdout.String(); got != "jobs: 1 succeeded\n" {
		t.Errorf("standard output is %q", got)
	}
}

func TestNothingToDoIsDone(t *testing.T) {
	p := start(t, "groups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n", "", "--until-empty")
	p.exit(exitDone)
	if got := p.stdout.String(); got != "jobs: none\n" {
		t.Errorf("standard output is %q", got)
	}
}

func TestOutputOverItsBoundFails(t *testing.T) {
	p := start(t, `
groups: [{name: g, queues: [q], retry: {max_attempts: 1}}]
handlers:
  big: {command: [sh, -c, 'head -c 70000 /dev/zero'], stdout: output}
  small: {command: [echo, fine], stdout: output}
`, `{"name": "big"}
{"name": "small"}
`, "--until-empty", "--format", "json")
	p.exit(exitFailed)
	if s := p.summary(); s.Jobs["succeeded"] != 1 || len(s.Failed) != 1 || !strings.Contains(s.Failed[0].Error, "at most 65536 are allowed") {
		t.Errorf("the summary is %+v", s)
	}
}

// fifo returns a named pipe and a function that waits until whoever had opened
// it for writing has ended.
func fifo(t *testing.T) (path string, ended func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		f, err := os.Open(path) // waits for the writer
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, f)
		_ = f.Close()
	}()
	return path, func() { <-gone }
}

// stubborn ignores SIGTERM and says when it gets it.
const stubborn = `
groups: [{name: g, queues: [q]}]
shutdown_timeout: SHUTDOWN
handlers:
  stubborn:
    kill_after: KILL
    command: [sh, -c, 'exec 3>FIFO; trap "echo told" TERM; echo started; while :; do sleep 0.05; done']
`

func startStubborn(t *testing.T, shutdown, kill string) (p *process, ended func()) {
	t.Helper()
	path, ended := fifo(t)
	p = start(t, strings.NewReplacer("SHUTDOWN", shutdown, "KILL", kill, "FIFO", path).Replace(stubborn), `{"name": "stubborn"}`, "--format", "json")
	p.see("started")
	return p, ended
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

func TestADrainKillsWhatDoesNotStop(t *testing.T) {
	p, ended := startStubborn(t, "30s", "200ms")
	p.signal(syscall.SIGTERM)
	p.see("told")
	p.exit(exitDone)
	ended()
	if s := p.summary(); s.Jobs["executing"] != 1 {
		t.Errorf("the summary is %+v, want the lease left to lapse", s)
	}
}

func TestHandlersThatAreLeftRunningAreNamedAndKilled(t *testing.T) {
	p, ended := startStubborn(t, "300ms", "1h")
	p.signal(os.Interrupt)
	p.exit(exitAbandoned)
	ended()
	if s := p.summary(); len(s.Abandoned) != 1 || !strings.HasSuffix(s.Abandoned[0], "#1") {
		t.Errorf("the summary is %+v", s)
	}
	if !strings.Contains(p.log(), "handler left running") {
		t.Errorf("standard error is %s", p.log())
	}
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	p, ended := startStubborn(t, "1h", "1h")
	p.signal(os.Interrupt)
	p.see("told")
	p.signal(syscall.SIGTERM)
	p.exit(exitAbandoned)
	ended()
	if p.stdout.Len() > 0 {
		t.Errorf("it took the time to print %q", p.stdout.String())
	}
}

func TestACommandStopsWithinItsDrain(t *testing.T) {
	p := start(t, `
groups: [{name: g, queues: [q], release_on_drain: true}]
handlers: {nice: {command: [sh, -c, 'trap "echo bye; exit 0" TERM; echo started; while :; do sleep 0.05; done']}}
`, `{"name": "nice"}`, "--until-empty", "--format", "json")
	p.see("started")
	p.signal(syscall.SIGTERM)
	p.see("bye")
	p.exit(exitFailed) // it was to go on until the queue is empty
	if s := p.summary(); s.Jobs["scheduled"] != 1 {
		t.Errorf("the summary is %+v, want the job given back", s)
	}
}

func TestATimeoutKillsTheWholeGroup(t *testing.T) {
	path, ended := fifo(t)
	p := start(t, `
groups: [{name: g, queues: [q], timeouts: {slow: 200ms}, retry: {max_attempts: 1}}]
handlers: {slow: {kill_after: 200ms, command: [sh, -c, '(trap "" TERM; exec 3>`+path+`; sleep 1000) & wait']}}
`, `{"name": "slow"}`, "--until-empty", "--format", "json")
	p.exit(exitFailed)
	ended()
	if s := p.summary(); len(s.Failed) != 1 || !strings.Contains(s.Failed[0].Error, "timed out") || !strings.Contains(s.Failed[0].Error, "signal: terminated") {
		t.Errorf("the summary is %+v", s)
	}
}

// A command that has ended while a child of its own holds its output has
// succeeded, and the child is not left behind.
func TestChildrenThatHoldPipesAreKilled(t *testing.T) {
	path, ended := fifo(t)
	p := start(t, `
groups: [{name: g, queues: [q]}]
handlers: {forks: {kill_after: 200ms, command: [sh, -c, '(exec 3>`+path+`; sleep 1000) & exit 0']}}
`, `{"name": "forks"}`, "--until-empty")
	p.exit(exitDone)
	ended()
}

func TestHTTP(t *testing.T) {
	p := start(t, "groups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n", `{"name": "h", "in": "1h"}`, "--http", "127.0.0.1:0")
	addr := regexp.MustCompile(`addr=(\S+)`).FindStringSubmatch(p.see("listening"))[1]
	p.see("enqueued") // before that the summary may miss it
	for path, want := range map[string]string{
		"/health":             "All Worker Groups running.",
		"/health?format=json": `{"healthy":true,"halted":{},"partially_halted":{},"degraded":{}}`,
		"/":                   "All Worker Groups running.\njobs: 1 scheduled\n",
	} {
		resp, err := http.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || string(body) != want {
			t.Errorf("%s: %d %q %v, want %q", path, resp.StatusCode, body, err, want)
		}
	}
	p.signal(os.Interrupt)
	p.exit(exitDone)
}

func TestAnAddressThatCannotBeUsed(t *testing.T) {
	p := start(t, "groups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n", "", "--http", "256.0.0.1:x")
	p.exit(exitFailed)
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"run":                             "-c FILE is missing",
		"run --format x --log-format y":   `--format is "x", want table or json`,
		"run -c x.yaml --log-level loud":  `--log-level is "loud"`,
		"run --no-such-flag":              "unknown flag: --no-such-flag",
		"run extra":                       `unknown command "extra"`,
		"run -c /nonexistent/worker.yaml": "no such file",
	} {
		p := command(t, "", strings.Fields(args)...)
		p.exit(exitUsage)
		if !strings.Contains(p.log(), want) {
			t.Errorf("bwworker %s says %q, want %q in it", args, p.log(), want)
		}
	}
}

// broken is a store whose every claim meets an error nobody knows.
type broken struct{ store.Store }

func (broken) Claim(context.Context, *store.Claim) (*store.Claimed, error) {
	return nil, errors.New("relation does not exist")
}

func TestOnlyHaltedGroupsServeWhatIsLeft(t *testing.T) {
	cfg, err := readConfig("worker.yaml", []byte("groups: [{name: g, queues: [q]}, {name: idle, queues: [other]}]\nhandlers: {h: {command: ['true']}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	st, err := openMemory(t.Context(), target{})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorker(cfg, st, slog.New(slog.DiscardHandler), &masker{to: io.Discard})
	mux := engine.NewMux()
	w.engine, err = engine.New(engine.Config{Store: broken{st.Store}, Mux: mux, Logger: w.log, Groups: []engine.Group{cfg.groups[0].Group, {Name: "idle", Queues: engine.Strict("other"), PollInterval: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.enqueue(t.Context(), []engine.NewJob{{Name: "h"}}); err != nil {
		t.Fatal(err)
	}
	code, atOnce := w.serve(true)
	if code != exitHalted || atOnce {
		t.Errorf("serve gave %d, %v", code, atOnce)
	}
	s, err := w.summary(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if s.Halted["g"].Message != "relation does not exist" || s.Jobs["scheduled"] != 1 {
		t.Errorf("the summary is %+v", s)
	}
}

func TestExitOnHalt(t *testing.T) {
	b := newBench(t)
	b.open = func(context.Context, target) (*opened, error) {
		return &opened{Store: broken{b.st}, close: func() {}}, nil
	}
	file := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(file, []byte(initText), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitHalted, "run", "-c", file, "--exit-on-halt", "--log-format", "json")
	b.says(`"level":"CRITICAL"`, "relation does not exist", "a group has halted")
}

func TestEveryLapseIsLogged(t *testing.T) {
	b := newBench(t)
	b.run(exitDone, "enqueue", "h", "--id", someID)
	claimed, err := b.st.Claim(t.Context(), &store.Claim{Worker: "gone", Number: 1, Queues: []store.Quota{{Queue: "default", Most: 1}}, Max: 1, Lease: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(file, []byte("groups: [{name: g, queues: [default], maintenance_interval: 100ms, retry: {first: 1ms}}]\nhandlers: {h: {command: ['true']}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitDone, "run", "-c", file, "--until-empty")
	b.says("lease lapsed", "job="+someID, "attempt=1", "worker=gone", "queue=default", "name=h", "last_renewal="+claimed.At.String())
}
