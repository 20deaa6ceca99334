//go:build unix

package healthtest

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"backwave/internal/pgtest"
)

// A process of its own, asked from outside: red after a column is gone, alive
// until it is told to end, and its exit code says what was wrong.
func TestProgramWhoseGroupHasHalted(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "bwworker")
	if out, err := exec.Command("go", "build", "-o", bin, "backwave/cmd/bwworker").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server, schema := pgtest.Schema(t)
	s := open(t, server, schema)
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	config := filepath.Join(t.TempDir(), "worker.yaml")
	const text = "groups: [{name: main, queues: [q], poll_interval: 20ms}]\nhandlers: {h: {command: ['true']}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := free(t)
	health := "http://" + addr + "/health"
	log := &entries{}
	c := exec.Command(bin, "run", "-c", config, "--store", u.String(), "--http", addr, "--log-format", "text")
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // does nothing to one that has ended
	add(t, s, "h", "q")
	idle(t, s)
	wantAt(t, health, http.StatusOK, fine)

	drop(t, server, schema)
	const red = "Worker Group fail-stop: main (*pgconn.PgError: postgres: claim: ERROR: column j.payload does not exist (SQLSTATE 42703))"
	eventually(t, "health is red", func() bool { code, _ := at(t, health); return code != http.StatusOK })
	wantAt(t, health, http.StatusServiceUnavailable, red)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 4 {
		t.Errorf("exit code %d, want 4", code)
	}
	if n := strings.Count(log.all(), "level=CRITICAL"); n != 1 {
		t.Errorf("%d entries are critical:\n%s", n, log.all())
	}
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
