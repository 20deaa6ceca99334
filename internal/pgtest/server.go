//go:build unix

package pgtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"backwave/clockx"
)

// settings make the throw-away server quick to start and cheap to lose. What
// tests can observe of a commit (synchronous_commit) is left as it is.
var settings = []string{
	"fsync=off", "full_page_writes=off", "shared_buffers=128MB", "max_wal_size=2GB",
	"max_connections=200", "max_prepared_transactions=0", "autovacuum_naptime=10s",
	"logging_collector=off", "log_min_messages=fatal", "unix_socket_directories=",
}

// guard starts the server at each line of its standard input, after the one
// before has ended. When the input ends, which happens when this process ends,
// however that comes about, it ends the server, also a stopped one, and leaves
// nothing behind.
const guard = `
while read -r _; do
	[ -z "$pid" ] || wait $pid
	"$0" "$@" >>server.log 2>&1 </dev/null &
	pid=$!
done
kill -QUIT $pid 2>/dev/null
kill -CONT $pid 2>/dev/null
wait $pid 2>/dev/null
cd / && rm -rf "$BW_PGTEST_DIR"
`

// server is a running server; all but url and is are missing for one that is
// not ours.
type server struct {
	url  string
	is   string         // which one, for people
	dir  string         // of its log and its data
	stop io.WriteCloser // the guard's standard input
}

// start makes a cluster in a new directory and starts a server on it.
func start(bin string) (*server, error) {
	who, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bw-pgtest-")
	if err != nil {
		return nil, err
	}
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	initdb := command(who, dir, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pgtest: initdb: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	args := []string{"-c", guard, filepath.Join(bin, "postgres"), "-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(port)}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	cmd := command(who, dir, "/bin/sh", args...)
	cmd.Env = append(os.Environ(), "BW_PGTEST_DIR="+dir)
	stop, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("pgtest: start server: %w", err)
	}
	s := &server{
		url: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port),
		is:  "a throw-away one from " + bin, dir: dir, stop: stop,
	}
	return s, s.run()
}

// run lets the guard start the server, and waits until it takes connections.
func (s *server) run() error {
	if _, err := io.WriteString(s.stop, "\n"); err != nil {
		return fmt.Errorf("pgtest: start server: %w", err)
	}
	if s.await(func(pid []string) bool { return len(pid) >= 8 && strings.TrimSpace(pid[7]) == "ready" }) { // the state
		return nil
	}
	out, _ := os.ReadFile(filepath.Join(s.dir, "server.log"))
	_ = s.stop.Close()
	return fmt.Errorf("pgtest: the server is not ready after %v:\n%s", readyTries*readyPause, out)
}

// await waits until the lines of the server's file of its process, none if there
// is no such file, are as they should be.
func (s *server) await(want func(pid []string) bool) bool {
	for range readyTries {
		if want(s.pidFile()) {
			return true
		}
		_ = clockx.Sleep(context.Background(), clockx.Wall{}, readyPause)
	}
	return false
}

func (s *server) pidFile() []string {
	b, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if err != nil {
		return nil
	}
	return strings.Split(string(b), "\n")
}

// A server that takes longer to start or to end is not waited for.
const (
	readyPause = 10 * time.Millisecond
	readyTries = 2000
)

// unprivileged returns whom the server must run as: nil for this process's own
// user, unless that is root, as whom PostgreSQL refuses to run.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		if uid != 0 {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("pgtest: PostgreSQL does not run as root and there is no user postgres or nobody: run the tests as another user, or set BW_TEST_POSTGRES")
}

func command(who *syscall.Credential, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true} // an interrupt from the terminal is not the server's
	return cmd
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("pgtest: find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
