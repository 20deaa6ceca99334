package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestMain lets the test binary be bwworker itself, race detector included.
func TestMain(m *testing.M) {
	if os.Getenv("BE_BWWORKER") == "1" {
		main()
	}
	os.Exit(m.Run())
}

// process is a running bwworker.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer
	lines  chan string // of standard error

	mu     sync.Mutex
	stderr strings.Builder
}

// start runs bwworker with a configuration and, as jobs, standard input.
func start(t *testing.T, config, jobs string, args ...string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"run", "-c", file}, args...)
	if jobs != "" {
		args = append(args, "--jobs", "-")
	}
	return command(t, jobs, args...)
}

func command(t *testing.T, stdin string, args ...string) *process {
	t.Helper()
	p := &process{t: t, lines: make(chan string, 10_000)}
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), "BE_BWWORKER=1", "BW_STORE=memory:", "GORACE=atexit_sleep_ms=0")
	p.cmd.Stdin = strings.NewReader(stdin)
	p.cmd.Stdout = &p.stdout
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(pipe); s.Scan(); {
			p.mu.Lock()
			p.stderr.WriteString(s.Text() + "\n")
			p.mu.Unlock()
			p.lines <- s.Text()
		}
	}()
	return p
}

// see waits for a line of standard error with text in it, and returns it.
func (p *process) see(text string) string {
	p.t.Helper()
	for l := range p.lines {
		if strings.Contains(l, text) {
			return l
		}
	}
	p.t.Fatalf("standard error ended without %q:\n%s", text, p.log())
	return ""
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// exit waits for the end and expects a code.
func (p *process) exit(want int) {
	p.t.Helper()
	if got := p.ended(); got != want {
		p.t.Errorf("exit code %d, want %d; standard output:\n%sstandard error:\n%s", got, want, p.stdout.String(), p.log())
	}
}

// ended waits for the end and returns the exit code.
func (p *process) ended() int {
	p.t.Helper()
	for range p.lines { // to its end
	}
	err := p.cmd.Wait()
	var code *exec.ExitError
	if err != nil && !errors.As(err, &code) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// summary reads the JSON at the end of standard output.
func (p *process) summary() (s summary) {
	p.t.Helper()
	d := json.NewDecoder(&p.stdout)
	if err := d.Decode(&s); err != nil {
		p.t.Fatalf("standard output: %v", err)
	}
	if rest, err := io.ReadAll(io.MultiReader(d.Buffered(), &p.stdout)); err != nil || len(bytes.TrimSpace(rest)) > 0 {
		p.t.Errorf("after the summary comes %q, %v", rest, err)
	}
	return s
}
